"""Calibration: from published observations to the numbers that performance functions take."""
