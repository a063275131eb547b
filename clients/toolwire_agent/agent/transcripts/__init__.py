"""Recorded sessions: their file, and how a session is repeated or continued from it."""
