"""The browser app: one page a question, on the same engine as the command line."""
