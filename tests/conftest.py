"""Settings that hold for every test."""

from __future__ import annotations

from hypothesis import settings

# How long an example takes says something about the machine, nothing about the claim.
settings.register_profile("toolwire", deadline=None)
settings.load_profile("toolwire")
