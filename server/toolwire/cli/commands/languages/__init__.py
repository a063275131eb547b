"""The commands for hosts in other languages."""
