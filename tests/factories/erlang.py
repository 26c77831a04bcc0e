"""Erlang's formulas for a line of jobs before equal places, as references for simulated waits."""

from math import exp, factorial


def erlang_c(places: int, load: float) -> float:
    """Share of the arrivals that wait (Kleinrock, "Queueing Systems" 1, 3.5); the load is below the places."""
    waiting = load**places / factorial(places) * places / (places - load)
    return waiting / (sum(load**n / factorial(n) for n in range(places)) + waiting)


def waits_longer_probability(places: int, load: float, stay_s: float, wait_s: float) -> float:
    """Probability that an arrival waits longer, in order of arrival; stays are exponential."""
    return erlang_c(places, load) * exp(-(places - load) * wait_s / stay_s)


def mean_wait_s(places: int, load: float, stay_s: float) -> float:
    """Mean wait of all arrivals. [s]"""
    return erlang_c(places, load) * stay_s / (places - load)
