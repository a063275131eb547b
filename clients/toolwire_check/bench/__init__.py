"""Measures any server next to a bare loop: start, time of a call, throughput, memory."""
