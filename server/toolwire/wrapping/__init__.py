"""A server that wraps one of others: what it changes for hosts, and recordings of the traffic."""
