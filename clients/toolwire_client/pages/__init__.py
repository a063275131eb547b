"""HTML and Markdown of results, checks, changes and runs, to read in a browser or in a pull
request. No scripts.
"""
