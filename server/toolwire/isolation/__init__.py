"""Tools that run in worker processes."""
