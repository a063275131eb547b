"""Hides secrets in what is kept: recordings, transcripts, traffic and reports."""
