"""What a running tool can do: progress, log, cancel, elicit."""
