"""Calls that another process answers."""
