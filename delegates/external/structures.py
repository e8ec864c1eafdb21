"""The C structures and functions of TFLite's delegate interface (tflite/core/c/common.h).

tests/support/delegate_layouts.py asks a C++ compiler where LiteRT's headers put each field.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, ClassVar

from .printf import VARIADIC

POINTER = ctypes.c_void_p
TYPES: dict[str, Any] = {
    "bool": ctypes.c_bool,
    "float": ctypes.c_float,
    "int": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "size": ctypes.c_size_t,
    "*": POINTER,
}
"""The C type of each word for one in the texts of structures."""


class Structure(ctypes.Structure):
    """Base of the classes that `structure` makes: an attribute for each field."""

    if TYPE_CHECKING:
        # The attributes are those of a text, each of a type that only the text knows.

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: object) -> None: ...

    ARRAY: ClassVar[int] = 8
    """Elements of a field whose type ends in []."""

    @property
    def address(self) -> int:
        """Where it lies in memory."""
        return ctypes.addressof(self)


def structure(name: str, fields: str) -> type[Structure]:
    """The class of a C structure, from its name and `field:type ...`."""
    pairs = (field.split(":") for field in fields.split())
    return type(name, (Structure,), {"_fields_": [(field, _type(word)) for field, word in pairs]})


def _type(word: str) -> object:
    if word.endswith("[]"):
        return TYPES[word[:-2]] * Structure.ARRAY
    return TYPES[word]


def _structure(name: str, fields: str) -> type[Structure]:
    """A structure that later ones may have as a field."""
    TYPES[name] = cls = structure(name, fields)
    return cls


QuantizationParams = _structure("TfLiteQuantizationParams", "scale:float zero_point:int")
Quantization = _structure("TfLiteQuantization", "type:int params:*")
AffineQuantization = _structure(
    "TfLiteAffineQuantization", "scale:* zero_point:* quantized_dimension:int"
)
Tensor = _structure(
    "TfLiteTensor",
    """type:int data:* dims:* params:TfLiteQuantizationParams allocation_type:int bytes:size
    allocation:* name:* delegate:* buffer_handle:int data_is_stale:bool is_variable:bool
    quantization:TfLiteQuantization sparsity:* dims_signature:*""",
)
NodeStructure = _structure(
    "TfLiteNode",
    """inputs:* outputs:* intermediates:* temporaries:* user_data:* builtin_data:*
    custom_initial_data:* custom_initial_data_size:int delegate:* might_have_side_effect:bool""",
)
Registration = _structure(
    "TfLiteRegistration",
    """init:* free:* prepare:* invoke:* profiling_string:* builtin_code:int custom_name:*
    version:int registration_external:* async_kernel:* inplace_operator:int64""",
)
DelegateStructure = _structure(
    "TfLiteDelegate",
    """data_:* Prepare:* CopyFromBufferHandle:* CopyToBufferHandle:* FreeBufferHandle:*
    flags:int64 opaque_delegate_builder:*""",
)
DelegateParams = _structure(
    "TfLiteDelegateParams", "delegate:* nodes_to_replace:* input_tensors:* output_tensors:*"
)
Context = _structure(
    "TfLiteContext",
    """tensors_size:size GetExecutionPlan:* tensors:* impl_:* ResizeTensor:* ReportError:*
    AddTensors:* GetNodeAndRegistration:* ReplaceNodeSubsetsWithDelegateKernels:*
    recommended_num_threads:int GetExternalContext:* SetExternalContext:*
    allow_fp32_relax_to_fp16:bool profiler:* AllocatePersistentBuffer:* AllocateBufferForEval:*
    RequestScratchBufferInArena:* GetScratchBuffer:* ResizeTensorExplicit:*
    PreviewDelegatePartitioning:* GetTensor:* GetEvalTensor:* GetModelMetadata:*
    AcquireSubgraphContext:* ReleaseSubgraphContext:*""",
)

OK, ERROR = 0, 1
STATUSES = (
    *("kTfLiteOk", "kTfLiteError", "kTfLiteDelegateError", "kTfLiteApplicationError"),
    *("kTfLiteDelegateDataNotFound", "kTfLiteDelegateDataWriteError"),
    *("kTfLiteDelegateDataReadError", "kTfLiteUnresolvedOps", "kTfLiteCancelled"),
    "kTfLiteOutputShapeNotKnown",
)
MMAP_RO, ARENA_RW = 1, 2
"""Allocation types of tensors."""
AFFINE = 1
"""The quantization type of scales and zero points."""
NO_BUFFER_HANDLE = -1
NO_TENSOR = -1
"""The index of an omitted input."""
BUILTIN_CUSTOM = 32
N_EXTERNAL_CONTEXTS = 5
ELEMENT_TYPES = (
    *("", "float32", "int32", "uint8", "int64", "", "bool", "int16", "complex64", "int8"),
    *("float16", "float64", "complex128", "uint64", "", "", "uint32", "uint16", "int4"),
    *("bfloat16", "int2", "uint4", "float8_e4m3fn", "float8_e5m2"),
)
"""Names of dtypes by value of TfLiteType; "" for what is no array of numbers."""

_C, _INT, _OUT = POINTER, ctypes.c_int, POINTER
SIGNATURES: dict[str, tuple[Any, ...]] = {
    "GetExecutionPlan": (_INT, _C, _OUT),
    "ResizeTensor": (_INT, _C, POINTER, POINTER),
    "ReportError": (None, _C, POINTER, *VARIADIC),
    "AddTensors": (_INT, _C, _INT, _OUT),
    "GetNodeAndRegistration": (_INT, _C, _INT, _OUT, _OUT),
    "ReplaceNodeSubsetsWithDelegateKernels": (_INT, _C, Registration, POINTER, POINTER),
    "GetExternalContext": (POINTER, _C, _INT),
    "SetExternalContext": (None, _C, _INT, POINTER),
    "ResizeTensorExplicit": (_INT, _C, POINTER, _INT, POINTER),
    "PreviewDelegatePartitioning": (_INT, _C, POINTER, _OUT, _OUT),
    "GetModelMetadata": (_INT, _C, POINTER, _OUT, _OUT),
    "AcquireSubgraphContext": (_INT, _C, _INT, _OUT),
    "ReleaseSubgraphContext": (_INT, _C, _INT),
}
"""Result and arguments of the functions that a delegate finds in its context."""

PREPARE = ctypes.CFUNCTYPE(_INT, _C, POINTER)
"""Of a delegate, and prepare and invoke of its kernel."""
INIT = ctypes.CFUNCTYPE(POINTER, _C, POINTER, ctypes.c_size_t)
FREE = ctypes.CFUNCTYPE(None, _C, POINTER)
COPY_FROM = ctypes.CFUNCTYPE(_INT, _C, POINTER, _INT, POINTER)
