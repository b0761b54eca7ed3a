"""Measurements, as ratios in one run wherever there is something to stand beside. A number here is no test."""
