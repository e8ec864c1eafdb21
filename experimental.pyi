# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.lite.experimental`, as `flatlite.lite.experimental`."""

from .compat.v1 import lite_experimental_nn as nn
from .converter.api import authoring as authoring
from .converter.api.toco import get_potentially_supported_ops as get_potentially_supported_ops
from .converter.ophint.stubs import convert_op_hints_to_stubs as convert_op_hints_to_stubs
from .converter.quantize.accuracy.budget import AccuracyBudget as AccuracyBudget
from .converter.quantize.debugger import QuantizationDebugOptions as QuantizationDebugOptions
from .converter.quantize.debugger import QuantizationDebugger as QuantizationDebugger
from .delegates.load import load_delegate as load_delegate
from .interpreter.arguments import OpResolverType as OpResolverType
from .tools.analyzer import ModelAnalyzer as Analyzer
