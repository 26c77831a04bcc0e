"""Conversion constants and functions. Inside the program everything is SI: B, B/s, s, W, kg, m, FLOP."""

KIB, MIB, GIB, TIB = 2.0**10, 2.0**20, 2.0**30, 2.0**40
MINUTE_S, HOUR_S, DAY_S, WEEK_S = 60.0, 3600.0, 86_400.0, 604_800.0
BITS_PER_BYTE = 8


def bytes_per_s_from_gbit_per_s(gbit_per_s: float) -> float:
    """Rate in B/s of a link given in Gbit/s (decimal)."""
    return gbit_per_s * 1e9 / BITS_PER_BYTE


def gbit_per_s_from_bytes_per_s(bytes_per_s: float) -> float:
    """Rate in Gbit/s (decimal) of a rate in B/s."""
    return bytes_per_s * BITS_PER_BYTE / 1e9
