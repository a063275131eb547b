"""Python code in a process of its own, as far from everything else as the system allows."""

from .action import CodeExecutor as CodeExecutor
from .action import PythonInterpreter as PythonInterpreter
