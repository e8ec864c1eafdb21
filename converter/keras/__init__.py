"""Keras models from their files: architecture to a graph, layer by layer, without Keras."""
