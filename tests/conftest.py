"""Settings that hold for every test."""

from __future__ import annotations

import signal

from hypothesis import settings

# How long an example takes says something about the machine, nothing about the claim.
settings.register_profile("toolwire", deadline=None)
settings.load_profile("toolwire")

# What runs in the background of a script, or under nohup, ignores these signals and passes that on to its children,
# whose handling of them is tested.
for ignored, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(ignored) is signal.SIG_IGN:
        signal.signal(ignored, usual)
