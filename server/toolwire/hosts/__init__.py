"""Editing other programs' config files."""
