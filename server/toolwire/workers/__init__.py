"""Calls of our own tools in other processes, on this machine or on a cluster."""
