"""Bytes ↔ JSON-RPC messages: framing, codec, envelopes, codes; no I/O."""
