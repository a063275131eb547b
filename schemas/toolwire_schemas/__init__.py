"""The contract both ends share: message shapes, error codes, JSON codec and framing. No I/O."""
