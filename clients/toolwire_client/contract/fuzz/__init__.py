"""Property-based calls."""
