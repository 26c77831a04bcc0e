"""Facts of a design in words: its storage tiers."""
