"""Watches over a server whose interpreter may be stuck, and ends it then."""
