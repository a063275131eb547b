"""Remote servers: an address, what authorizes this client there, and both as words of a command
line.

Strategy. Wherever a command starts a server, words that begin with an address mean a remote one.
`connect` speaks HTTP itself; programs that need a process, such as mounts, run `bridge` in one.
"""

from __future__ import annotations

import re
import sys
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from .errors import BadConfiguration, NotStarted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .transport.base import Transport

_LOOPBACK = ("localhost", "127.0.0.1", "::1")

_HEADER_NAME = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"  # RFC 9110, section 5.6.2
_OF_TRANSPORT = frozenset(
    {
        "accept",
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "host",
        "last-event-id",
        "transfer-encoding",
    }
)
_PREFIX_OF_TRANSPORT = "mcp-"

_VARIABLE = r"\$\{([^}]*)\}"

USAGE = "URL [--bearer-env NAME] [--header 'NAME: VALUE']... [--oauth]"


def is_address(word: str) -> bool:
    """Return whether *word* is the address of a remote server, and no command."""
    return word[:8].lower().startswith(("http://", "https://"))


class RemoteServer(msgspec.Struct, frozen=True):
    """An MCP server that is reached over Streamable HTTP at *url*.

    *headers* are added to each request, and *bearer_token* as `Authorization`. With *oauth*, the
    user is asked for permission in a browser, and the tokens are kept in the user's data folder.

    Raises:
        BadConfiguration: if the address or a header cannot be used, or if credentials would travel
            unencrypted: plain `http` is for this machine.
    """

    url: str
    bearer_token: str | None = None
    headers: dict[str, str] = {}
    oauth: bool = False

    def __post_init__(self) -> None:
        _check_url(self.url)
        for name, value in self._make_headers().items():
            _check_header(name, value)
        if self.oauth and self.bearer_token is not None:
            raise BadConfiguration("a bearer token and OAuth exclude each other: give one of them")
        has_credentials = self.oauth or bool(self._make_headers())
        if has_credentials and not _is_private(self.url):
            raise BadConfiguration(
                f"{self.url} is not encrypted, so it gets no token and no headers: use https://"
            )

    def __repr__(self) -> str:  # headers may hold secrets, too
        return f"RemoteServer({self.url!r})"

    def _make_headers(self) -> dict[str, str]:
        if self.bearer_token is None:
            return self.headers
        return {**self.headers, "Authorization": f"Bearer {self.bearer_token}"}

    def open(
        self, max_message_bytes: int, *, may_ask: bool = True, keeps_all_tools: bool = False
    ) -> Transport:
        """Return a transport to the server, which connects when the first line is sent.

        With `oauth`, this asks the user first, and waits; unless it *may_ask*, the server is
        refused until the user has given permission elsewhere. With *keeps_all_tools*, lists keep
        the tools that a client has to leave out, for the sake of a report about them.

        Raises:
            NotStarted: if the packages of the extra are missing, or no permission is given.
        """
        try:
            from .transport.http_requests import HttpRequests
            from .transport.parameter_headers import ParameterHeaders
            from .transport.streamable_http import StreamableHttp
        except ModuleNotFoundError as error:
            raise _explain_missing(error, "http") from None
        make_auth = None
        if self.oauth:
            try:
                from .transport.oauth import UserPermission, ask_for_permission
            except ModuleNotFoundError as error:
                raise _explain_missing(error, "oauth") from None
            if may_ask:
                ask_for_permission(self.url)
            make_auth = partial(UserPermission, self.url, may_ask=may_ask)
        http = HttpRequests(
            self.url,
            self._make_headers(),
            max_message_bytes=max_message_bytes,
            parameters=ParameterHeaders(keeps_all=keeps_all_tools),
            make_auth=make_auth,
        )
        return StreamableHttp(http)


def _check_url(url: str) -> None:
    from urllib.parse import urlsplit  # which local servers do not need

    try:
        parts = urlsplit(url)
        host = parts.hostname
        parts.port  # noqa: B018 - raises ValueError
    except ValueError as error:
        raise BadConfiguration(f"{url!r} is not an address: {error}") from None
    if not is_address(url) or not host or not url.isprintable() or " " in url:
        raise BadConfiguration(f"{url!r} is not an address: it begins with https:// and a host")
    if parts.username is not None or parts.password is not None:
        raise BadConfiguration(
            f"the address of {host} holds a password: give it as a header or a bearer token"
        )


def _check_header(name: str, value: str) -> None:
    if re.fullmatch(_HEADER_NAME, name) is None:
        raise BadConfiguration(f"{name!r} is not the name of a header")
    if name.lower() in _OF_TRANSPORT or name.lower().startswith(_PREFIX_OF_TRANSPORT):
        raise BadConfiguration(f"the header {name} is set by the transport")
    if not value.isascii() or not value.isprintable():
        raise BadConfiguration(f"the value of the header {name} has characters that HTTP forbids")


def _is_private(url: str) -> bool:
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    return parts.scheme == "https" or parts.hostname in _LOOPBACK


def _explain_missing(error: ModuleNotFoundError, extra: str) -> NotStarted:
    from toolwire_schemas.install_command import install_command

    command = install_command(f"toolwire[{extra}]")
    package = (error.name or "").partition(".")[0]
    return NotStarted(f"remote servers need the package {package}; run: {command}")


# Words of a command line


def read_words(words: Sequence[str], environment: Mapping[str, str]) -> RemoteServer:
    """Return the server that *words* describe: its address, and options as in `USAGE`.

    `${NAME}` in the value of a header is that variable of *environment*.

    Raises:
        BadConfiguration: if they describe none.
    """
    url, *options = words
    token: str | None = None
    headers: dict[str, str] = {}
    oauth = False
    while options:
        option, *options = options
        if option == "--oauth":
            oauth = True
            continue
        if option not in ("--bearer-env", "--header"):
            raise BadConfiguration(
                f"after an address comes {USAGE.partition(' ')[2]}, not {option}"
            )
        if not options:
            raise BadConfiguration(f"{option} needs a value")
        value, *options = options
        if option == "--bearer-env":
            token = _look_up(value, environment)
        else:
            name, text = _read_header(value, environment)
            headers[name] = text
    return RemoteServer(url, token, headers, oauth)


def _read_header(text: str, environment: Mapping[str, str]) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon:
        raise BadConfiguration(f"--header takes 'NAME: VALUE', not {text!r}")
    known = re.sub(_VARIABLE, lambda found: _look_up(found[1], environment), value.strip())
    return name.strip(), known


def _look_up(name: str, environment: Mapping[str, str]) -> str:
    value = environment.get(name)
    if not value:
        raise BadConfiguration(f"the environment variable {name} is not set")
    return value


KEEP_ALL_TOOLS = "--keep-all-tools"


def as_process(words: Sequence[str], *, keeps_all_tools: bool = False) -> list[str]:
    """Return the command that *words* are; for a remote server, that of a process in its place,
    whose lists have the tools that a client has to leave out if it *keeps_all_tools*.
    """
    if not words or not is_address(words[0]):
        return list(words)
    # -P keeps the working folder off the path, so that a file there cannot shadow a module we need.
    bridge = [sys.executable, "-P", "-m", "toolwire_client.bridge"]
    if keeps_all_tools:
        bridge.append(KEEP_ALL_TOOLS)
    return [*bridge, *words]
