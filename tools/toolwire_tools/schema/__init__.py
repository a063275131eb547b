"""Python types ↔ JSON Schema, validators, plain JSON data."""
