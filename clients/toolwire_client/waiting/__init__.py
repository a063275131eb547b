"""How to block: thread backend, event-loop backend, deadlines."""
