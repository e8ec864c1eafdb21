"""Cases of test_derivatives.py: pools, convolutions over volumes, special functions, segments."""

import numpy as np
from derivative_cases import c, case, f, positive

from flatlite.graph.core.build import ops

VOLUME, IMAGE = f(1, 2, 3, 4, 2), f(2, 4, 5, 2)
POOL3D = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 1, 1, 2, 1], "padding": "SAME"}
POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 1, 2, 1], "padding": "SAME"}
CONV3D = {"strides": [1, 1, 2, 1, 1], "padding": "SAME"}
SEGMENTS = c([0, 0, 1, 1, 1])

case("MaxPool3D", lambda x: ops.MaxPool3D(x, **POOL3D), VOLUME)
case("AvgPool3D", lambda x: ops.AvgPool3D(x, **POOL3D), VOLUME)
case("AvgPool3DGrad", lambda dy: ops.AvgPool3DGrad(c([1, 2, 3, 4, 2]), dy, **POOL3D),
     f(1, 2, 3, 2, 2))  # fmt: skip
for _include in (False, True):
    case(
        f"MaxPoolWithArgmax/{_include}",
        lambda x, _i=_include: ops.MaxPoolWithArgmax(x, include_batch_in_index=_i, **POOL)[0],
        IMAGE,
    )


def pooled(kind, x, **attrs):
    """The gradient of a pool, which is linear in what comes from above."""
    y = getattr(ops, kind)(x, **attrs)
    return getattr(ops, f"{kind}Grad")(x, y, ops.Square(y), **attrs)


case("MaxPoolGrad", lambda x: pooled("MaxPool", x, **POOL), IMAGE)
case("MaxPool3DGrad", lambda x: pooled("MaxPool3D", x, **POOL3D), VOLUME)
case("Conv3DBackpropFilterV2",
     lambda x, dy: ops.Conv3DBackpropFilterV2(x, c([1, 2, 2, 2, 3]), dy, **CONV3D),
     f(1, 2, 4, 3, 2), f(1, 2, 2, 3, 3))  # fmt: skip
case("Dilation2D",
     lambda x, w: ops.Dilation2D(x, w, strides=[1, 1, 2, 1], rates=[1, 2, 1, 1], padding="SAME"),
     IMAGE, f(2, 2, 2))  # fmt: skip
case("BiasAddGrad", lambda dy: ops.BiasAddGrad(dy), f(2, 3, 4))
case("BiasAddGrad/first", lambda dy: ops.BiasAddGrad(dy, data_format="NCHW"), f(2, 3, 2, 2))
for _kind in ("Elu", "Selu"):
    case(f"{_kind}Grad", getattr(ops, f"{_kind}Grad"), f(3, 4), f(3, 4, low=-0.9, high=2.0))
for _kind in ("BesselI0", "BesselI0e", "BesselI1", "BesselI1e"):
    case(_kind, getattr(ops, _kind), f(3, 4))
case("Digamma", ops.Digamma, positive(3, 4))
case("Polygamma", lambda x: ops.Polygamma(c([[0.0], [1.0], [2.0]], float), x), positive(3, 4))
case("Zeta", lambda q: ops.Zeta(c([[2.0], [1.5], [4.0]], float), q), positive(3, 4))
case("Betainc", lambda x: ops.Betainc(c(2.5, float), c(1.5, float), x), f(3, 4, low=0.1, high=0.9))
case("Igamma", ops.Igamma, positive(3, 4), positive(3, 4))
case("Igammac", ops.Igammac, positive(3, 4), positive(4))
for _exclusive in (False, True):
    case(
        f"CumulativeLogsumexp/{_exclusive}",
        lambda x, _e=_exclusive: ops.CumulativeLogsumexp(x, c(1), exclusive=_e, reverse=_e)[
            :, : 3 if _e else 4
        ],
        f(3, 4),
    )
case("SegmentProd", lambda x: ops.SegmentProd(x, SEGMENTS), f(5, 2))
case("SegmentProd/zeros", lambda x: ops.SegmentProd(x * c([[1], [0], [0], [1], [0]], float),
                                                    SEGMENTS), f(5, 2))  # fmt: skip
for _suffix, _shape in (("", (2, 5)), ("2D", (3, 4)), ("3D", (2, 3, 4))):
    _lengths = c(_shape[-{"": 1, "2D": 2, "3D": 3}[_suffix] :])
    for _less in (0, 1):
        case(
            f"RFFT{_suffix}/{_less}",
            lambda x, _s=_suffix, _n=_lengths - _less: getattr(ops, f"RFFT{_s}")(
                x, _n, Tcomplex=np.dtype(complex)
            ),
            f(*_shape),
        )
    case(
        f"IRFFT{_suffix}",
        lambda x, y, _s=_suffix, _n=_lengths: getattr(ops, f"IRFFT{_s}")(
            ops.Complex(x, y, Tout=np.dtype(complex)), _n, Treal=np.dtype(float)
        ),
        f(*_shape),
        f(*_shape),
    )
    case(
        f"FFT{_suffix}",
        lambda x, y, _s=_suffix: getattr(ops, f"IFFT{_s}")(
            ops.Square(getattr(ops, f"FFT{_s}")(ops.Complex(x, y, Tout=np.dtype(complex))))
        ),
        f(*_shape),
        f(*_shape),
    )

case("InvGrad", ops.InvGrad, f(3, 4), f(3, 4))
case("MaxPoolGradGrad", lambda g: ops.MaxPoolGradGrad(
    c(np.arange(80).reshape(2, 4, 5, 2) % 7, float),
    ops.MaxPool(c(np.arange(80).reshape(2, 4, 5, 2) % 7, float), **POOL), g, **POOL),
    IMAGE)  # fmt: skip
case("MaxPool3DGradGrad", lambda g: ops.MaxPool3DGradGrad(
    c(np.arange(48).reshape(1, 2, 3, 4, 2) % 7, float),
    ops.MaxPool3D(c(np.arange(48).reshape(1, 2, 3, 4, 2) % 7, float), **POOL3D), g, **POOL3D),
    VOLUME)  # fmt: skip
case("MaxPoolV2", lambda x: ops.MaxPoolV2(x, c([1, 2, 2, 1]), c([1, 1, 2, 1]), padding="SAME"),
     IMAGE)  # fmt: skip
for _padding, _rates in (("SAME", [1, 1, 1, 1]), ("VALID", [1, 2, 1, 1])):
    case(
        f"ExtractImagePatches/{_padding}",
        lambda x, _p=_padding, _r=_rates: ops.ExtractImagePatches(
            x, ksizes=[1, 2, 3, 1], strides=[1, 1, 2, 1], rates=_r, padding=_p
        ),
        IMAGE,
    )
    case(
        f"ExtractVolumePatches/{_padding}",
        lambda x, _p=_padding: ops.ExtractVolumePatches(
            x, ksizes=[1, 2, 2, 2, 1], strides=[1, 1, 2, 1, 1], padding=_p
        ),
        VOLUME,
    )
for _scaled in (False, True):
    case(
        f"BatchNormWithGlobalNormalization/{_scaled}",
        lambda x, m, v, b, g, _s=_scaled: ops.BatchNormWithGlobalNormalization(
            x, m, v, b, g, variance_epsilon=0.1, scale_after_normalization=_s
        ),
        *(f(2, 3, 2, 3), f(3), positive(3), f(3), f(3)),
    )
for _axis in (0, -1):
    case(
        f"ApproxTopK/{_axis}",
        lambda x, _a=_axis: ops.ApproxTopK(x, k=2, reduction_dimension=_a)[0],
        f(4, 5),
    )
