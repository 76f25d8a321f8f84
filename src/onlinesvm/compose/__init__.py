"""Estimators built from others: pipelines, columns, calibration, drift, banks, labelling."""
