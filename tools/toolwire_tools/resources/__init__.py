"""Resources, which clients read, and prompts, which their users choose."""
