"""A Jupyter session: `action.py` is the action, `kernel.py` the process behind it, `cell.py` what
came of some code.
"""

from .action import IPythonInterpreter as IPythonInterpreter
