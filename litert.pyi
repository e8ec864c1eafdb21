# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of LiteRT 2 (`ai_edge_litert`): `CompiledModel`, its buffers, the interpreter."""

from .delegates.delegate import Delegate as Delegate
from .delegates.load import load_delegate as load_delegate
from .interpreter.arguments import OpResolverType as OpResolverType
from .interpreter.delegation.with_custom_ops import InterpreterWithCustomOps as InterpreterWithCustomOps
from .interpreter.interpreter import Interpreter as Interpreter
from .interpreter.litert.compiled_model import CompiledModel as CompiledModel
from .interpreter.litert.compiled_options import CpuKernelMode as CpuKernelMode
from .interpreter.litert.compiled_options import CpuOptions as CpuOptions
from .interpreter.litert.compiled_options import Environment as Environment
from .interpreter.litert.compiled_options import EnvironmentOptions as EnvironmentOptions
from .interpreter.litert.compiled_options import GpuOptions as GpuOptions
from .interpreter.litert.compiled_options import HardwareAccelerator as HardwareAccelerator
from .interpreter.litert.compiled_options import IntelOpenVinoOptions as IntelOpenVinoOptions
from .interpreter.litert.compiled_options import Options as Options
from .interpreter.litert.compiled_options import QualcommOptions as QualcommOptions
from .interpreter.litert.tensor_buffer import TensorBuffer as TensorBuffer
from .interpreter.signature import SignatureRunner as SignatureRunner
from .tools.analyzer import ModelAnalyzer as ModelAnalyzer
