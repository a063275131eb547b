"""Decides what each message means; no I/O, no threads."""
