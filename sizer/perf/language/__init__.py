"""Training of transformers: work, traffic and step time from shape, layout and machine. Arrays throughout."""
