"""What clients, hosts and model vendors refuse in a tool."""
