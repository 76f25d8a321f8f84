"""Machines that follow the gradient of a regularised loss, one short step per example."""
