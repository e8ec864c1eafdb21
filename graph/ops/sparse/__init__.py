"""Rows of sparse and ragged tensors and of sets."""
