"""The chapters of the guide, one module each: it prepares what its section under ``reports/sections/`` prints."""
