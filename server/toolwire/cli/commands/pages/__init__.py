"""Commands that show things in a browser."""
