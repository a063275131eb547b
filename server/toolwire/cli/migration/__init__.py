"""What `migrate` changes in a file: imports."""
