# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.compat.v1.lite`; but for the converter they are those of `flatlite.lite`."""

from ... import experimental as experimental
from ...converter.api.converter_v1 import TFLiteConverter as TFLiteConverter
from ...converter.api.options import OpsSet as OpsSet
from ...converter.api.options import Optimize as Optimize
from ...converter.api.options import RepresentativeDataset as RepresentativeDataset
from ...converter.api.options import TargetSpec as TargetSpec
from ...converter.api.options import constants as constants
from ...converter.api.raised import RaisedModel as RaisedModel
from ...converter.api.raised import to_graph as to_graph
from ...converter.api.toco import TocoConverter as TocoConverter
from ...converter.api.toco import toco_convert as toco_convert
from ...converter.ophint.ophint import OpHint as OpHint
from ...delegates.delegate import Delegate as Delegate
from ...delegates.load import load_delegate as load_delegate
from ...engine.run.limits import Limits as Limits
from ...interpreter.arguments import OpResolverType as OpResolverType
from ...interpreter.delegation.with_custom_ops import InterpreterWithCustomOps as InterpreterWithCustomOps
from ...interpreter.interpreter import Interpreter as Interpreter
from ...interpreter.signature import SignatureRunner as SignatureRunner
from ...schema.custom_ops import custom_op as custom_op
from ...schema.custom_ops import kernel as kernel
