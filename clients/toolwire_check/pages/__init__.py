"""Checks and differences of tools as HTML, and the badge of a check."""
