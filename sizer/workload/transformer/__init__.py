"""Language models of the request: their shape, and what is fixed of their parallel layout."""
