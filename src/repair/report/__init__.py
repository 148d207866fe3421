"""The report: one HTML file about a fitted model, and optionally its charts as files.

>>> from repair.report import write_report
>>> write_report("report.html", model, calibration, test)  # doctest: +SKIP
"""

from repair.report.write import write_report

__all__ = ["write_report"]
