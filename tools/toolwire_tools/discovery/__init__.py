"""Which tools an object, class or module offers."""
