"""Workers on the nodes of an engine, such as a Dask cluster or an executor."""
