"""Images out of the bytes of files, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.registry import op
from ...core.shapes import Shape, require, require_rank, require_size, scalar, shown
from ...format import images
from ...format.media import encode_png as png_of

if TYPE_CHECKING:
    from ...core.protocols import OperationView

FAST = (b"", b"INTEGER_FAST")
"""The values of `dct_method` that mean the fast transform, TensorFlow's default."""
_ACCURATE = b"INTEGER_ACCURATE"
_GIFS = "animated gifs can only be decoded by tf.io.decode_gif or tf.io.decode_image"
_UNKNOWN_FORMAT = "Unknown image file format. One of JPEG, PNG, GIF, BMP required."
_OPENED_BY = {"BMP": "DecodeBmp", "GIF": "DecodeGif"}


def _decoded_shape(op: OperationView) -> Shape:
    require_rank(op, 0, 0)
    channels = cast("int", op.get_attr("channels"))
    require(op, channels >= 0, f"channels must be non-negative, got {channels}")
    return (None, None, channels or None)


def _image(content: bytes, channels: int, bits: int = 8) -> np.ndarray:
    """The image, or of a GIF the images, of a file in any format."""
    kind = images.format_of(content)
    if kind == "PNG":
        return images.decode_png(content, channels, bits)
    if kind == "JPEG":
        return images.decode_jpeg(content, channels)
    if kind == "BMP":
        return images.decode_bmp(content, channels)
    if kind == "GIF":
        if channels not in (0, 3):
            raise ValueError(f"channels must be 0 or 3 for GIF, got {channels}")
        return images.decode_gif(content)
    raise ValueError(_UNKNOWN_FORMAT)


def _still(content: bytes, channels: int, bits: int = 8) -> np.ndarray:
    """The one image of a file."""
    image = _image(content, channels, bits)
    if image.ndim == 3:
        return image
    if len(image) != 1:
        raise ValueError(f"Got {len(image)} frames, but {_GIFS}")
    return image[0]


def _in_type(image: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Pixels as integers of another width, or as float32 in [0, 1]."""
    if dtype.kind == "f":
        return image.astype(np.float32) / np.float32(np.iinfo(image.dtype).max)
    if dtype.itemsize > image.itemsize:
        return image * np.uint16(257)
    return image


@op("DecodePng", shape=_decoded_shape)
def decode_png(contents: np.ndarray, *, channels: int, dtype: np.dtype) -> np.ndarray:
    """An image of 8 or 16 bits."""
    return _in_type(_still(contents.item(), channels, 8 * dtype.itemsize), dtype)


@op("DecodeJpeg", shape=_decoded_shape)
def decode_jpeg(
    contents: np.ndarray,
    *,
    channels: int,
    ratio: int,
    fancy_upscaling: bool,
    dct_method: bytes,
    try_recover_truncated: bool,
    acceptable_fraction: float,
) -> np.ndarray:
    """An image, or a smaller one by `ratio`."""
    content = contents.item()
    _require_method(dct_method)
    if images.format_of(content) != "JPEG":
        return _still(content, channels)
    return images.decode_jpeg(content, channels, ratio, dct_method in FAST, bool(fancy_upscaling))


def _require_method(dct_method: bytes) -> None:
    if dct_method not in (*FAST, _ACCURATE):
        raise ValueError(
            f"dct_method must be one of {{'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}}, "
            f"got {dct_method.decode()!r}"
        )


def _cropped_shape(op: OperationView) -> Shape:
    require_rank(op, 1, 1)
    require_size(op, 1, 0, 4)
    window = op.inputs[1].value
    sizes = (None, None) if window is None else (int(window[2]), int(window[3]))
    return (*sizes, *(_decoded_shape(op) or (None,))[-1:])


@op("DecodeAndCropJpeg", shape=_cropped_shape)
def decode_and_crop_jpeg(
    contents: np.ndarray,
    crop_window: np.ndarray,
    *,
    channels: int,
    ratio: int,
    fancy_upscaling: bool,
    dct_method: bytes,
    try_recover_truncated: bool,
    acceptable_fraction: float,
) -> np.ndarray:
    """The rows and columns from (y, x) on, [height, width] of them."""
    _require_method(dct_method)
    image = images.decode_jpeg(
        contents.item(), channels, ratio, dct_method in FAST, bool(fancy_upscaling)
    )
    if crop_window.shape != (4,):
        raise ValueError(f"crop_window should have 4 elements, got {crop_window.size}")
    y, x, height, width = crop_window.tolist()
    is_inside = 0 <= y <= y + height <= image.shape[0] and 0 <= x <= x + width <= image.shape[1]
    if not is_inside or height <= 0 or width <= 0:
        raise ValueError(
            f"Invalid JPEG data or crop window, data size {len(contents.item())}: "
            f"{crop_window.tolist()} of an image {list(image.shape)}"
        )
    return image[y : y + height, x : x + width]


@op("DecodeBmp", shape=_decoded_shape)
def decode_bmp(contents: np.ndarray, *, channels: int) -> np.ndarray:
    """An image of 8, 24 or 32 bits a pixel."""
    return images.decode_bmp(_of_kind(contents, "BMP"), channels)


@op("DecodeGif", shape=lambda op: (None, None, None, 3))
def decode_gif(contents: np.ndarray) -> np.ndarray:
    """All frames."""
    content = contents.item()
    if images.format_of(content) in ("PNG", "JPEG"):
        return _still(content, 3)[None]
    return images.decode_gif(_of_kind(contents, "GIF"))


def _of_kind(contents: np.ndarray, kind: str) -> bytes:
    content = contents.item()
    present = images.format_of(content)
    if present is None:
        raise ValueError(_UNKNOWN_FORMAT)
    if present != kind:
        raise ValueError(
            f"Trying to decode {present} format using {_OPENED_BY[kind]} op, "
            "use `decode_image` instead"
        )
    return content


def _any_shape(op: OperationView) -> Shape:
    shape = _decoded_shape(op)
    return None if op.get_attr("expand_animations") else shape


@op("DecodeImage", shape=_any_shape)
def decode_image(
    contents: np.ndarray, *, channels: int, dtype: np.dtype, expand_animations: bool
) -> np.ndarray:
    """An image of any format; of a GIF all frames, or the first one."""
    image = _image(contents.item(), channels, 16 if dtype == np.uint16 else 8)
    if image.ndim == 4 and not expand_animations:
        image = image[0]
    return _in_type(image, dtype)


@op("ExtractJpegShape", shape=lambda op: (3,))
def extract_jpeg_shape(contents: np.ndarray, *, output_type: np.dtype) -> np.ndarray:
    """Height, width and channels, without decoding."""
    return np.array(images.jpeg_shape(contents.item()), output_type)


@op("EncodePng", shape=lambda op: (op.inputs[0].sizes or ())[:-3] or scalar(op))
def encode_png(image: np.ndarray, *, compression: int) -> np.ndarray:
    """The bytes of a PNG file for each image."""
    if image.ndim < 3:
        raise ValueError(f"images must have at least rank 3, got {list(image.shape)}")
    flat = image.reshape(-1, *image.shape[-3:])
    files = np.empty(len(flat), object)
    files[:] = [png_of(pixels, compression) for pixels in flat]
    return files.reshape(image.shape[:-3])


FORMATS = {b"": 0, b"grayscale": 1, b"rgb": 3}
"""The attribute `format` -> how many channels it demands; 0 for any."""


@op("EncodeJpeg", shape=scalar)
def encode_jpeg(
    image: np.ndarray,
    *,
    format: bytes,
    quality: int,
    progressive: bool,
    optimize_size: bool,
    chroma_downsampling: bool,
    density_unit: bytes,
    x_density: int,
    y_density: int,
    xmp_metadata: bytes,
) -> np.ndarray:
    """The bytes of a JPEG file."""
    channels = FORMATS.get(format)
    if channels is None:
        raise ValueError(f"format must be '', grayscale or rgb, got {format.decode()!r}")
    if channels not in (0, image.shape[-1]):
        raise ValueError(
            f"image must have {channels} channels for format {format.decode()!r}, "
            f"got {image.shape[-1]}"
        )
    options = images.JpegOptions(
        quality,
        progressive,
        optimize_size,
        chroma_downsampling,
        "cm" if density_unit == b"cm" else "in",
        x_density,
        y_density,
        xmp_metadata,
    )
    return np.array(images.encode_jpeg(image, options), object)


@op("EncodeJpegVariableQuality", shape=scalar)
def encode_jpeg_variable_quality(image: np.ndarray, quality: np.ndarray) -> np.ndarray:
    """The bytes of a JPEG file of a quality that is computed."""
    if quality.ndim:
        raise ValueError(f"quality must be scalar: {shown(quality.shape)}")
    return np.array(images.encode_jpeg(image, images.JpegOptions(int(quality))), object)
