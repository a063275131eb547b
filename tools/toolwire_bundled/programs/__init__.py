"""Programs in the sandbox of `PythonInterpreter` that call tools through a door."""
