"""GoogleScholar: `search.py` is the action, `answers.py` reads what SerpApi answers."""
