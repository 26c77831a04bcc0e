"""Published rates of serving language models: rows, the fit to them, predictions and their accuracy."""
