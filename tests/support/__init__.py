"""Servers, strategies and endpoints that the tests of several folders share; README.md lists the
modules.
"""

from pathlib import Path

SUPPORT = Path(__file__).parent
