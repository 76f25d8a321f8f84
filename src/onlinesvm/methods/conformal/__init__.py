"""Prediction sets with a guarantee and no calibration split: full conformal prediction."""
