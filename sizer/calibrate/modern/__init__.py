"""Rates and times to train of MLPerf networks on today's accelerators: rows, joint fit, prediction, checks."""
