"""One process for all sessions of a user that start the same server."""
