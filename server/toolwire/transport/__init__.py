"""This process's descriptors, signals and exit."""
