"""Branches, loops, functions of slices, order of operations."""
