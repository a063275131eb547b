"""Lagent compatibility: BaseAction, executor, parsers, hooks."""
