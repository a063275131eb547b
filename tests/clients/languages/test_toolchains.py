"""Which compilers of a machine count for the tests of generated clients."""

from __future__ import annotations

from pathlib import Path

import pytest
from clients.languages import driving
from clients.languages.test_rust import has_rust

pytestmark = pytest.mark.process


def program(path: Path, prints: str, status: int = 0) -> Path:
    path.write_text(f"#!/bin/sh\necho '{prints}'\nexit {status}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("prints", "status", "counts"),
    [
        ("go version go1.19.8 linux/amd64", 0, False),  # of Debian 12
        ("go version go1.23.12 linux/amd64", 0, False),
        ("go version go1.24 linux/amd64", 0, True),
        ("go version go1.27.3 linux/amd64", 0, True),
        ("go version go2.0 linux/amd64", 0, True),
        ("go version go1.27.3 linux/amd64", 1, False),
        ("no version at all", 0, False),
    ],
)
def test_go_counts_from_the_version_that_clients_support(
    tmp_path: Path, prints: str, status: int, counts: bool
) -> None:
    go = program(tmp_path / "go", prints, status)
    assert driving.is_at_least(go, (1, 24), "version") is counts


def test_a_program_that_is_missing_does_not_count(tmp_path: Path) -> None:
    assert not driving.is_at_least(tmp_path / "go", (1, 24), "version")


@pytest.mark.parametrize(
    ("compiler", "formatter_status", "counts"),
    [("1.63.0", 0, True), ("1.95.0", 0, True), ("1.62.1", 0, False), ("1.95.0", 1, False)],
)
def test_rust_counts_with_all_its_programs(
    tmp_path: Path, compiler: str, formatter_status: int, counts: bool
) -> None:
    program(tmp_path / "rustc", f"rustc {compiler} (abc 2026-01-01)")
    program(tmp_path / "cargo", f"cargo {compiler}")
    program(tmp_path / "cargo-clippy", "clippy 0.1.63 (abc 2026-01-01)")
    program(
        tmp_path / "rustfmt", "rustfmt 1.5.1-stable", formatter_status
    )  # rustup's stand-in without its component
    assert has_rust(tmp_path) is counts


def test_rust_without_one_of_its_programs_does_not_count(tmp_path: Path) -> None:
    program(tmp_path / "rustc", "rustc 1.95.0 (abc 2026-01-01)")
    assert not has_rust(tmp_path)
