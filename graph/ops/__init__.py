"""Rows of TensorFlow's ops by family; see registry.py for what a row is."""
