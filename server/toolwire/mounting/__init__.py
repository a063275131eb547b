"""Servers of others, whose tools this server offers as its own."""
