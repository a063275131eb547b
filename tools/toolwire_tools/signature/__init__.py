"""A callable read once: parameters, docstring, argument binding, return value."""
