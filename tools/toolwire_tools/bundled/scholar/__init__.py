"""Google Scholar by way of SerpApi: `search.py` is the action, `answers.py` reads what SerpApi answers."""

from .search import GoogleScholar as GoogleScholar
