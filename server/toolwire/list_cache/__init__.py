"""What servers listed last time, for clients that need lists before a server is ready."""
