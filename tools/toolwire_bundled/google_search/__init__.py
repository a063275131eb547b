"""Google through Serper: `search.py` is the action, `serper.py` the service, `format.py` makes text
of its answers.
"""

from .search import GoogleSearch as GoogleSearch
