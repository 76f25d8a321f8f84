"""Machines that keep a margin, one closed-form step per example."""
