"""What every shelf needs of JSON Schema: walking sub-schemas, portable regexes, validation
messages.
"""
