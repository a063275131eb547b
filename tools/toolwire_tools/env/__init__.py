"""Groot compatibility: Env over any source of tools."""
