"""Quantization of the IR: what is stored in which integers, on which scales, and proof of it.

scheme      the schemes, as data: types of results, weights and biases
recipe      what was asked: schemes, exceptions for layers, types of inputs and outputs
rules       what each operator asks of the scales around it: a table
statistics  calibrators: how measured values become a range
calibrate   the range each tensor takes over the representative dataset
fake_quant  ranges that the model or the user states
stated      scales of a source that is quantized already
scales      a range as scale and zero point, float32 numbers as quantized ones
ranges      which scale each tensor gets, from ranges and rules
exact_sums  scales on which the sum with a constant rounds nothing
rewrite     the graph with integer tensors
dynamic     the graph with quantized weights only
blocks      weights with a scale for each block of elements
sparsity    weights of which only what is not zero is stored
cells       recurrent operators on integers: a table, and the tensors for inner scales
directions  recurrent layers in two directions as two operators
unroll      recurrent cells step by step
unroll_loops  the same of loops
softplus    log(1 + exp(x)) on ranges that do not grow with exp(x)
variables   variables that are stored as integers
forms       operators without an integer kernel, written as others by measured ranges
integer_formulas  the same by formulas, before anything is measured
islands     what stays float, why, and its share of the work
check       the quantized file beside its float form
accuracy/   algorithms that lower the error, the search for layers that stay wider
debugger    the error of each result
"""
