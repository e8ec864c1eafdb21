"""Algorithms that lower the error of a quantized model, and the search for what stays wider.

algorithms       what there is, by name, and its parameters
linear           operators with weights as matrices, their inputs as rows
channels         where a factor for each channel passes from one operator's weights to another's
observe          the inputs of operators while a model runs on samples
equalization     cross-layer equalization, SmoothQuant
rotation         Hadamard rotations that are folded into weights
recovery         weights that lie on a grid already
rounding         one operator after the other: which integers its weights become
adaround, gptq   how these are chosen
tuning           all of it in its order
budget           which layers stay wider so that a metric holds
"""
