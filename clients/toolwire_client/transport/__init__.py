"""Byte pipes to a server: subprocess, in memory."""
