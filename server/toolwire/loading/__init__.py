"""From a target on the command line to `Tool`s, and reload."""
