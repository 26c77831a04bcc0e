"""The chapters of the engineer's file, one module each: the evidence behind the guide."""
