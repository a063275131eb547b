"""The text of a model's reply: the schema that constrains it, and how it is read."""
