"""Conditions and data of the report, from the work, its feedback and the time. Pure."""
