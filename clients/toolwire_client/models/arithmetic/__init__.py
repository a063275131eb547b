"""An offline stand-in for a language model, for `toolwire demo` and `--model arithmetic`: solves one expression.

`expressions.py` reads the question, `calculators.py` finds the tool for an operation, `chat.py` speaks the protocols.
"""

from .chat import ArithmeticModel as ArithmeticModel
