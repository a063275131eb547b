"""Play the cases, and make the verdicts."""
