"""Serving of language models: bytes, seconds of a step, and the closed loop of requests, as array functions."""
