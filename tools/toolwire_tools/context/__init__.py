"""The context of a running tool: progress, log, cancellation, elicitation."""
