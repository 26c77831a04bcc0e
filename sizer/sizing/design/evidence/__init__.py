"""Published runs that are nearest to a design."""
