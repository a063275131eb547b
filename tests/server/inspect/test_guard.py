"""Who may use the page: the token, `Host`, `Origin`, the type of bodies, limits; first as
decisions, then by HTTP.
"""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import uvicorn
from hypothesis import given
from hypothesis import strategies as st
from server.inspect.inspecting import foreign_page, tools_page
from starlette.exceptions import HTTPException
from starlette.requests import Request
from support.server_process import PATIENCE_SECONDS
from toolwire.inspect.guard import HEADERS, POLICY, RequestGuard
from toolwire.inspect.listener import MAX_STRANGERS

JSON = (b"content-type", b"application/json")
HOST = (b"host", b"127.0.0.1:80")
OWN_PORT, FOREIGN_PORT = 40_001, 40_002
"""The ports of a client of this user, and of another one."""


def judge(guard: RequestGuard, method: str, path: str, *headers: tuple[bytes, bytes]) -> int | str:
    """Return the path below the token, or the status of the rejection."""
    try:
        return guard.check_path(request(method, path, *headers))
    except HTTPException as rejected:
        return rejected.status_code


def request(method: str, path: str, *headers: tuple[bytes, bytes], port: int = OWN_PORT) -> Request:
    client = ("127.0.0.1", port)
    return Request(
        {"type": "http", "method": method, "path": path, "headers": headers, "client": client}
    )


def new_guard() -> RequestGuard:
    return RequestGuard(80, is_own=lambda client_port: client_port == OWN_PORT)


@pytest.fixture
def guard() -> RequestGuard:
    return new_guard()


@pytest.fixture
def start(guard: RequestGuard) -> str:
    return urlsplit(guard.url).path


def test_the_token_is_long_and_new_each_time(guard: RequestGuard, start: str) -> None:
    assert len(start) == 45  # 32 bytes, and two slashes
    assert new_guard().url != guard.url


def test_a_path_below_the_token_is_let_in(guard: RequestGuard, start: str) -> None:
    assert judge(guard, "GET", start, HOST) == ""
    assert judge(guard, "GET", start + "app.js", HOST) == "app.js"
    assert judge(guard, "POST", start + "call", HOST, JSON) == "call"


@given(st.text(max_size=60))
def test_no_other_path_is_found(path: str) -> None:
    guard = new_guard()
    assert judge(guard, "GET", path, HOST) == 404
    assert judge(guard, "GET", "/" + path, HOST, JSON) == 404


@pytest.mark.parametrize("host", [b"localhost:80", b"[::1]:80", b"LocalHost:80"])
def test_the_names_of_this_machine_are_let_in(guard: RequestGuard, start: str, host: bytes) -> None:
    assert judge(guard, "GET", start, (b"host", host)) == ""
    assert judge(guard, "GET", start, (b"host", host), (b"origin", b"http://" + host)) == ""


@pytest.mark.parametrize(
    "host", [b"evil.example:80", b"127.0.0.1", b"127.0.0.1:81", b"", b"127.0.0.1:80.evil.example"]
)
def test_a_name_that_was_rebound_to_this_machine_is_refused(
    guard: RequestGuard, start: str, host: bytes
) -> None:
    assert judge(guard, "GET", start, (b"host", host)) == 403
    assert judge(guard, "GET", start) == 403


@pytest.mark.parametrize(
    "origin", [b"https://evil.example", b"null", b"http://127.0.0.1:81", b"https://127.0.0.1:80"]
)
def test_another_origin_is_refused(guard: RequestGuard, start: str, origin: bytes) -> None:
    assert judge(guard, "POST", start + "call", HOST, JSON, (b"origin", origin)) == 403
    assert judge(guard, "GET", start + "state", HOST, (b"origin", origin)) == 403


@pytest.mark.parametrize("site", [b"cross-site", b"same-site", b"none"])
def test_what_another_page_posts_is_refused(guard: RequestGuard, start: str, site: bytes) -> None:
    assert judge(guard, "POST", start + "call", HOST, JSON, (b"sec-fetch-site", site)) == 403
    assert (
        judge(guard, "POST", start + "call", HOST, JSON, (b"sec-fetch-site", b"same-origin"))
        == "call"
    )
    assert judge(guard, "GET", start, HOST, (b"sec-fetch-site", site)) == ""  # a link in a mail


@pytest.mark.parametrize(
    "kind", [b"text/plain", b"application/x-www-form-urlencoded", b"multipart/form-data", b""]
)
def test_what_a_form_can_send_is_refused(guard: RequestGuard, start: str, kind: bytes) -> None:
    assert judge(guard, "POST", start + "call", HOST, (b"content-type", kind)) == 415
    assert (
        judge(
            guard,
            "POST",
            start + "call",
            HOST,
            (b"content-type", b"application/json; charset=utf-8"),
        )
        == "call"
    )


def test_the_address_for_the_browser_works_once(guard: RequestGuard, start: str) -> None:
    ticket = urlsplit(guard.url_once).path
    assert judge(guard, "GET", ticket, (b"host", b"evil.example")) == 403
    with pytest.raises(HTTPException) as moved:
        guard.check_path(request("GET", ticket, HOST))
    assert (moved.value.status_code, moved.value.headers) == (303, {"location": start})
    assert judge(guard, "GET", ticket, HOST) == 404
    assert judge(guard, "GET", start, HOST) == ""


def test_the_address_for_the_browser_is_not_for_another_user(
    guard: RequestGuard, start: str
) -> None:
    ticket = urlsplit(guard.url_once).path
    with pytest.raises(HTTPException) as refused:
        guard.check_path(request("GET", ticket, HOST, port=FOREIGN_PORT))
    assert refused.value.status_code == 403
    with pytest.raises(HTTPException) as moved:  # and it is not spent by the attempt
        guard.check_path(request("GET", ticket, HOST, port=OWN_PORT))
    assert moved.value.headers == {"location": start}


# --- by HTTP ---


@pytest.mark.process
def test_the_locks_hold_by_http(tmp_path: Path) -> None:
    with foreign_page(tmp_path, "echo") as page:
        call = {"tool": "echo", "arguments": {}}
        assert page.status("POST", "call", call) == 200
        assert page.status("GET", "/") == 404
        assert page.status("GET", "/state") == 404
        assert page.status("GET", page.path[:-2] + "/") == 404
        assert page.status("POST", "/call", call) == 404
        assert page.status("GET", page.path[:-1]) == 303
        assert page.status("GET", "state", headers={"Host": "evil.example"}) == 403
        assert page.status("POST", "call", call, {"Origin": "https://evil.example"}) == 403
        assert page.status("POST", "call", call, {"Sec-Fetch-Site": "cross-site"}) == 403
        assert page.status("POST", "call", call, {"Content-Type": "text/plain"}) == 415
        assert page.status("GET", "call") == 404
        assert page.status("POST", "state", {}) == 404
        for method in ("OPTIONS", "HEAD", "PUT", "DELETE", "TRACE"):
            assert page.status(method, "state") == 405


@pytest.mark.process
def test_every_response_has_the_headers_that_protect_the_page(tmp_path: Path) -> None:
    with foreign_page(tmp_path, "echo") as page:
        for path in (
            "",
            "app.js",
            "style.css",
            "state",
            "events",
            "recording.jsonl",
            "nothing",
            "/",
        ):
            with page.open("GET", path) as response:
                for name, value in HEADERS.items():
                    assert response.headers[name] == value, path
                assert "access-control-allow-origin" not in response.headers
                assert "server" not in response.headers


@pytest.mark.process
def test_the_files_of_the_page_are_served_and_no_others(tmp_path: Path) -> None:
    with foreign_page(tmp_path, "echo") as page:
        types = {
            "": "text/html",
            "app.js": "text/javascript",
            "app.css": "text/css",
            "style.css": "text/css",
        }
        for name, kind in types.items():
            with page.open("GET", name) as response:
                assert (response.status, response.headers["content-type"]) == (
                    200,
                    f"{kind}; charset=utf-8",
                )
        for name in (
            "../app.py",
            "%2e%2e/app.py",
            "..",
            "static/app.js",
            "app.py",
            "app.js/",
            "/etc/passwd",
            ".",
        ):
            assert page.status("GET", name) == 404


@pytest.mark.process
@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"", 400),
        (b"[]", 400),
        (b'{"tool": 5, "arguments": {}}', 400),
        (b'{"tool": "echo"}', 400),
        (b'{"tool": "echo", "arguments": {}, "write": 1}', 400),
        (b'{"tool": "echo", "arguments": {}, "self": 1}', 400),
        (b'{"tool": "echo", "arguments": ' + b"[" * 100_000, 400),
        (b" " * (32 * 1024 * 1024 + 1), 413),
    ],
    ids=range(9),
)
def test_a_wrong_body_is_refused_with_the_reason(tmp_path: Path, body: bytes, status: int) -> None:
    with foreign_page(tmp_path, "echo") as page:
        with page.open("POST", "call", body, {"Content-Type": "application/json"}) as response:
            assert response.status == status
            assert response.json()["error"]
        assert page.call("echo")[-1]["type"] == "result"


@pytest.mark.process
def test_the_page_listens_to_this_machine_only(tmp_path: Path) -> None:
    with tools_page(tmp_path) as page:
        addresses = [line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        assert [each for each in addresses if each.endswith(f":{page.port:04X}")][:1] == [
            f"0100007F:{page.port:04X}"
        ]
        assert f"00000000:{page.port:04X}" not in addresses


@pytest.mark.process
def test_a_port_that_is_taken_is_a_mistake(tmp_path: Path, command_line: Any) -> None:
    with tools_page(tmp_path) as page:
        done = command_line("inspect", "tools.py", "--no-browser", "--port", str(page.port))
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"toolwire: port {page.port} cannot be used: address already in use\n"
    assert "65535" in command_line("inspect", "tools.py", "--port", "70000").stderr


@pytest.mark.process
def test_a_mistake_in_a_run_that_is_watched_is_one_line(tmp_path: Path, command_line: Any) -> None:
    missing = str(tmp_path / "missing.py")
    done = command_line(
        "ask", "x", "--tools", missing, "--model", "arithmetic", "--inspect", "--no-browser"
    )
    assert (done.returncode, done.stdout) == (2, "")
    opened, problem = done.stderr.splitlines()
    assert "Open http://127.0.0.1:" in opened
    assert "missing.py" in problem


def test_the_policy_lets_the_page_load_only_from_itself() -> None:
    assert POLICY.startswith("default-src 'none';")
    assert "unsafe" not in POLICY
    assert "http" not in POLICY


@pytest.mark.process
def test_without_the_extra_the_command_names_what_to_install(tmp_path: Path) -> None:
    installed = Path(uvicorn.__file__).parents[1]
    for entry in installed.iterdir():
        if not entry.name.startswith("uvicorn"):
            (tmp_path / entry.name).symlink_to(entry)
    target = tmp_path / "some_tools.py"  # a missing file is reported before a missing package
    target.write_text("")
    code = (
        f"import site, sys; site.addsitedir({str(tmp_path)!r}); from toolwire.cli.main import"
        " main; "
    )
    command = [
        sys.executable,
        "-I",
        "-S",
        "-c",
        code + f"sys.exit(main(['inspect', {str(target)!r}]))",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("toolwire: the page needs uvicorn: ")
    assert "toolwire[inspect]" in done.stderr


def is_closed(connection: socket.socket) -> bool:
    """Return whether the page closes *connection*, which sends nothing."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.mark.process
def test_connections_without_a_token_are_few_and_do_not_stay(tmp_path: Path) -> None:
    with foreign_page(tmp_path, "echo") as page, ExitStack() as opened:
        strangers = []
        for _ in range(MAX_STRANGERS + 1):
            connection = socket.create_connection(
                ("127.0.0.1", page.port), timeout=PATIENCE_SECONDS
            )
            strangers.append(opened.enter_context(connection))
        assert is_closed(strangers[-1])  # one too many
        strangers[0].sendall(b"GET /wrong HTTP/1.1\r\nHost: ")
        assert all(map(is_closed, strangers))  # a head that is not complete in time
        assert page.get("state")["status"] == "ready"
