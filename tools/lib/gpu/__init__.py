"""The report of a GPU (tools/gpu_report) and what it is compared with: gpu/README.md."""

from __future__ import annotations


class StepError(Exception):
    """One line: why a step of the report, or a part of it, came to nothing."""
