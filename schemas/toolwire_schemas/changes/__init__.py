"""What changed between two lists of tools, and whom that breaks."""
