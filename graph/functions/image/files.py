"""Images out of the bytes of files, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.scopes import name_scope
from ..rows import functions
from .colors import convert_image_dtype
from .shapes import three_dimensional

if TYPE_CHECKING:
    from ...core.graph import Tensor
    from ...core.typing import DTypeLike, TensorLike

JPEG_OPTIONS = "channels=0 ratio=1 fancy_upscaling=True try_recover_truncated=False \
    acceptable_fraction=1 dct_method=''"
ONE_TO_ONE = f"""
decode_and_crop_jpeg DecodeAndCropJpeg contents crop_window {JPEG_OPTIONS} \
    # A part of a JPEG image, [height, width, channels] uint8; `crop_window` is top, left, \
    height, width
decode_bmp           DecodeBmp         contents channels=0 \
    # A BMP image, [height, width, channels] uint8
decode_gif           DecodeGif         contents \
    # All frames of a GIF, [frames, height, width, 3] uint8
decode_jpeg          DecodeJpeg        contents {JPEG_OPTIONS} \
    # A JPEG image, [height, width, channels] uint8
decode_png           DecodePng         contents channels=0 dtype='uint8' \
    # A PNG image, [height, width, channels] of `dtype`, uint8 or uint16
encode_jpeg          EncodeJpeg        image format='' quality=95 progressive=False \\
    optimize_size=False chroma_downsampling=True density_unit='in' x_density=300 y_density=300 \\
    xmp_metadata='' # The bytes of a JPEG file of [height, width, channels] pixels
extract_jpeg_shape   ExtractJpegShape  contents output_type='int32' \
    # Height, width and channels of a JPEG file, without decoding
"""
globals().update(functions(ONE_TO_ONE, __name__))


def encode_png(image: TensorLike, compression: int = -1, name: str | None = None) -> Tensor:
    """The bytes of a PNG file.

    Args:
        image: [height, width, channels] of uint8 or uint16, 1 to 4 channels; or a batch of these.
        compression: From 0, fast, to 9, small; -1 for zlib's own choice.
        name: Of the operation.

    Raises TypeError for pixels of another type.
    """
    return ops.EncodePng(convert_to_tensor(image), compression=compression, name=name)


def decode_image(
    contents: TensorLike,
    channels: int | None = None,
    dtype: DTypeLike = np.uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:
    """An image in any format: JPEG, PNG, GIF or BMP.

    Args:
        contents: The bytes of the file.
        channels: Of the result; those of the file without.
        dtype: uint8, uint16 or float32 in [0, 1].
        name: Of the operation.
        expand_animations: Whether a GIF is [frames, height, width, 3], and not its first frame.
    """
    with name_scope(name, "decode_image"):
        return ops.DecodeImage(
            contents,
            channels=0 if channels is None else channels,
            dtype=dtype,
            expand_animations=expand_animations,
        )


def is_jpeg(contents: TensorLike, name: str | None = None) -> Tensor:
    """bool: whether each of `contents`, bytes in strings of any shape, begins as a JPEG does."""
    with name_scope(name, "is_jpeg"):
        head = ops.Substr(contents, np.int32(0), np.int32(3))
        return ops.Equal(head, convert_to_tensor(b"\xff\xd8\xff"), name=name)


def adjust_jpeg_quality(
    image: TensorLike, jpeg_quality: TensorLike, dct_method: str = "", name: str | None = None
) -> Tensor:
    """An image as it is after it was written to a JPEG file and read.

    Args:
        image: [height, width, 1 or 3].
        jpeg_quality: From 0 to 100.
        dct_method: "INTEGER_FAST" or "INTEGER_ACCURATE", by which it is read.
        name: Of the operation.

    Raises InvalidArgumentError, when it runs, for another quality.
    """
    with name_scope(name, "adjust_jpeg_quality", [image]):
        x = three_dimensional(image)
        kind = x.dtype
        pixels = convert_image_dtype(x, np.uint8, saturate=True)
        quality = convert_to_tensor(jpeg_quality, np.int32, name="jpeg_quality")
        content = ops.EncodeJpegVariableQuality(pixels, quality)
        channels = x.sizes[-1] if x.sizes and x.sizes[-1] is not None else 0
        read = ops.DecodeJpeg(content, channels=channels, dct_method=dct_method)
        return convert_image_dtype(read, kind, saturate=True)
