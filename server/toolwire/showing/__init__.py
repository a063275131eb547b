"""Chooses what a list shows of many tools: all of them, or a search and those that are pinned."""
