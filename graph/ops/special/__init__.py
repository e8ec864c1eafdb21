"""Rows of special functions."""
