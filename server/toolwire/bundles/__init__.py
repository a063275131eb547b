"""The bundles that `toolwire pack` makes."""
