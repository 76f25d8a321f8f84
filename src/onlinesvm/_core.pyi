"""The compiled core of onlinesvm."""
