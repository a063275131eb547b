"""Google Scholar by way of SerpApi: `search.py` is the action, `answers.py` reads, `results.py`
tells.
"""

from .search import GoogleScholar as GoogleScholar
