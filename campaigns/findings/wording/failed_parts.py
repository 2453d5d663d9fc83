"""The parts of an analysis that failed. Pure."""

from campaigns.findings.values import FailedParts

LABELS = {
    "brief": "Values of {}",
    "cells": "Values of {}",
    "density": "Distribution of {}",
    "drift": "Drift of {}",
    "matrix": "Interaction of two factors",
    "percentiles": "Percentiles",
    "phases": "Phases",
    "sensitivity": "Sensitivity",
    "usl": "Scalability",
    "with_excluded": "The answer with excluded runs",
    "within_blocks": "Changes within blocks",
}


def failed_parts(finding: FailedParts) -> list[str]:
    """Return a line for each failed part: what it is, and the error."""
    return [f"{label_of(part.name)}: {part.error}" for part in finding.parts]


def label_of(name: str) -> str:
    """Return the label of a finding that may fail alone."""
    kind, _, metric = name.partition(":")
    return LABELS[kind].format(metric.replace("_", " "))
