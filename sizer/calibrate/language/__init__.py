"""Published training rates of language models: rows, the fit to them, predictions and their accuracy."""
