"""Tools written for other libraries, as tools of Toolwire: one room for each library."""
