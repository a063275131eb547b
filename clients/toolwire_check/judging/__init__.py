"""Judge what a server sent, without I/O."""
