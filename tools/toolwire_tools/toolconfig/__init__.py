"""Tools described in YAML: document, model, command templates."""
