"""Runs calls: session, thread pool, event loop, writer."""
