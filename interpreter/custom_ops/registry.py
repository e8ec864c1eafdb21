"""The custom operators that come with flatlite, by name, and what they have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...schema.registry import Registry
from ..checks import required

if TYPE_CHECKING:
    from typing import TypeAlias

    from ..plan.node import Node, Operand, Prepared

    Prepare: TypeAlias = Callable[[Node], Prepared]
    """Checks a Node and infers its results."""

_HOMES = {
    "arrays": ("Roll", "BroadcastGradientArgs", "NumericVerify", "aeq.hadamard_rotation"),
    "audio": ("AudioSpectrogram", "Mfcc"),
    "ctc": ("CTCBeamSearchDecoder",),
    "detection": ("TFLite_Detection_PostProcess",),
    "examples": ("ParseExample", "ParseExampleV2"),
    "fourier": ("IRFFT2D",),
    "generation": ("odml.scaled_dot_product_attention", "odml.update_kv_cache"),
    "lists": (
        *("TensorListReserve", "TensorListFromTensor", "TensorListSetItem", "TensorListGetItem"),
        *("TensorListPushBack", "TensorListPopBack", "TensorListStack", "TensorListLength"),
        *("TensorListElementShape", "VariantAddN", "VariantZerosLike"),
    ),
    "landmarks": ("TransformLandmarks", "Landmarks2TransformMatrix"),
    "pooling": ("AvgPool3D", "MaxPool3D", "MaxPoolWithArgmax", "MaxPoolingWithArgmax2D"),
    "recurrent": ("UnidirectionalSequenceGru",),
    "sampling": ("DenseImageWarp", "Resampler", "TransformTensor", "TransformTensorBilinear"),
    "signal": ("SignalEnergy", "SignalFftAutoScale", "SignalWindow"),
    "signal_filters": (
        *("SignalFilterBank", "SignalFilterBankLog", "SignalFilterBankSquareRoot"),
        *("SignalFilterBankSpectralSubtraction", "SignalPCAN"),
    ),
    "signal_fourier": ("SignalIrfft", "SignalRfft"),
    "signal_frames": ("SignalDelay", "SignalFramer", "SignalOverlapAdd", "SignalStacker"),
    "transposed": ("Convolution2DTransposeBias",),
    "unpooling": ("MaxUnpooling2D", "LiteRtMaxUnpooling2D"),
}
"""Module -> the operators it has."""
HOMES = {name: module for module, names in _HOMES.items() for name in names}
"""Operator -> its module."""


def _home(name: str) -> str:
    return HOMES.get(name, "")


SHIPPED: Registry[Prepare] = Registry("custom operator", __package__, _home)
"""Custom operator -> the function that checks a Node and infers its results."""


def custom(*names: str) -> Callable[[Prepare], Prepare]:
    """Registers the decorated `prepare` for the custom operators `names`."""

    def register(prepare: Prepare) -> Prepare:
        for name in names:
            SHIPPED.add(name, prepare)
        return prepare

    return register


def exactly(node: Node, count: int) -> list[Operand]:
    """All inputs, of which there must be `count`; none may be omitted."""
    node.require(len(node.inputs) == count, f"takes {count} inputs, got {len(node.inputs)}")
    return required(node, count)
