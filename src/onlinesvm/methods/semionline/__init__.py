"""Semi-online machines: batch solvers that meet the stream chunk by chunk."""
