"""The command line; the only place that may import `toolwire_client`."""
