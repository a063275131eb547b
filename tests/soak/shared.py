"""Sessions of one shared process that come, go and are killed at random moments.

    python tests/soak/shared.py --seconds 1200                 # 20 sessions at a time
    python tests/soak/shared.py --seconds 600 --wrap           # one server of others
    python tests/soak/shared.py --seconds 600 --kill-process   # the shared process is killed, too

Every answer must carry the secret of its session, come once, and follow its progress. After each
tenth of the time all sessions end, and the memory, descriptors and threads of what stays are
compared. At the end nothing may be left.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

PATIENCE_SECONDS = 120.0
ROUNDS = 10
SERVER_WORKERS = 2
"""How many calls a wrapped server runs at once; its threads stay, and their limit is compared."""

SERVERS = 2
"""A wrapped server has one process for each era."""

TOOLS = '''
import threading
import anyio
from toolwire import Context

def echo(text: str) -> str:
    """Return the text."""
    return text

async def echo_later(text: str) -> str:
    """Return the text after a moment."""
    await anyio.sleep(0.005)
    return text

def echo_with_progress(text: str, context: Context) -> str:
    """Report the text, and return it."""
    for step in range(3):
        context.progress(step, 3, text)
    return text

def echo_much(text: str) -> str:
    """Return the text a thousand times."""
    return text * 1000

def remember(text: str, context: Context) -> str:
    """Return the first text of this session."""
    return context.session_state.setdefault("text", text)

async def hang(text: str) -> str:
    """Never end by itself."""
    await anyio.sleep_forever()
    return text
'''
KINDS = ("echo", "echo_later", "echo_with_progress", "echo_much", "hang")
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Wrong(Exception):
    """An answer that is not the one of its call."""


class Soak:
    """What all sessions have in common: the command, the time, and the counts."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.seconds: float = options.seconds
        self.sessions: int = options.sessions
        self.may_lose: bool = options.kill_process
        self.has_session_state: bool = not options.wrap  # a server of others has one session
        self.folder = folder
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []
        (folder / "tools.py").write_text(TOOLS, encoding="utf-8")
        toolwire = [sys.executable, "-m", "toolwire"]
        self._toolwire = toolwire
        self.command = [*toolwire, "serve", "--share", "tools.py"]
        if options.wrap:
            limit = f"max_workers={SERVER_WORKERS}"
            server = [*toolwire, "serve", "--limit", limit, "tools.py"]
            self.command = [*toolwire, "wrap", "--share", "--list-cache", "never", "--", *server]
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": str(folder)}

    def describe(self) -> list[dict[str, Any]]:
        """Return what the shared processes say of themselves."""
        listed = subprocess.run(
            [*self._toolwire, "share", "ls", "--json"],
            env=self.environment,
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            check=True,
        )
        found: list[dict[str, Any]] = json.loads(listed.stdout)
        own = []
        for facts in found:
            if Path(facts.get("log", "")).is_relative_to(self.folder):
                own.append(facts)
        return own

    def stop(self) -> None:
        """End the shared processes of this soak; the user may have others."""
        keys = [facts["key"] for facts in self.describe()]
        if not keys:
            return
        words = [*self._toolwire, "share", "stop", *keys]
        subprocess.run(words, env=self.environment, capture_output=True, check=True)


class Session:
    """One session: a process, its secret, and the calls that it owes answers for."""

    def __init__(self, soak: Soak, chance: random.Random) -> None:
        self._soak = soak
        self._chance = chance
        self._secret = f"{chance.getrandbits(64):016x}"
        self._is_modern = chance.random() < 0.5
        self._owed: dict[int, tuple[str, str]] = {}
        self._cancelled: set[int] = set()
        self._next_id = 0
        self._first_text = ""
        self._popen = subprocess.Popen(
            soak.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=soak.folder,
            env=soak.environment,
        )
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def run(self, deadline: float) -> None:
        """Make calls, and end in one of the ways in which sessions end."""
        try:
            if not self._is_modern:
                self._shake_hands()
            self._make_calls()  # however slow the machine is
            self._settle()
            for _ in range(self._chance.randrange(12)):
                if time.monotonic() > deadline:
                    break
                self._make_calls()
                self._settle()
            self._end()
        finally:
            self._popen.kill()
            self._popen.wait()
            self._reader.join(PATIENCE_SECONDS)
            for stream in (self._popen.stdin, self._popen.stdout):
                assert stream is not None
                with suppress(OSError):
                    stream.close()

    def _shake_hands(self) -> None:
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "s"}}
        self._send(id="hello", method="initialize", params=params)
        answer = self._receive()
        if self._soak.may_lose and "error" in answer:
            self._take_error("initialize", answer)
            self._shake_hands()
            return
        if answer.get("id") != "hello" or "result" not in answer:
            raise Wrong(f"the handshake was answered with {answer}")
        self._send(method="notifications/initialized")

    def _make_calls(self) -> None:
        for _ in range(self._chance.randint(1, 10)):
            self._call(self._chance.choice(KINDS))
        if self._soak.has_session_state:
            self._call("remember")

    def _call(self, name: str) -> None:
        id, self._next_id = self._next_id, self._next_id + 1
        text = f"{self._secret}-{id}"
        self._first_text = self._first_text or (text if name == "remember" else "")
        meta: dict[str, Any] = {**MODERN} if self._is_modern else {}
        if name == "echo_with_progress":
            meta["progressToken"] = id
        params = {"name": name, "arguments": {"text": text}, "_meta": meta}
        self._owed[id] = name, text
        self._send(id=id, method="tools/call", params=params)
        if name == "hang":
            self._cancelled.add(id)
            self._send(method="notifications/cancelled", params={"requestId": id, "_meta": meta})
        self._soak.counts[name] += 1

    def _settle(self) -> None:
        """Receive every answer that is owed; a cancelled call has none."""
        while self._owed.keys() - self._cancelled:
            self._take(self._receive())
        for id in self._cancelled:
            self._owed.pop(id, None)
        self._cancelled.clear()

    def _take(self, answer: dict[str, Any]) -> None:
        if answer.get("method") == "notifications/progress":
            params = answer["params"]
            name, text = self._owed.get(params["progressToken"], ("nothing", ""))
            if name != "echo_with_progress" or params.get("message", text) != text:
                raise Wrong(f"progress of {name}: {answer}")
            return
        if "method" in answer:
            return
        name, text = self._owed.pop(answer["id"], ("", ""))
        self._cancelled.discard(answer["id"])
        if not name:
            raise Wrong(f"an answer to no call: {answer}")
        if "error" in answer:
            self._take_error(name, answer)
            return
        expected = {"echo_much": text * 1000, "remember": self._first_text}.get(name, text)
        (block,) = answer["result"]["content"]
        is_ours = block["text"].startswith(self._secret)
        if name == "remember" and self._soak.may_lose and is_ours:
            return  # a new process has another first text
        if block["text"] != expected:
            raise Wrong(f"{name} was answered with {str(answer)[:300]}")

    def _take_error(self, name: str, answer: dict[str, Any]) -> None:
        is_lost = answer["error"].get("data", {}).get("kind") == "lost"
        if not (is_lost and self._soak.may_lose):
            raise Wrong(f"{name} was answered with {answer}")
        self._soak.counts["lost"] += 1

    def _end(self) -> None:
        way = self._chance.choice(("hang up", "kill", "terminate", "kill with open calls"))
        self._soak.counts[way] += 1
        if way == "kill with open calls":
            self._make_calls()
        if way.startswith("kill"):
            return
        if way == "terminate":
            self._popen.send_signal(signal.SIGTERM)
        assert self._popen.stdin is not None
        self._popen.stdin.close()
        self._popen.wait(PATIENCE_SECONDS)

    def _send(self, **message: Any) -> None:
        assert self._popen.stdin is not None
        self._popen.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._popen.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=PATIENCE_SECONDS)
        except queue.Empty:
            raise Wrong(f"no answer to {list(self._owed.items())[:3]}") from None
        if not line:
            raise Wrong(f"the session has ended, and owes {list(self._owed.items())[:3]}")
        message: dict[str, Any] = json.loads(line)
        return message

    def _read(self) -> None:
        assert self._popen.stdout is not None
        for line in self._popen.stdout:
            self._lines.put(line)
        self._lines.put(b"")


class Taken(NamedTuple):
    """What the processes take that stay, as the kernel sees it."""

    processes: int
    memory_kib: int
    descriptors: int
    threads: int


POOL_GROWTH = SERVER_WORKERS + 1
"""How many workers a server may have more than at first: it has one at least, and at most two more
than may run calls (`WorkerPool.wake`). How many there are depends on the speed of the machine; they
end after 10 idle seconds. Workers of sessions end with them.
"""

MARGIN = Taken(processes=0, memory_kib=8 * 1024, descriptors=4, threads=SERVERS * POOL_GROWTH)


def measure(soak: Soak) -> Taken:
    """Return what shared processes take, and all that they have started."""
    pids = find_processes(soak)
    memory = descriptors = threads = 0
    for pid in pids:
        status = dict(
            line.split(":", 1)
            for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
        )
        memory += int(status["VmRSS"].split()[0])
        threads += int(status["Threads"])
        descriptors += len(os.listdir(f"/proc/{pid}/fd"))
    return Taken(len(pids), memory, descriptors, threads)


def find_processes(soak: Soak) -> list[int]:
    """Return the numbers of the processes that have our runtime folder in their environment."""
    mark = f"XDG_RUNTIME_DIR={soak.folder}".encode()
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        with suppress(OSError):
            if mark in Path(f"/proc/{name}/environ").read_bytes().split(b"\0"):
                found.append(int(name))
    return found


def run_slot(soak: Soak, seed: str, deadline: float) -> None:
    """Run one session after another until *deadline*."""
    chance = random.Random(seed)
    while time.monotonic() < deadline and not soak.problems:
        try:
            Session(soak, chance).run(deadline)
        except (Wrong, OSError, subprocess.TimeoutExpired) as problem:
            soak.problems.append(f"{type(problem).__name__}: {problem}")
        soak.counts["sessions"] += 1


def kill_processes(soak: Soak, chance: random.Random, deadline: float) -> None:
    """Kill a shared process every few seconds."""
    ended = threading.Event()
    while not ended.wait(chance.uniform(0.5, 3)) and time.monotonic() < deadline:
        for facts in soak.describe():
            with suppress(ProcessLookupError):
                os.kill(facts["pid"], signal.SIGKILL)
                soak.counts["killed processes"] += 1


def run_round(soak: Soak, number: int) -> Taken:
    """Run sessions for a tenth of the time, end them, and return what stays."""
    deadline = time.monotonic() + soak.seconds / ROUNDS
    threads = [
        threading.Thread(target=run_slot, args=(soak, f"{number}-{slot}", deadline))
        for slot in range(soak.sessions)
    ]
    if soak.may_lose:
        arguments = (soak, random.Random(number), deadline)
        threads.append(threading.Thread(target=kill_processes, args=arguments))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wait_for_quiet(soak)
    return measure(soak)


def wait_for_quiet(soak: Soak) -> None:
    """Wait until no session is left."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while any(facts.get("sessions") or facts.get("calls") for facts in soak.describe()):
        if time.monotonic() > deadline:
            soak.problems.append(f"sessions or calls are left: {soak.describe()}")
            return


def find_growth(rounds: list[Taken]) -> list[str]:
    """Return what has grown from the second round on, beyond the margin."""
    early, late = rounds[1], rounds[-1]
    grown = []
    for name, before, after, margin in zip(Taken._fields, early, late, MARGIN, strict=True):
        if after > before + margin:
            grown.append(f"{name} has grown from {before} to {after}")
    return grown


def main() -> int:
    """Return 0 if nothing was wrong."""
    parser = argparse.ArgumentParser(description="sessions of a shared process that come and go")
    parser.add_argument("--seconds", type=float, default=1200.0)
    parser.add_argument("--sessions", type=int, default=20, help="how many at a time")
    parser.add_argument("--wrap", action="store_true", help="share a server of others")
    parser.add_argument("--kill-process", action="store_true", help="kill the shared one, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tw") as folder:
        soak = Soak(options, Path(folder))
        rounds = []
        for number in range(ROUNDS):
            rounds.append(run_round(soak, number))
            print(rounds[-1], dict(soak.counts), flush=True)
            if soak.problems:
                break
        soak.stop()
        problems = list(soak.problems)
        if not soak.may_lose and len(rounds) == ROUNDS:
            problems += find_growth(rounds)
        left = find_processes(soak)
        if left:
            problems.append(f"processes are left: {left}")
            for pid in left:
                os.kill(pid, signal.SIGKILL)
    for problem in problems:
        print(problem)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
