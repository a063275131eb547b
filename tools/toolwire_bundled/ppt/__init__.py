"""Presentations: `ppt.py` is the action, `deck.py` one presentation in the making, `themes.py` how
it looks.
"""

from .ppt import PPT as PPT
