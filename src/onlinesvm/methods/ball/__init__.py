"""Machines whose weights are the centre of a ball around the examples."""
