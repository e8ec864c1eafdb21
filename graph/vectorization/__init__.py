"""Functions of one row as functions of all rows at once."""
