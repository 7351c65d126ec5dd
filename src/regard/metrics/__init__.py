"""Numbers from strings and integers."""
