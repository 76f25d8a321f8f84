"""Support vector machines that learn from a stream."""

__version__ = "0.1.0"
