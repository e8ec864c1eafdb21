"""What is said of operations that have no lowering, all of them at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ...schema.errors import UnsupportedOps
from ...schema.tables import BUILTIN_OPERATOR

MAX_SHOWN = 8  # kinds of operations listed in an error message
VERSION = re.compile(r"(V\d+|Op)$")
BUILTINS = {VERSION.sub("", name.replace("_", "")): name for name in BUILTIN_OPERATOR}
OTHERWISE_NAMED = {
    "BatchToSpace": "BATCH_TO_SPACE_ND",
    "BitShift": "RIGHT_SHIFT",
    "Conv3DBackpropInput": "CONV_3D_TRANSPOSE",
    "ConvInteger": "CONV_2D",
    "ConvTranspose": "TRANSPOSE_CONV",
    "DFT": "RFFT2D",
    "DequantizeLinear": "DEQUANTIZE",
    "InitializeTable": "HASHTABLE_IMPORT",
    "LRN": "LOCAL_RESPONSE_NORMALIZATION",
    "LSTM": "UNIDIRECTIONAL_SEQUENCE_LSTM",
    "LookupTableFind": "HASHTABLE_FIND",
    "LookupTableImport": "HASHTABLE_IMPORT",
    "LookupTableSize": "HASHTABLE_SIZE",
    "Loop": "WHILE",
    "LpNormalization": "L2_NORMALIZATION",
    "LpPool": "L2_POOL_2D",
    "MatMulInteger": "BATCH_MATMUL",
    "MaxPool": "MAX_POOL_2D",
    "NonZero": "WHERE",
    "QLinearConv": "CONV_2D",
    "QLinearMatMul": "BATCH_MATMUL",
    "QuantizeLinear": "QUANTIZE",
    "RFFT": "RFFT2D",
    "RNN": "UNIDIRECTIONAL_SEQUENCE_RNN",
    "RandomNormal": "RANDOM_STANDARD_NORMAL",
    "RandomNormalLike": "RANDOM_STANDARD_NORMAL",
    "RandomUniformLike": "RANDOM_UNIFORM",
    "Resize": "RESIZE_BILINEAR",
    "Scan": "WHILE",
    "SpaceToBatch": "SPACE_TO_BATCH_ND",
    "Upsample": "RESIZE_NEAREST_NEIGHBOR",
}
"""Operations whose builtin has another name."""

NO_TEXTS = "TFLite has no operators that change texts"
MICROSOFT = {
    "it runs a decoder until texts end; convert the decoder, and search in the program": """
        BeamSearch GreedySearch Sampling WhisperBeamSearch
    """,
    "it compares texts that a decoder proposes; do this in the program": """
        BifurcationDetector ConvStateReplay GatedDeltaNetStateReplay Mamba2Verify
        SpeculativePrefixCommit
    """,
    NO_TEXTS: """
        MurmurHash3 Tokenizer
    """,
    "it is compiled for another runtime": """
        EPContext Snpe
    """,
    "it is of training": """
        BitmaskBiasDropout BitmaskDropout
    """,
    "its rows of several lengths lie one after another; export them padded": """
        PackedAttention PackedMultiHeadAttention PagedAttention RemovePadding RestorePadding
        SparsePagedAttention VarlenCausalConvWithState VarlenNGramHashMapping
    """,
    "its layout is that of a graphics processor; export the model for processors": """
        DequantizeWithOrder GemmFloat8 MatMulBlockQuantizedFp4Weight
        MatMulBlockQuantizedFp8Weight MatMulNBitsMlp MatMulNBitsQLoRA MatMulNBitsQkv
        MatMulPacked MoEPacked PackedSparseAttentionIndexer PackedSparseAttentionIndexerMerge
        QOrderedAttention QOrderedGelu QOrderedLayerNormalization QOrderedLongformerAttention
        QOrderedMatMul QuantizeWithOrder RouterGateUpProj RMSNormRotary SparseAttentionIndexer
    """,
    "its numbers are packed in a way that ONNX Runtime alone has": """
        DequantizeBFP GatherPacked MatMulFpQ4 QuantizeBFP
    """,
    "TFLite has no sparse tensors that are computed": """
        SparseToDenseMatMul
    """,
    "its path is searched step by step; do this in the program": """
        DynamicTimeWarping
    """,
    "its beams and buffers have no kernel on processors": """
        DecoderAttention DecoderMaskedSelfAttention DynamicSparseAttention LongformerAttention
    """,
    "it is internal to ONNX Runtime": """
        MaxpoolWithMask
    """,
}
"""Operators of com.microsoft that have no meaning in TFLite, by the reason."""
REASONS = {
    "ImageDecoder": "decode images before the model runs",
    "RegexFullMatch": NO_TEXTS,
    "StringConcat": NO_TEXTS,
    "StringSplit": NO_TEXTS,
    "ai.onnx.ml.CastMap": "TFLite has no maps",
    "ai.onnx.ml.DictVectorizer": "TFLite has no maps",
    "ai.onnx.preview.training.Gradient": "it is of training",
    **{
        f"com.microsoft.{name}": reason
        for reason, names in MICROSOFT.items()
        for name in names.split()
    },
}
"""Operators of ONNX that have no meaning in TFLite, and why."""

CONTROL = ("Switch", "Merge", "Enter", "Exit", "LoopCond", "NextIteration")
"""What TensorFlow 1's branches and loops are made of; those that have a form are IF and WHILE."""
HEADS = {
    "control": (
        "Failed to functionalize Control Flow V1 ops. Consider using Control Flow V2 ops instead. "
        "See https://www.tensorflow.org/api_docs/python/tf/compat/v1/enable_control_flow_v2."
    ),
    "builtin": "Some ops are not supported yet, though TFLite has operators for them:",
    "other": "Some ops are not supported by the native TFLite runtime:",
}
"""What is said above the operations of each kind."""


def builtin_of(type_: str) -> str | None:
    """The TFLite builtin that an operation of TensorFlow or ONNX is named like, if there is one.

    >>> builtin_of("HashTableV2"), builtin_of("AssignVariableOp"), builtin_of("Cholesky")
    ('HASHTABLE', 'ASSIGN_VARIABLE', None)
    """
    stem = VERSION.sub("", type_)
    if stem.startswith("FakeQuant"):
        return "FAKE_QUANT"
    return OTHERWISE_NAMED.get(stem, BUILTINS.get(stem.upper()))


def refuse(missing: Mapping[str, Sequence[str]], advice: str, flex: Iterable[str] = ()) -> None:
    """Raises UnsupportedOps unless nothing is missing.

    Args:
        missing: type of an operation without a lowering -> the names of its nodes.
        advice: what to do.
        flex: those types that TensorFlow's Flex delegate runs.
    """
    if missing:
        raise UnsupportedOps(f"{_listed(missing)}\n{advice}", missing, flex)


def _kind(type_: str) -> str:
    if type_.removeprefix("Ref") in CONTROL:
        return "control"
    return "other" if builtin_of(type_) is None else "builtin"


def _listed(missing: Mapping[str, Sequence[str]]) -> str:
    rows = sorted(missing.items(), key=lambda row: -len(row[1]))
    lines = []
    for kind, head in HEADS.items():
        of_kind = [row for row in rows if _kind(row[0]) == kind]
        if not of_kind:
            continue
        lines.append(head)
        for type_, names in of_kind[:MAX_SHOWN]:
            remark = builtin_of(type_) if kind == "builtin" else REASONS.get(type_)
            remark = f" ({remark})" if remark else ""
            lines.append(f"  {type_} x {len(names)}, first at node '{names[0]}'{remark}")
        if of_kind[MAX_SHOWN:]:
            others = ", ".join(sorted(type_ for type_, _ in of_kind[MAX_SHOWN:]))
            lines.append(f"  and {len(of_kind) - MAX_SHOWN} more types: {others}")
    return "\n".join(lines)
