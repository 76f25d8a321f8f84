"""The methods, one family a folder."""
