# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.quantization`: floats rounded to what integers hold."""

from ...graph.functions.quantized import dequantize as dequantize
from ...graph.functions.quantized import fake_quant_with_min_max_args as fake_quant_with_min_max_args
from ...graph.functions.quantized import fake_quant_with_min_max_args_gradient as fake_quant_with_min_max_args_gradient
from ...graph.functions.quantized import fake_quant_with_min_max_vars as fake_quant_with_min_max_vars
from ...graph.functions.quantized import fake_quant_with_min_max_vars_gradient as fake_quant_with_min_max_vars_gradient
from ...graph.functions.quantized import fake_quant_with_min_max_vars_per_channel as fake_quant_with_min_max_vars_per_channel
from ...graph.functions.quantized import fake_quant_with_min_max_vars_per_channel_gradient as fake_quant_with_min_max_vars_per_channel_gradient
from ...graph.functions.quantized import quantize as quantize
from ...graph.functions.quantized import quantize_and_dequantize as quantize_and_dequantize
from ...graph.functions.quantized import quantize_and_dequantize_v2 as quantize_and_dequantize_v2
from ...graph.functions.quantized import quantized_concat as quantized_concat
