"""A local page to look at a server, its traffic, a check of it, or the run of an agent."""
