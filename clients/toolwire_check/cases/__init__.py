"""Playing contract cases against a process."""
