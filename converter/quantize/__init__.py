"""Quantization of the IR: what to store in 8 bits, on which scales, and proof that it works.

recipe      what was asked: dynamic range or int8, types of inputs and outputs
rules       how each operator is quantized: a table
calibrate   the range each tensor takes over the representative dataset
scales      a range as scale and zero point, float32 numbers as quantized ones
ranges      which scale each tensor gets, ranges and rules given
rewrite     the graph with int8 tensors
dynamic     the graph with int8 weights only
check       the quantized file beside its float form
"""
