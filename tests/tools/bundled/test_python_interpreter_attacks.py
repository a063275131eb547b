"""Code that wants out, or wants to do harm: in the sandbox, and where there is none."""

from __future__ import annotations

import errno
import json
import os
import platform
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import venv
from pathlib import Path
from typing import Any

import pytest
from support.recording_caller import RecordingCaller
from support.sandbox_runs import NAMED, called, called_by, failure, need_sandbox, texts
from support.server_process import wait_until
from toolwire_bundled.python_interpreter import masks
from toolwire_bundled.python_interpreter import sandbox as sandboxing
from toolwire_tools import Cancelled

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap and /proc are Linux's"),
    pytest.mark.process,
]


@pytest.fixture
def sandboxed() -> None:
    need_sandbox()


@pytest.fixture(params=["required", "off"])
def sandbox(request: pytest.FixtureRequest) -> str:
    """Each way there is to run code."""
    if request.param == "required":
        need_sandbox()
    return str(request.param)


NUMBERS = {
    name: x86 if platform.machine() == "x86_64" else arm
    for name, x86, arm in (
        ("bpf", 321, 280),
        ("clone", 56, 220),
        ("clone3", 435, 435),
        ("io_uring_setup", 425, 425),
        ("keyctl", 250, 219),
        ("socket", 41, 198),
        ("unshare", 272, 97),
    )
}
"""Those of calls, on processors for which there is a filter."""


def seen(code: str, /, **settings: Any) -> Any:
    """What *code* prints, as JSON."""
    return json.loads(texts(code, answer_from_stdout=True, **settings)[0])


# What can be seen


def test_no_variable_of_the_server_is_visible(
    sandbox: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "a secret of the server")
    code = "import json, os\nprint(json.dumps(dict(os.environ)))"

    found = seen(code, sandbox=sandbox)

    assert set(found) <= {"PATH", "HOME", "TMPDIR", "LANG", "USER", "TZ", "PWD"}
    assert found["HOME"] == found["TMPDIR"]


def test_no_process_but_its_own_is_visible_and_their_environments_have_no_secrets(
    sandboxed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "a secret of the server")
    code = """
import glob, json, os
def read(path):
    try:
        return open(path, errors='replace').read()
    except OSError:
        return ''
def can_signal(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
print(json.dumps([
    sorted(int(name) for name in os.listdir('/proc') if name.isdigit()),
    any('secret' in read(path) for path in glob.glob('/proc/[0-9]*/environ')),
    can_signal(%d),
    os.getuid(),
]))
"""
    processes, secret, signalled, user = seen(code % os.getpid())

    assert processes in ([1, 2], [1, 3])  # bubblewrap's own, and this one
    assert not secret
    assert not signalled
    assert user != 0


def test_no_descriptor_of_the_server_is_inherited(sandbox: str, tmp_path: Path) -> None:
    code = """
import json, os
def leads_to(number):
    try:
        return os.readlink(f'/proc/self/fd/{number}')
    except OSError:
        return None
print(json.dumps([leads_to(number) for number in range(1000)]))
"""
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        found = [where for where in seen(code, sandbox=sandbox) if where]

    assert found[0] == "/dev/null"
    assert all(where.startswith("pipe:") for where in found[1:])
    assert len(set(found[1:])) == (
        2 if sandbox == "required" else 3
    )  # its result, its output, and the server's end


def test_python_may_be_started_by_way_of_a_link(
    sandboxed: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A path that leads nowhere in the sandbox must not be a reason to do without one."""
    folder, name = os.path.split(sys.executable)
    (tmp_path / "link").symlink_to(os.path.dirname(folder))
    monkeypatch.setattr(
        sys, "executable", os.path.join(tmp_path, "link", os.path.basename(folder), name)
    )

    assert texts("5", sandbox="required") == ["5"]


def test_files_of_the_machine_are_not_visible(sandboxed: None, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s")
    paths = [
        str(secret),
        "/etc/passwd",
        "/etc/shadow",
        "/etc/hostname",
        __file__,
        "/var/log",
        "/sys/kernel",
        "/run",
    ]
    code = (
        "import json, os\nprint(json.dumps([[p for p in {!r} if os.path.exists(p)],"
        " sorted(os.listdir('/'))]))"
    )

    exist, root = seen(code.format(paths))

    assert exist == []
    assert set(root) <= {
        "bin",
        "dev",
        "etc",
        "lib",
        "lib32",
        "lib64",
        "nix",
        "proc",
        "sbin",
        "tmp",
        "usr",
    } | {
        Path(prefix).parts[1]
        for prefix in (sys.prefix, sys.base_prefix, os.path.realpath(sys.base_prefix))
    }


@pytest.mark.parametrize("user", [os.geteuid(), 1000])
def test_nothing_can_be_written_but_what_is_thrown_away(
    sandboxed: None, monkeypatch: pytest.MonkeyPatch, user: int
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    code = """
import json, os
written = []
for folder, inside, _ in os.walk('/'):
    if folder.count('/') > 4 or folder == '/proc':
        inside.clear()
    try:
        open(os.path.join(folder, 'written by code'), 'x').close()
        written.append(folder)
    except OSError:
        pass
print(json.dumps(sorted(written)))
"""
    written = set(map(Path, seen(code)))

    # Python's own folders are mounted one by one; those above a mount are made in the sandbox's
    # memory for it.
    prefixes = Path(sys.prefix), Path(sys.base_prefix)
    above_a_mount = {*prefixes, *prefixes[0].parents, *prefixes[1].parents} | {
        prefix / name for prefix in prefixes for name in ("lib", "lib64")
    }
    assert (
        written - above_a_mount
        == {Path("/dev/shm"), Path("/tmp/code")} | {Path("/tmp")} - above_a_mount
    )
    assert not [folder for folder in written if (folder / "written by code").exists()]


# Those of IPC and of processes: https://man7.org/linux/man-pages/man7/ipc_namespaces.7.html,
# pid_namespaces.7.html.
OF_ITS_NAMESPACES = {
    "ns_last_pid",
    "pid_max",
    "auto_msgmni",
    "sem",
    "shm_rmid_forced",
    "shmall",
    "shmmax",
    "shmmni",
}
OF_ITS_NAMESPACES |= {
    "msgmax",
    "msgmnb",
    "msgmni",
    "msg_default",
    "msg_max",
    "msgsize_default",
    "msgsize_max",
    "queues_max",
}


def test_settings_of_the_kernel_cannot_be_changed_but_for_its_own_namespaces(
    sandboxed: None,
) -> None:
    code = """
import json, os
open_ = []
for folder, _, files in os.walk('/proc/sys'):
    for file in files:
        try:
            os.close(os.open(os.path.join(folder, file), os.O_WRONLY))
            open_.append(file)
        except OSError:
            pass
print(json.dumps(open_))
"""
    assert set(seen(code)) <= OF_ITS_NAMESPACES


def test_folders_that_are_to_be_read_can_be_read_and_no_more(
    sandboxed: None, tmp_path: Path
) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "data").write_text("some data")
    path = str(tmp_path)
    assert texts(f"open({path!r} + '/data').read()", readable=[path]) == ["some data"]
    assert "Read-only file system" in failure(f"open({path!r} + '/more', 'w')", readable=[path])


@pytest.mark.parametrize("user", [os.geteuid(), 1000])
def test_secrets_of_a_project_and_ways_out_of_it_are_covered_up(
    sandboxed: None, monkeypatch: pytest.MonkeyPatch, user: int
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    # The address of a Unix socket is short, and pytest's folders are closed to others.
    with (
        tempfile.TemporaryDirectory(dir="/var/tmp") as project,
        socket.socket(socket.AF_UNIX) as server,
    ):
        os.chmod(project, 0o755)
        for path in (
            ".env",
            "inner/.env.local",
            ".git/config",
            "inner/.git",
            "data.csv",
            "not.env",
        ):
            os.makedirs(os.path.dirname(os.path.join(project, path)), exist_ok=True)
            Path(project, path).write_text("a secret")
        os.mkfifo(f"{project}/inner/pipe", 0o666)
        server.bind(f"{project}/inner/socket")
        os.chmod(f"{project}/inner/socket", 0o777)
        server.listen()
        code = f"""
import json, os, socket
def outcome(action, *arguments):
    try:
        return action(*arguments)
    except OSError:
        return None
def read(path):
    with open(os.path.join({project!r}, path)) as file:
        return file.read()
def reached(path):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(os.path.join({project!r}, path))
    return True
print(json.dumps([
    [path for path in ('.env', 'inner/.env.local', 'inner/.git', 'data.csv', 'not.env') if outcome(read, path)],
    os.listdir({project!r} + '/.git'),
    outcome(os.open, {project!r} + '/inner/pipe', os.O_RDWR | os.O_NONBLOCK),
    outcome(reached, 'inner/socket'),
]))
"""  # noqa: E501
        read, of_git, opened, reached = seen(code, readable=[project])

    assert read == ["data.csv", "not.env"]
    assert (of_git, opened, reached) == ([], None, None)


def test_of_a_project_that_is_a_virtual_environment_only_that_is_visible(
    sandboxed: None, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    venv.create(project, with_pip=False, symlinks=True)
    for name in ("app.py", ".env", "lib/own.py", "bin/.env"):
        (project / name).write_text("a secret")
    inside = """
import os
found = [os.path.join(folder, name) for folder, _, names in os.walk({!r}) for name in names]
def read(path):
    try:
        with open(path, errors='replace') as file:
            return file.read()
    except OSError:
        return ''
sorted(path for path in found if read(path) == 'a secret'), 'pyvenv.cfg' in os.listdir({!r})
"""
    outside = """
import sys
from toolwire_bundled import find_class
print(find_class("PythonInterpreter")(sandbox="required")({"command": sys.argv[1]}).result)
"""
    done = subprocess.run(
        [project / "bin" / "python", "-c", outside, inside.format(str(project), str(project))],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.stdout == str([{"type": "text", "content": "([], True)"}]) + "\n", done.stderr


def test_a_folder_that_is_too_large_to_look_through_is_not_readable(
    sandboxed: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(masks, "_MAX_ENTRIES", 10)
    for number in range(11):
        (tmp_path / str(number)).touch()

    assert "more than 10 files and folders" in failure("1", readable=[str(tmp_path)])


def test_the_settings_of_an_environment_called_dot_env_are_covered_up_and_its_python_is_not(
    tmp_path: Path,
) -> None:
    python = str(tmp_path / ".env" / "bin")
    os.makedirs(python)
    (tmp_path / ".env" / ".env").touch()

    assert [*masks.find_masked(str(tmp_path), [python])] == [
        (str(tmp_path / ".env" / ".env"), False)
    ]


def test_a_server_that_is_not_root_has_a_sandbox_without_further_namespaces(
    sandboxed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    code = """
import json, os, subprocess
namespace = subprocess.run(['unshare', '--user', 'true'], capture_output=True).returncode
caps = [line.split()[1] for line in open('/proc/self/status') if line.startswith(('CapPrm', 'CapEff', 'CapBnd'))]
print(json.dumps([namespace, caps]))
"""  # noqa: E501
    namespace, capabilities = seen(code, sandbox="required")
    assert namespace != 0
    assert {int(each, 16) for each in capabilities} == {0}


def test_there_is_no_network_not_even_the_machines_own(sandboxed: None) -> None:
    abstract = f"\0toolwire-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as local:
        local.bind(abstract)
        local.listen()
        code = f"""
import json, socket
def reached(family, address):
    try:
        socket.socket(family).connect(address)
    except OSError:
        return False
    return True
unix, inet = socket.AF_UNIX, socket.AF_INET
print(json.dumps([reached(inet, ('127.0.0.1', {tcp.getsockname()[1]})), reached(unix, {abstract!r}),
    [name for _, name in socket.if_nameindex()]]))
"""
        assert seen(code, sandbox="off")[:2] == [True, True]  # so that this can fail
        by_tcp, by_name, interfaces = seen(code)
    assert (by_tcp, by_name) == (False, False)
    assert interfaces == ["lo"]


# What is used up


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("socket(40, 1, 0)", errno.EAFNOSUPPORT),  # AF_VSOCK: to the hypervisor
        ("socket(38, 5, 0)", errno.EAFNOSUPPORT),  # AF_ALG
        ("keyctl(0, -3, 1)", errno.EPERM),  # the keyring of the server's session
        ("unshare(0x10000000)", errno.EPERM),  # a user namespace
        ("clone(0x10000011, 0, 0, 0, 0)", errno.EPERM),
        ("clone3(0, 0)", errno.ENOSYS),
        ("io_uring_setup(1, 0)", errno.EPERM),
        ("bpf(0, 0, 0)", errno.EPERM),
    ],
)
def test_what_namespaces_leave_open_is_refused(sandboxed: None, call: str, error: int) -> None:
    name, _, arguments = call.partition("(")
    code = f"""
import ctypes
library = ctypes.CDLL(None, use_errno=True)
print(library.syscall({NUMBERS[name]}, {arguments}, ctypes.get_errno())
"""
    assert texts(code, answer_from_stdout=True) == [f"-1 {error}"]


def test_memory_that_is_used_up_is_a_failure_of_the_code(sandbox: str) -> None:
    limits: dict[str, Any] = {"memory_limit": "300 MiB", "sandbox": sandbox}
    assert "MemoryError" in failure(
        "kept = []\nwhile True:\n    kept.append(bytearray(10**7))", **limits
    )
    assert "Cannot allocate memory" in failure("import mmap\nmmap.mmap(-1, 10**9)", **limits)


def test_a_fork_bomb_meets_its_limit_and_is_gone(sandboxed: None) -> None:
    name = f"tw-bomb-{os.getpid() % 100_000}"
    code = NAMED.format(name) + "import os\nwhile True:\n    os.fork()"

    told = failure(code, max_processes=30, timeout=3)

    assert "BlockingIOError" in told or "time limit" in told
    wait_until(lambda: not called_by(name))


def test_descriptors_that_are_used_up_are_a_failure_of_the_code(sandbox: str) -> None:
    told = failure("import os\nkept = []\nwhile True:\n    kept += os.pipe()", sandbox=sandbox)
    assert told.endswith("OSError: [Errno 24] Too many open files")


def test_threads_count_as_processes(sandboxed: None) -> None:
    code = (
        "import threading\ne = threading.Event()\nwhile True:\n   "
        " threading.Thread(target=e.wait).start()"
    )
    assert "can't start new thread" in failure(code, max_processes=20)


def test_files_take_no_more_than_they_may(sandboxed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandboxing, "FOLDER_BYTES", 1024**2)
    monkeypatch.setattr(sandboxing, "SHARED_MEMORY_BYTES", 1024**2)
    for folder in (".", "/tmp", "/dev/shm"):
        assert "No space left on device" in failure(
            f"open({folder!r} + '/big', 'wb').write(bytes(2 * 1024**2))"
        )


def test_endless_output_ends_at_the_time_limit(sandbox: str) -> None:
    message = failure(
        "import os\nblock = b'x' * 65536\nwhile True:\n    os.write(1, block)",
        timeout=1,
        sandbox=sandbox,
    )

    assert "time limit" in message
    assert len(message) < 10_000


def test_much_output_is_read_and_forgotten(sandbox: str) -> None:
    code = (
        "import os\nblock = b'x' * 65536\nfor _ in range(1024):\n    os.write(1, block)\nraise"
        " ValueError"
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    message = failure(code, sandbox=sandbox)

    left_out = int(message.partition("[... ")[2].partition(" bytes")[0].replace(",", ""))
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert "ValueError" in message
    assert len(message) < 10_000
    assert 64 * 1024**2 - left_out < 10_000
    assert grown < 32 * 1024**2


def test_an_endless_result_is_read_and_forgotten(sandbox: str) -> None:
    code = (
        "import os\nblock = b'x' * 65536\nfor _ in range(2000):\n    os.write({},"
        " block)\nos._exit(0)"
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    told = failure(code.format(_RESULT), sandbox=sandbox)

    assert told == "The code wrote something else where its result belongs."
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < 32 * 1024**2


_RESULT = (
    "[n for n in range(3, 20) if os.path.exists(f'/proc/self/fd/{n}') and"
    " __import__('fcntl').fcntl(n, 3) & 1][0]"
)
"""The descriptor of the result: the pipe that can be written to. (3 is F_GETFL.)"""


# Results


def test_a_forged_result_is_the_result_of_its_own_call(sandbox: str) -> None:
    assert texts(
        f"import os\nos.write({_RESULT}, b'value\\nforged')\nos._exit(0)", sandbox=sandbox
    ) == ["forged"]
    for garbage in (b"\xff\xfe", b"\0" * 100, b'{"jsonrpc": "2.0"}\n', b"error"):
        failure(f"import os\nos.write({_RESULT}, {garbage!r})\nos._exit(0)", sandbox=sandbox)


def test_pipes_that_are_closed_end_the_call(sandbox: str) -> None:
    told = failure("import os\nos.closerange(0, 1000)", sandbox=sandbox)
    assert "before it had a result" in told


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import builtins\nbuiltins.str = builtins.len = builtins.print = None\n5", ["5"]),
        ("import sys\nsys.modules.clear()\n6", ["6"]),
        ("import sys\nsys.stdout = sys.stderr = sys.__stderr__ = None\n7", ["7"]),
        ("import sys\nsys.stdout.close()\n8", ["8"]),
        ("import os\nos.write = os._exit = None\n9", ["9"]),
        ("import atexit, os\natexit.register(os.write, 1, b'late')\n10", ["10"]),
        ("import signal\nfor n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\n11", ["11"]),
        (
            "import threading, time\nthreading.Thread(target=time.sleep, args=[60]).start()\n12",
            ["12"],
        ),
        ("import sys\nsys.setrecursionlimit(50)\n13", ["13"]),
        ("import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))\n14", ["14"]),
    ],
)
def test_code_that_spoils_its_own_process_gets_its_answer_all_the_same(
    code: str, told: list[str]
) -> None:
    assert texts(code) == told


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import sys\nsys.modules.clear()\n1 / 0", "ZeroDivisionError"),
        ("import builtins\nvars(builtins).clear()\n5", "NameError"),
        ("import sys\nsys.modules['traceback'] = None\n1 / 0", "ZeroDivisionError"),
        (
            "import sys\nsys.settrace(lambda *_: 1 / 0)\nsys.setrecursionlimit(50)\n5",
            "ZeroDivisionError",
        ),
        (
            "class A:\n    def __str__(self): return 5\nA()",
            "TypeError: __str__ returned non-string",
        ),
        ("class A:\n    def __str__(self): raise OSError('no')\nA()", "OSError: no"),
        (
            "class E(Exception):\n    def __str__(self): raise E\nraise E",
            "<exception str() failed>",
        ),
        ("raise BaseException('b')", "BaseException: b"),
        ("raise Exception('\\ud800' * 5)", "\\ud800"),
        ("import ctypes\nctypes.string_at(0)", "killed by signal 11 (SIGSEGV)"),
        ("import os\nos.kill(os.getpid(), 15)", "killed by signal 15 (SIGTERM)"),
        ("(" * 100_000, "too many nested parentheses"),
        ("-" * 100_000 + "1", "Error"),
        ("1" + "+1" * 100_000, "Error"),
        ("x = '\0'", "null bytes"),
        ("'\ud800'", "surrogates not allowed"),
    ],
)
def test_code_that_fails_in_odd_ways_is_reported(code: str, told: str) -> None:
    assert told in failure(code)


def test_a_huge_message_is_cut() -> None:
    told = failure("raise ValueError('x' * 10**7)")
    assert len(told) < 9000
    assert told.startswith("Traceback")


# Nothing stays behind

_STAYS = """
import os, signal, time
for number in range(1, 32):
    if number not in (signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_IGN)
"""
_DAEMON = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            time.sleep(60)
    os._exit(0)
"""


def test_time_that_is_up_ends_what_ignores_every_signal(sandbox: str) -> None:
    name = f"tw-stay-{os.getpid() % 100_000}"
    code = NAMED.format(name) + _STAYS + "print('begun')\nos.fork()\nwhile True: time.sleep(60)"

    told = failure(code, timeout=5, sandbox=sandbox)

    assert told == "The code was ended at its time limit, 5 s.\n\nIt had printed:\nbegun"
    wait_until(lambda: not called_by(name))


@pytest.mark.skipif(sys.platform != "linux", reason="they are found in /proc")
def test_daemons_end_with_the_call(sandbox: str) -> None:
    name = f"tw-daemon-{os.getpid() % 100_000}"
    assert texts(NAMED.format(name) + _STAYS + _DAEMON + "1", sandbox=sandbox) == ["1"]
    wait_until(lambda: not called_by(name))


def test_children_that_stay_in_the_group_end_with_the_call_without_a_sandbox_too() -> None:
    name = f"tw-child-{os.getpid() % 100_000}"
    code = NAMED.format(name) + _STAYS + "if os.fork() == 0:\n    time.sleep(60)\n1"
    assert texts(code, sandbox="off") == ["1"]
    wait_until(lambda: not called_by(name))


class Impatient(RecordingCaller):
    """Cancels once the code has begun."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    @property
    def cancelled(self) -> bool:
        return bool(called_by(self.name))


def test_a_cancelled_call_ends_with_all_it_started(sandbox: str) -> None:
    name = f"tw-cancel-{os.getpid() % 100_000}"
    code = NAMED.format(name) + _STAYS + _DAEMON + "while True: pass"

    with pytest.raises(Cancelled):
        called(code, Impatient(name), sandbox=sandbox)

    wait_until(lambda: not called_by(name))


def test_calls_side_by_side_do_not_meet(sandbox: str) -> None:
    found: dict[int, list[str]] = {}

    def call(number: int) -> None:
        code = (
            f"open('mine', 'w').write('{number}')\nimport os\nopen('mine').read(),"
            " sorted(os.listdir())"
        )
        found[number] = texts(code, sandbox=sandbox)

    threads = [threading.Thread(target=call, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: [f"('{number}', ['mine'])"] for number in range(6)}
    assert threading.active_count() == 1 or not [
        t for t in threading.enumerate() if t.name == "toolwire-python"
    ]
