"""Results that are too large to send. Imported for the first large one."""
