"""What a sentence says about a transformer: its parallel layout, experts, several trainings, misspelt names."""
