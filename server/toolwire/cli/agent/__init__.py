"""What `ask` and `chat` share: the options of an agent, its servers and its run."""
