"""The version of Toolwire."""

__version__ = "0.1.0"
