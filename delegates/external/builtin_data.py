"""What a builtin operator's options are in C (tflite/core/c/builtin_op_data.h)."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...schema.dtypes import numpy_dtype
from .structures import ELEMENT_TYPES, Structure, structure

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...schema.record import Record

_ROWS = """
AddParams ADD: activation pot_scale_int16:bool
ArgMaxParams ARG_MAX ARG_MIN: output_type:dtype
BatchMatMulParams BATCH_MATMUL: adj_x:bool adj_y:bool asymmetric_quantize_inputs:bool
BidirectionalSequenceLSTMParams BIDIRECTIONAL_SEQUENCE_LSTM: activation cell_clip:float
  proj_clip:float merge_outputs:bool time_major:bool asymmetric_quantize_inputs:bool
BidirectionalSequenceRNNParams BIDIRECTIONAL_SEQUENCE_RNN: time_major:bool activation
  merge_outputs:bool asymmetric_quantize_inputs:bool
CastParams CAST: in_data_type:dtype out_data_type:dtype
ConcatenationParams CONCATENATION: axis:int activation
Conv3DParams CONV_3D CONV_3D_TRANSPOSE: padding:padding stride_width:int=stride_w
  stride_height:int=stride_h stride_depth:int=stride_d dilation_width_factor:int=dilation_w_factor
  dilation_height_factor:int=dilation_h_factor dilation_depth_factor:int=dilation_d_factor
  activation
ConvParams CONV_2D: padding:padding stride_width:int=stride_w stride_height:int=stride_h
  activation dilation_width_factor:int=dilation_w_factor
  dilation_height_factor:int=dilation_h_factor quantized_bias_type:dtype
CumsumParams CUMSUM: exclusive:bool reverse:bool
DepthToSpaceParams DEPTH_TO_SPACE: block_size:int
DepthwiseConvParams DEPTHWISE_CONV_2D: padding:padding stride_width:int=stride_w
  stride_height:int=stride_h depth_multiplier:int activation
  dilation_width_factor:int=dilation_w_factor dilation_height_factor:int=dilation_h_factor
DivParams DIV: activation
EmbeddingLookupSparseParams EMBEDDING_LOOKUP_SPARSE: combiner:int
FakeQuantParams FAKE_QUANT: min:float max:float num_bits:int narrow_range:bool
FullyConnectedParams FULLY_CONNECTED: activation weights_format:int keep_num_dims:bool
  asymmetric_quantize_inputs:bool quantized_bias_type:dtype
GatherParams GATHER: axis:int batch_dims:int
GeluParams GELU: approximate:bool
L2NormParams L2_NORMALIZATION: activation
LSHProjectionParams LSH_PROJECTION: type:int
LSTMParams LSTM: activation cell_clip:float proj_clip:float kernel_type:int
  asymmetric_quantize_inputs:bool
LeakyReluParams LEAKY_RELU: alpha:float
LocalResponseNormParams LOCAL_RESPONSE_NORMALIZATION: radius:int bias:float alpha:float beta:float
MirrorPaddingParams MIRROR_PAD: mode:padding
MulParams MUL: activation
OneHotParams ONE_HOT: axis:int
PackParams PACK: values_count:int axis:int
PoolParams AVERAGE_POOL_2D L2_POOL_2D MAX_POOL_2D: padding:padding stride_width:int=stride_w
  stride_height:int=stride_h filter_width:int filter_height:int activation computed:zeros
RNNParams RNN: activation asymmetric_quantize_inputs:bool
ReduceWindowParams REDUCE_WINDOW: reduce_function:int
ReducerParams MEAN REDUCE_ALL REDUCE_ANY REDUCE_MAX REDUCE_MIN REDUCE_PROD SUM: keep_dims:bool
ReshapeParams RESHAPE: shape:ints=new_shape num_dimensions:count=new_shape
ResizeBilinearParams RESIZE_BILINEAR: align_corners:bool half_pixel_centers:bool
ResizeNearestNeighborParams RESIZE_NEAREST_NEIGHBOR: align_corners:bool half_pixel_centers:bool
ReverseSequenceParams REVERSE_SEQUENCE: seq_dim:int batch_dim:int
SVDFParams SVDF: rank:int activation asymmetric_quantize_inputs:bool
SequenceRNNParams UNIDIRECTIONAL_SEQUENCE_RNN: time_major:bool activation
  asymmetric_quantize_inputs:bool
ShapeParams SHAPE: out_type:dtype
SkipGramParams SKIP_GRAM: ngram_size:int max_skip_size:int include_all_ngrams:bool
SoftmaxParams SOFTMAX: beta:float
SpaceToDepthParams SPACE_TO_DEPTH: block_size:int
SparseToDenseParams SPARSE_TO_DENSE: validate_indices:bool
SplitParams SPLIT: num_splits:int
SplitVParams SPLIT_V: num_splits:int
SqueezeParams SQUEEZE: squeeze_dims:ints num_squeeze_dims:count=squeeze_dims
StridedSliceParams STRIDED_SLICE: begin_mask:int end_mask:int ellipsis_mask:int new_axis_mask:int
  shrink_axis_mask:int offset:bool
SubParams SUB: activation pot_scale_int16:bool
TransposeConvParams TRANSPOSE_CONV: padding:padding stride_width:int=stride_w
  stride_height:int=stride_h activation quantized_bias_type:dtype
UnidirectionalSequenceLSTMParams UNIDIRECTIONAL_SEQUENCE_LSTM: activation cell_clip:float
  proj_clip:float time_major:bool asymmetric_quantize_inputs:bool diagonal_recurrent_tensors:bool
UniqueParams UNIQUE: index_out_type:dtype=idx_out_type
UnpackParams UNPACK: num:int axis:int
"""
"""Structure (without TfLite), operators: its fields, each with a kind and the field of the schema.

Both are left out of `activation`, the latter where the names are equal.
"""
WITHOUT_ROW = frozenset(
    [
        "BUCKETIZE",
        "CALL_ONCE",
        "HASHTABLE",
        "IF",
        "MULTINOMIAL",
        "RANDOM_STANDARD_NORMAL",
        "RANDOM_UNIFORM",
        "STABLEHLO_CASE",
        "STABLEHLO_COMPOSITE",
        "STABLEHLO_GATHER",
        "STABLEHLO_PAD",
        "STABLEHLO_REDUCE_WINDOW",
        "STABLEHLO_RNG_BIT_GENERATOR",
        "STABLEHLO_SCATTER",
        "VAR_HANDLE",
        "WHILE",
    ]
)
"""Operators that have a structure in C, which is not here: no library is shown them."""


class Kind(NamedTuple):
    """What a kind of field is in C, and its value from the schema's."""

    word: str
    convert: Callable[[Any], object]


def element_type(dtype: np.dtype) -> int:
    """The TfLiteType of a dtype; 0 for what a C library cannot take as an array."""
    name = str(dtype)
    return ELEMENT_TYPES.index(name) if name in ELEMENT_TYPES else 0


def _ints(value: np.ndarray | None) -> object:
    numbers = () if value is None else np.asarray(value).tolist()
    return (ctypes.c_int32 * Structure.ARRAY)(*numbers[: Structure.ARRAY])


KINDS: dict[str, Kind] = {
    "activation": Kind("int", int),
    "bool": Kind("bool", bool),
    "count": Kind("int", lambda value: 0 if value is None else len(value)),
    "dtype": Kind("int", lambda value: element_type(numpy_dtype(value))),
    "float": Kind("float", float),
    "int": Kind("int", int),
    "ints": Kind("int[]", _ints),
    "padding": Kind("int", lambda value: 1 + value),
}


class Row(NamedTuple):
    """How an operator's options become a structure.

    Attributes:
        cls: the structure.
        fields: field of the structure, field of the schema, what makes the one of the other.
    """

    cls: type[Structure]
    fields: tuple[tuple[str, str, Callable[[Any], object]], ...]

    def data(self, options: Record) -> Structure:
        """The structure of an operator with these options."""
        values = {name: convert(getattr(options, of)) for name, of, convert in self.fields}
        return self.cls(**values)


def _rows() -> dict[str, Row]:
    rows: dict[str, Row] = {}
    for line in _ROWS.strip().replace("\n ", "").split("\n"):
        head, _, text = line.partition(":")
        name, *kinds = head.split()
        fields: list[tuple[str, str, Callable[[Any], object]]] = []
        words: list[str] = []
        for field in text.split():
            c_name, _, kind = field.partition(":")
            kind, _, schema_name = (kind or "activation=fused_activation_function").partition("=")
            if kind == "zeros":  # four numbers that the kernel fills in when it is prepared
                words += [f"{c_name}_{i}:int" for i in range(4)]
                continue
            words.append(f"{c_name}:{KINDS[kind].word}")
            fields.append((c_name, schema_name or c_name, KINDS[kind].convert))
        row = Row(structure(f"TfLite{name}", " ".join(words)), tuple(fields))
        rows.update(dict.fromkeys(kinds, row))
    return rows


ROWS = _rows()
"""Operator -> its Row; every other one but WITHOUT_ROW has no data in C."""
