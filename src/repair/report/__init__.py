"""The report: one HTML file to look at, and its figures as files.

>>> from repair.report import write_report
>>> write_report("report.html", model, calibration, test)  # doctest: +SKIP
"""

from repair.report.write import write_report

__all__ = ["write_report"]
