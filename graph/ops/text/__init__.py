"""Rows of strings, parsing, files and summaries."""
