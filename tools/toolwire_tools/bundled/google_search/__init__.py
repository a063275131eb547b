"""Google by way of Serper: `search.py` is the action, `serper.py` the service, `snippets.py` what is told of it."""

from .search import GoogleSearch as GoogleSearch
