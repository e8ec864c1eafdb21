"""Graphs of TensorFlow's ops: how they are read, rewritten and run."""
