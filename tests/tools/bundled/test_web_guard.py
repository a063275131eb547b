"""Which addresses are opened for a model. Nothing is connected to here."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_bundled.web.errors import NotOpened
from toolwire_bundled.web.ssrf_guard import AddressGuard, is_public, show_url

PUBLIC = "93.184.216.34"

# IANA's special-purpose registries, multicast, and the metadata services of clouds.
FORBIDDEN = {
    "this host": ["0.0.0.0", "0.1.2.3", "::", "::1", "127.0.0.1", "127.255.255.254"],
    "private": [
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "fc00::1",
        "fdff::1",
        "fec0::1",
    ],
    "shared and benchmarks": [
        "100.64.0.1",
        "198.18.0.1",
        "198.19.255.255",
        "192.0.0.1",
        "2001:2::1",
    ],
    "link-local": ["169.254.0.1", "fe80::1", "fe80::1%1"],
    "metadata": [
        "169.254.169.254",
        "169.254.170.2",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
    ],
    "multicast and broadcast": [
        "224.0.0.1",
        "239.255.255.250",
        "255.255.255.255",
        "ff02::1",
        "ff0e::1",
    ],
    "reserved": ["240.0.0.1", "192.88.99.1", "100::1", "4000::1", "5f00::1"],
    "documentation": ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1"],
    "IPv4 within IPv6": [
        *("::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "::10.0.0.1"),
        *("64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1"),
        *("2002:7f00:1::", "2002:a9fe:a9fe::1", "2001:0:a00:1::1", "::ffff:0:127.0.0.1"),
    ],
}
OPEN = [
    PUBLIC,
    "1.1.1.1",
    "8.8.8.8",
    "172.32.0.1",
    "2606:4700:4700::1111",
    "2a00:1450::1",
    "64:ff9b::808:808",
]


def open_with(url: str, *addresses: str, allowed: bool | tuple[str, ...] = False) -> Sequence[str]:
    return AddressGuard(allowed).find_addresses(url, lambda host: addresses)


@pytest.mark.parametrize("address", [each for group in FORBIDDEN.values() for each in group])
def test_an_address_off_the_public_internet_is_not_opened(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))
    with pytest.raises(NotOpened, match="is not on the public internet"):
        open_with("https://page.example/", address)


@pytest.mark.parametrize("address", [*OPEN, f"::ffff:{PUBLIC}"])
def test_an_address_of_the_public_internet_is_opened(address: str) -> None:
    assert open_with("https://page.example/", address) == [address]


@given(st.ip_addresses())
def test_no_address_is_public_that_python_takes_for_special(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    special = (
        address.is_private or address.is_loopback or address.is_link_local or address.is_multicast
    )
    in_nat64 = address in ipaddress.ip_network("64:ff9b::/96") if address.version == 6 else False
    assert not (
        is_public(address)
        and special
        and not in_nat64
        and not getattr(address, "ipv4_mapped", None)
    )


@given(st.ip_addresses(v=4), st.sampled_from(["::ffff:", "64:ff9b::"]))
def test_ipv4_within_ipv6_is_as_public_as_by_itself(
    address: ipaddress.IPv4Address, prefix: str
) -> None:
    assert is_public(ipaddress.ip_address(f"{prefix}{address}")) == is_public(address)


def test_of_several_addresses_only_public_ones_are_asked() -> None:
    assert open_with("https://page.example/", "10.0.0.1", PUBLIC, "::1") == [PUBLIC]


@pytest.mark.parametrize(
    "host",
    [
        *(
            "127.0.0.1",
            "localhost",
            "localhost.",
            "LOCALHOST",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0x7f.0.0.1",
        ),
        *(
            "0177.0.0.1",
            "017700000001",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "0",
            "0.0.0.0",
            "127.0.0.1.",
        ),
        *(
            "%31%32%37.0.0.1",
            "１２７.0.0.1",
            "①②⑦.⓪.⓪.①",
            "127。0。0。1",
            "[fe80::1%25lo]",
            "2852039166",
        ),
    ],
)
def test_no_spelling_of_this_machine_gets_through(host: str) -> None:
    with pytest.raises(NotOpened):
        AddressGuard().find_addresses(f"http://{host}/latest/meta-data/")


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("file:///etc/passwd", "begins with https:// or http://"),
        ("gopher://page.example/", "the scheme 'gopher'"),
        ("javascript:alert(1)", "the scheme 'javascript'"),
        ("page.example/tea", "has no scheme"),
        ("//page.example/tea", "has no scheme"),
        ("", "has no scheme"),
        ("http:///tea", "names no host"),
        ("https://user:pass@page.example/", "holds a user name"),
        ("https://page.example@127.0.0.1/", "holds a user name"),
        ("http://page.example:22/", "has the port 22"),
        ("http://page.example:25/", "has the port 25"),
        ("http://page.example:6379@x.example/", "holds a user name"),
        ("http://page.example:6667/", "has the port 6667"),
        ("http://page.example:0/", "has the port 0"),
        ("http://page.example:99999/", "has the port 99999"),
        ("http://page.example:port/", "is no URL"),
        ("http://[::1/", "is no URL"),
        ("http://page.example/\r\nHost: x", "is no URL"),
        ("http://a\x00b.example/", "is no URL"),
        ("http://\ud800.example/", "is no URL"),
        ("http://-xn--a-/", "is no URL"),
        ("https://page.example/" + "a" * 10_000, "characters long"),
    ],
)
def test_an_invalid_url_for_pages_is_refused_with_the_reason(url: str, problem: str) -> None:
    with pytest.raises(NotOpened) as raised:
        open_with(url, PUBLIC)
    assert problem in str(raised.value)
    assert "pass" not in str(raised.value).replace("/etc/passwd", "")


@pytest.mark.parametrize("port", ["", ":80", ":443", ":8080", ":1024", ":65535"])
def test_the_ports_of_pages_are_open(port: str) -> None:
    assert open_with(f"https://page.example{port}/", PUBLIC) == [PUBLIC]


@pytest.mark.parametrize(
    ("allowed", "address", "is_opened"),
    [
        (True, "127.0.0.1", True),
        (("intranet.example",), "10.0.0.1", True),
        (("INTRANET.example.",), "10.0.0.1", True),
        (("10.0.0.0/8",), "10.0.0.1", True),
        (("10.0.0.1",), "10.0.0.1", True),
        (("fd00::/8",), "fd12::1", True),
        (("10.0.0.0/8",), "192.168.0.1", False),
        (("example",), "10.0.0.1", False),
        (("10.0.0.1",), "::1", False),
        ((), "10.0.0.1", False),
    ],
)
def test_what_is_private_is_opened_where_it_is_allowed(
    allowed: bool | tuple[str, ...], address: str, is_opened: bool
) -> None:
    if is_opened:
        assert open_with("http://intranet.example:81/", address, allowed=allowed) == [address]
    else:
        with pytest.raises(NotOpened):
            open_with("http://intranet.example/", address, allowed=allowed)


@pytest.mark.parametrize(
    "entry", ["", "a.example,b.example", "http://a.example/", "a.example:80", "10.0.0.0/99", "a b"]
)
def test_permission_for_what_is_neither_host_nor_network_is_refused(entry: str) -> None:
    with pytest.raises(ValueError, match="neither a host, nor an address, nor a network"):
        AddressGuard((entry,))


def test_private_addresses_stay_refused_for_other_schemes() -> None:
    with pytest.raises(NotOpened):
        open_with("file:///etc/passwd", "127.0.0.1", allowed=True)


def test_a_host_that_does_not_exist_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    with pytest.raises(
        NotOpened, match=r"no host is called nowhere\.example: Name or service not known"
    ):
        AddressGuard().find_addresses("https://nowhere.example/")


@given(st.text(max_size=300))
def test_whatever_is_asked_for_is_refused_or_checked(url: str) -> None:
    asked: list[str] = []

    def resolve(host: str) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    for each in (url, f"http://{url}", f"https://page.example/{url}"):
        with pytest.raises(NotOpened) as raised:
            AddressGuard().find_addresses(each, resolve)
        assert str(raised.value).isprintable()
        assert len(show_url(each)) <= 200
