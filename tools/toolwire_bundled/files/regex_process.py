"""The process behind patterns.py: finds lines by a regular expression. A program, so it imports
nothing of Toolwire.

The first line of input is `{"pattern", "ignores_case", "shown", "seconds"}`, answered by what is
wrong with it, or null; each further one is `{"text", "limit"}`, answered by `[[line, text], ...]`.
"""

from __future__ import annotations

import json
import re
import signal
import sys

_MAX_MEMORY = 1024 * 1024 * 1024


def main() -> None:
    """Answer until the input ends."""
    asked = map(json.loads, sys.stdin.buffer)
    settings = next(asked)
    _limit(settings["seconds"])
    try:
        pattern = re.compile(settings["pattern"], re.IGNORECASE if settings["ignores_case"] else 0)
    except (re.error, OverflowError, RecursionError) as error:
        _answer(str(error) or type(error).__name__)
        return
    _answer(None)
    for question in asked:
        _answer(_find_lines(pattern, question["text"], question["limit"], settings["shown"]))


def _find_lines(
    pattern: re.Pattern[str], text: str, limit: int, shown: int
) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip("\r")  # which is no part of what a line says
        match = pattern.search(line)
        if match is not None and len(found) < limit:
            found.append((number, _cut_around(line, match.start(), shown)))
    return found


def _cut_around(line: str, at: int, shown: int) -> str:
    start = max(0, min(at - shown // 4, len(line) - shown))
    return (
        ("…" if start else "")
        + line[start : start + shown]
        + ("…" if start + shown < len(line) else "")
    )


def _answer(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def _limit(seconds: float) -> None:
    """Let the system end this process by SIGPROF after *seconds* of a processor, also when its
    parent has gone.
    """
    if sys.platform == "win32":
        return
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGPROF})
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY, _MAX_MEMORY))
    except (ValueError, OSError):  # a limit that is lower already
        pass


if __name__ == "__main__":
    main()
