"""Articles on arXiv: `search.py` is the action, `feed.py` reads what arXiv answers."""

from .search import ArxivSearch as ArxivSearch
