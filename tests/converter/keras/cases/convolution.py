"""Convolutions, pooling and changes of size."""

from .registry import IMAGE, THREE, VOLUME, single

single(
    "convolution", "Conv1DTranspose", lambda layers: layers.Conv1DTranspose(3, 4, strides=2), (5, 4)
)
single(
    *("convolution", "Conv1DTranspose_same"),
    lambda layers: layers.Conv1DTranspose(3, 3, strides=3, padding="same", use_bias=False),
    (5, 4),
)
single(
    "convolution",
    "Conv2DTranspose",
    lambda layers: layers.Conv2DTranspose(3, 3, 2, output_padding=1),
    IMAGE,
)
single(
    *("convolution", "Conv2DTranspose_any"),
    lambda layers: layers.Conv2DTranspose(3, 3, 2, padding="same"),
    (None, None, 4),
)
single(
    "convolution",
    "Conv3D",
    lambda layers: layers.Conv3D(3, 3, strides=2, activation="relu"),
    VOLUME,
)
single(
    "convolution",
    "Conv3DTranspose",
    lambda layers: layers.Conv3DTranspose(3, 2, 2, padding="same"),
    VOLUME,
)
single(
    "convolution",
    "Separable",
    lambda layers: layers.SeparableConv2D(3, 3, 2, padding="same"),
    IMAGE,
)
single(
    "convolution",
    "Depthwise1D",
    lambda layers: layers.DepthwiseConv1D(3, 2, depth_multiplier=2),
    (8, 4),
)
for _pool in ("Max", "Average"):
    single(
        *("convolution", f"{_pool}3D"),
        lambda layers, p=_pool: getattr(layers, f"{p}Pooling3D")(2, 1, padding="same"),
        VOLUME,
    )
    for _n, _shape in ((1, (7, 4)), (2, IMAGE), (3, VOLUME)):
        single(
            *("convolution", f"{_pool}{_n}D_all"),
            lambda layers, p=_pool, n=_n: getattr(layers, f"Global{p}Pooling{n}D")(keepdims=n == 2),
            _shape,
        )
        single(
            *("convolution", f"{_pool}{_n}D_adaptive"),
            lambda layers, p=_pool, n=_n: getattr(layers, f"Adaptive{p}Pooling{n}D")(
                2 if n > 1 else 3
            ),
            _shape,
            versions=THREE,
        )
single("convolution", "UpSampling3D", lambda layers: layers.UpSampling3D((2, 1, 3)), (2, 3, 2, 2))
single(
    "convolution", "UpSampling2D_any", lambda layers: layers.UpSampling2D((2, 3)), (None, None, 2)
)
single(
    *("convolution", "UpSampling2D_linear"),
    lambda layers: layers.UpSampling2D(2, interpolation="bilinear"),
    (None, None, 2),
)
single("convolution", "UpSampling1D_any", lambda layers: layers.UpSampling1D(3), (None, 2))
single(
    "convolution", "Cropping3D", lambda layers: layers.Cropping3D(((1, 0), (2, 1), (0, 1))), VOLUME
)
single("convolution", "ZeroPadding3D", lambda layers: layers.ZeroPadding3D((1, 0, 2)), VOLUME)
