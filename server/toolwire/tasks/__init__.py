"""Calls that outlive their requests. Imported for the first client that can have tasks."""
