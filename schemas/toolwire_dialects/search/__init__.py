"""Finds tools by what they do, for models that do not get the whole list."""
