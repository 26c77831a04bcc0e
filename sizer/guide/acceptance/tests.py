"""Acceptance tests of a design: what to run, what to expect, and the limit that passes."""

from dataclasses import replace

from sizer.guide.acceptance.limits import AcceptanceTest as AcceptanceTest
from sizer.guide.acceptance.parts import network_tests, parts_tests, storage_tests
from sizer.guide.acceptance.runs import power_tests, training_tests
from sizer.sizing.design.evaluated_design import EvaluatedDesign


def acceptance_tests(evaluated: EvaluatedDesign) -> tuple[AcceptanceTest, ...]:
    """Tests of a design, in the order in which they are run: from parts and links to training and power.

    A limit is the end of the 90 % interval on the side that counts, which one run in twenty of a sound system misses;
    or a line rate times a share that was reached; or a count. It is never laxer than the requirement of the design, and
    never stricter than what the ports of the test pass (:class:`~sizer.guide.acceptance.limits.Criterion`). Where the
    catalogue does not hold the parts of an answer, tests that need the rate of one GPU, one server or the storage alone
    are left out.

    Those of training once a workload, their keys then numbered. Sources are keys of the catalogue.
    """
    result, catalog, fitted = evaluated.result, evaluated.catalog, evaluated.calibration
    design, known = result.design, evaluated.workloads
    found = (
        *parts_tests(design),
        *network_tests(design, fitted),
        *storage_tests(design, known, result.request.data),
        *training_tests(design, known),
        *power_tests(design),
    )
    return tuple(
        replace(test, sources=tuple(key for key in dict.fromkeys(test.sources) if key in catalog.sources))
        for test in found
    )
