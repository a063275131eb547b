"""ArxivSearch: `search.py` is the action, `feed.py` reads what arXiv answers."""
