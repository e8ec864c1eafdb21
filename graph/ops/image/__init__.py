"""Kernels of images: sizes, colours, crops, boxes and files."""
