"""Kernel learners that keep a fixed number of examples, however long the stream is."""
