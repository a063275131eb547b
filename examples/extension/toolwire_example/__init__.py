"""An example of each kind of extension of Toolwire."""
