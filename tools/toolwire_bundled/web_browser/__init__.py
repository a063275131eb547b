"""Searching the web and reading its pages: `browser.py` is the action, `engines.py` has what it
searches with.
"""

from .browser import BingBrowser as BingBrowser
from .browser import WebBrowser as WebBrowser
from .browser import WebSearch as WebSearch
