"""Metrics of rankings, ``evaluate``, held-out gains, and the head–tail frontier."""
