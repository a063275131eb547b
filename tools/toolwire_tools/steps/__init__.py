"""Multi-agent tool library: step executors, instructions, configured tools."""
