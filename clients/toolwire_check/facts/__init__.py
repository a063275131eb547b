"""Find the facts about a server, and the calls that cases can make."""
