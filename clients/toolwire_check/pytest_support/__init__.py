"""Pytest integration (plugin path stays `contract.pytest_plugin`)."""
