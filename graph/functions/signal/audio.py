"""Sound as WAV files: `tf.audio`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from ...core.build import ops
from ...core.graph import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...core.typing import TensorLike


class DecodedWav(NamedTuple):
    """What `decode_wav` gives.

    Attributes:
        audio: [samples, channels], float32 in [-1, 1].
        sample_rate: int32, samples in a second.
    """

    audio: Tensor
    sample_rate: Tensor


def decode_wav(
    contents: TensorLike,
    desired_channels: int = -1,
    desired_samples: int = -1,
    name: str | None = None,
) -> DecodedWav:
    """The samples of a WAV file of 16 bits.

    Args:
        contents: A file's content, a string.
        desired_channels: How many are given; the last one repeats. -1 for those of the file.
        desired_samples: How many are given, with silence behind. -1 for those of the file.
        name: Of the operation.

    Raises InvalidArgumentError, when it runs, for what is no such file.
    """
    audio, rate = cast(
        "Sequence[Tensor]",
        ops.DecodeWav(
            contents,
            desired_channels=desired_channels,
            desired_samples=desired_samples,
            name=name,
        ),
    )
    return DecodedWav(audio, rate)


def encode_wav(audio: TensorLike, sample_rate: TensorLike, name: str | None = None) -> Tensor:
    """The content of a WAV file of 16 bits.

    Args:
        audio: [samples, channels], in [-1, 1].
        sample_rate: Samples in a second.
        name: Of the operation.
    """
    return ops.EncodeWav(audio, sample_rate, name=name)
