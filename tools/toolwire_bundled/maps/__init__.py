"""Maps: `map.py` is the action; a file for each service says what it is asked, and reads what it
answers.

`nominatim.py` knows where places are, `osrm.py` the way between them, `overpass.py` what is nearby,
by name or by the kinds of `kinds.py`.
"""

from .map import BINGMap as BINGMap
