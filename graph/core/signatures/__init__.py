"""Operands and attributes of every op, and what is checked when it is built."""
