"""Matrix products, convolutions, pools, networks and images."""

import numpy as np
from op_cases import c, case, f, i, z

# Matrix products.
for ta in (False, True):
    for tb in (False, True):
        shapes = ((4, 3) if ta else (3, 4)), ((5, 4) if tb else (4, 5))
        case(
            f"MatMul/{ta}{tb}",
            "MatMul",
            f(*shapes[0]),
            f(*shapes[1]),
            transpose_a=ta,
            transpose_b=tb,
            rtol=1e-5,
        )
case("MatMul/i32", "MatMul", i(3, 4), i(4, 2))
case("BatchMatMul/adj", "BatchMatMul", f(2, 4, 3), f(2, 4, 5), adj_x=True, rtol=1e-5)
case("BatchMatMulV2/broadcast", "BatchMatMulV2", f(2, 1, 3, 4), f(5, 6, 4), adj_y=True, rtol=1e-5)
case("BatchMatMulV2/c64", "BatchMatMulV2", z(2, 4, 3), z(2, 4, 5), adj_x=True, rtol=1e-5)
case(
    "BatchMatMulV3/i8",
    "BatchMatMulV3",
    i(2, 3, 4, dtype=np.int8),
    i(2, 4, 5, dtype=np.int8),
    Tout=np.int32,
)
for equation, shapes in (
    ("ij,jk->ik", [(2, 3), (3, 4)]),
    ("bij,bjk->bik", [(2, 2, 3), (2, 3, 4)]),
    ("ij->ji", [(2, 3)]),
    ("...ij,jk->...ik", [(2, 5, 2, 3), (3, 4)]),
    ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]),
    ("ii->i", [(3, 3)]),
    ("ij->", [(2, 3)]),
    ("abc,cde->abde", [(2, 3, 4), (4, 2, 3)]),
):
    case(f"Einsum/{equation}", "Einsum", [f(*s) for s in shapes], equation=equation, rtol=1e-5)
positive = np.float32([[4, 1, 0], [1, 3, 1], [0, 1, 5]])
case("MatrixInverse", "MatrixInverse", positive, rtol=1e-4)
case("MatrixDeterminant", "MatrixDeterminant", positive, rtol=1e-4)
case("Cholesky", "Cholesky", positive, rtol=1e-4)
case("MatrixSolve", "MatrixSolve", positive, f(3, 2), rtol=1e-4)
case("MatrixTriangularSolve", "MatrixTriangularSolve", positive, f(3, 2), lower=True, rtol=1e-4)
case("RFFT", "RFFT", f(2, 10), c([8]), rtol=1e-5)
case("IRFFT", "IRFFT", z(2, 5), c([8]), rtol=1e-5)
case("RFFT2D", "RFFT2D", f(2, 4, 8), c([4, 8]), rtol=1e-5)
case("FFT", "FFT", z(3, 8), rtol=1e-5)

# Convolutions and pools.
for padding in ("SAME", "VALID"):
    for stride in (1, 2):
        name = f"{padding}_{stride}"
        steps = [1, stride, stride, 1]
        case(
            f"Conv2D/{name}",
            "Conv2D",
            f(2, 7, 8, 3),
            f(3, 2, 3, 4),
            strides=steps,
            padding=padding,
            rtol=1e-5,
        )
        case(
            f"DepthwiseConv2dNative/{name}",
            "DepthwiseConv2dNative",
            f(2, 7, 8, 3),
            f(3, 2, 3, 2),
            strides=steps,
            padding=padding,
            rtol=1e-5,
        )
        case(
            f"MaxPool/{name}",
            "MaxPool",
            f(2, 7, 8, 3),
            ksize=[1, 3, 2, 1],
            strides=steps,
            padding=padding,
        )
        case(
            f"AvgPool/{name}",
            "AvgPool",
            f(2, 7, 8, 3),
            ksize=[1, 3, 2, 1],
            strides=steps,
            padding=padding,
            rtol=5e-6,
        )
        out = (4, 4) if stride == 2 else (7, 8)
        out = out if padding == "SAME" else ((3, 4) if stride == 2 else (5, 7))
        case(
            f"Conv2DBackpropInput/{name}",
            "Conv2DBackpropInput",
            c([2, 7, 8, 3]),
            f(3, 2, 3, 4),
            f(2, *out, 4),
            strides=steps,
            padding=padding,
            rtol=1e-5,
        )
        case(
            f"Conv2DBackpropFilter/{name}",
            "Conv2DBackpropFilter",
            f(2, 7, 8, 3),
            c([3, 2, 3, 4]),
            f(2, *out, 4),
            strides=steps,
            padding=padding,
            rtol=2e-5,
        )
        case(
            f"DepthwiseConv2dNativeBackpropInput/{name}",
            "DepthwiseConv2dNativeBackpropInput",
            c([2, 7, 8, 3]),
            f(3, 2, 3, 2),
            f(2, *out, 6),
            strides=steps,
            padding=padding,
            rtol=1e-5,
        )
        case(
            f"DepthwiseConv2dNativeBackpropFilter/{name}",
            "DepthwiseConv2dNativeBackpropFilter",
            f(2, 7, 8, 3),
            c([3, 2, 3, 2]),
            f(2, *out, 6),
            strides=steps,
            padding=padding,
            rtol=2e-5,
        )
        case(
            f"MaxPoolWithArgmax/{name}",
            "MaxPoolWithArgmax",
            f(2, 7, 8, 3),
            ksize=[1, 3, 2, 1],
            strides=steps,
            padding=padding,
        )
        case(
            f"AvgPoolGrad/{name}",
            "AvgPoolGrad",
            c([2, 7, 8, 3]),
            f(2, *out, 3),
            ksize=[1, 3, 2, 1],
            strides=steps,
            padding=padding,
            rtol=1e-5,
        )
case(
    "Conv2D/1x1",
    "Conv2D",
    f(2, 5, 6, 3),
    f(1, 1, 3, 4),
    strides=[1, 1, 1, 1],
    padding="VALID",
    rtol=1e-5,
)
case(
    "Conv2D/dilated",
    "Conv2D",
    f(1, 12, 11, 2),
    f(3, 3, 2, 3),
    strides=[1, 1, 1, 1],
    padding="SAME",
    dilations=[1, 2, 3, 1],
    rtol=1e-5,
)
case(
    "Conv2D/explicit",
    "Conv2D",
    f(1, 6, 6, 2),
    f(3, 3, 2, 3),
    strides=[1, 2, 2, 1],
    padding="EXPLICIT",
    explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0],
    rtol=1e-5,
)
case(
    "Conv2D/groups",
    "Conv2D",
    f(1, 6, 6, 4),
    f(3, 3, 2, 6),
    strides=[1, 1, 1, 1],
    padding="SAME",
    rtol=1e-5,
)
case(
    "Conv2D/f64",
    "Conv2D",
    f(1, 6, 6, 2, dtype=np.float64),
    f(3, 3, 2, 3, dtype=np.float64),
    strides=[1, 1, 1, 1],
    padding="SAME",
    rtol=1e-12,
)
case(
    "DepthwiseConv2dNative/dilated",
    "DepthwiseConv2dNative",
    f(1, 9, 9, 2),
    f(3, 3, 2, 1),
    strides=[1, 1, 1, 1],
    padding="SAME",
    dilations=[1, 2, 2, 1],
    rtol=1e-5,
)
case(
    "Conv3D",
    "Conv3D",
    f(1, 5, 6, 5, 2),
    f(2, 3, 2, 2, 3),
    strides=[1, 1, 2, 1, 1],
    padding="SAME",
    rtol=1e-5,
)
case(
    "Conv3DBackpropInputV2",
    "Conv3DBackpropInputV2",
    c([1, 5, 6, 5, 2]),
    f(2, 3, 2, 2, 3),
    f(1, 5, 3, 5, 3),
    strides=[1, 1, 2, 1, 1],
    padding="SAME",
    rtol=1e-5,
)
case(
    "MaxPool3D",
    "MaxPool3D",
    f(1, 5, 6, 5, 2),
    ksize=[1, 2, 3, 2, 1],
    strides=[1, 2, 2, 1, 1],
    padding="SAME",
)
case(
    "AvgPool3D",
    "AvgPool3D",
    f(1, 5, 6, 5, 2),
    ksize=[1, 2, 3, 2, 1],
    strides=[1, 2, 2, 1, 1],
    padding="VALID",
    rtol=5e-6,
)
case("MaxPoolV2", "MaxPoolV2", f(1, 6, 6, 2), c([1, 2, 2, 1]), c([1, 2, 2, 1]), padding="VALID")
case(
    "Dilation2D",
    "Dilation2D",
    f(1, 6, 6, 2),
    f(3, 2, 2),
    strides=[1, 1, 2, 1],
    rates=[1, 1, 1, 1],
    padding="SAME",
)
case(
    "ExtractImagePatches",
    "ExtractImagePatches",
    f(1, 6, 6, 2),
    ksizes=[1, 3, 2, 1],
    strides=[1, 2, 2, 1],
    rates=[1, 1, 2, 1],
    padding="SAME",
)

# Networks.
case("BiasAdd", "BiasAdd", f(2, 3, 4), f(4))
case("BiasAdd/nchw", "BiasAdd", f(2, 3, 4, 5), f(3), data_format="NCHW")
case("BiasAddGrad", "BiasAddGrad", f(2, 3, 4), rtol=5e-6)
case("Softmax", "Softmax", f(2, 3, 5), rtol=4e-6)
case("LogSoftmax", "LogSoftmax", f(4, 5), rtol=5e-6)
case("L2Loss", "L2Loss", f(4, 5), rtol=5e-6)
case(
    "SoftmaxCrossEntropyWithLogits",
    "SoftmaxCrossEntropyWithLogits",
    f(4, 5),
    f(4, 5, low=0),
    rtol=1e-5,
)
case(
    "SparseSoftmaxCrossEntropyWithLogits",
    "SparseSoftmaxCrossEntropyWithLogits",
    f(4, 5),
    c([0, 4, 2, 1]),
    rtol=1e-5,
)
for version in ("", "V2", "V3"):
    statistics = f(3), f(3), f(3), f(3, low=0.1)
    case(
        f"FusedBatchNorm{version}",
        f"FusedBatchNorm{version}",
        f(2, 4, 4, 3),
        *statistics,
        is_training=False,
        epsilon=0.001,
        rtol=1e-5,
    )
case(
    "FusedBatchNormV3/train",
    "FusedBatchNormV3",
    f(2, 4, 4, 3),
    f(3),
    f(3),
    c([], np.float32),
    c([], np.float32),
    is_training=True,
    rtol=2e-5,
)
case(
    "FusedBatchNormV3/average",
    "FusedBatchNormV3",
    f(2, 4, 4, 3),
    f(3),
    f(3),
    f(3),
    f(3, low=0.1),
    is_training=True,
    exponential_avg_factor=0.3,
    rtol=2e-5,
)
case("LRN", "LRN", f(2, 3, 3, 9), depth_radius=2, bias=1.5, alpha=0.1, beta=0.7, rtol=1e-5)
case("InTopKV2", "InTopKV2", f(4, 5), c([0, 1, 2, 9]), c(2))
for bits, narrow in ((8, False), (8, True), (4, False)):
    case(
        f"FakeQuantWithMinMaxVars/{bits}{narrow}",
        "FakeQuantWithMinMaxVars",
        f(40, low=-4, high=5),
        c(-2.3, np.float32),
        c(3.1, np.float32),
        num_bits=bits,
        narrow_range=narrow,
    )
case(
    "FakeQuantWithMinMaxVars/positive",
    "FakeQuantWithMinMaxVars",
    f(40),
    c(0, np.float32),
    c(0, np.float32),
)
case("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxArgs", f(40), min=-1.5, max=2.25)
case(
    "FakeQuantWithMinMaxVarsPerChannel",
    "FakeQuantWithMinMaxVarsPerChannel",
    f(9, 3),
    f(3, low=-2, high=-1),
    f(3, low=1, high=2),
)
for flags in ({}, {"align_corners": True}, {"half_pixel_centers": True}):
    name = next(iter(flags), "plain")
    for size in ([7, 9], [2, 3], [1, 1], [5, 4]):
        for op in ("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic"):
            case(
                f"{op}/{name}_{size[0]}x{size[1]}",
                op,
                f(1, 5, 4, 2),
                c(size),
                rtol=2e-5 if op == "ResizeBicubic" else 3e-6,
                **flags,
            )
case(
    "ResizeBilinear/u8", "ResizeBilinear", i(1, 5, 4, 2, low=0, high=256, dtype=np.uint8), c([8, 8])
)
for method in ("bilinear", "nearest"):
    case(
        f"CropAndResize/{method}",
        "CropAndResize",
        f(2, 6, 7, 2),
        c([[0.1, 0.2, 0.8, 0.9], [-0.2, 0, 1, 1.2], [0.9, 0.9, 0.1, 0.2]], np.float32),
        c([0, 1, 1]),
        c([4, 3]),
        method=method,
        rtol=2e-5,
    )
for name in ("FFT2D", "IFFT", "IFFT2D"):
    case(name, name, z(2, 4, 8), rtol=1e-5)
case("IRFFT2D", "IRFFT2D", z(2, 4, 5), c([4, 8]), rtol=1e-5)
case(
    "Conv3DBackpropFilterV2",
    "Conv3DBackpropFilterV2",
    f(1, 5, 6, 5, 2),
    c([2, 3, 2, 2, 3]),
    f(1, 5, 3, 5, 3),
    strides=[1, 1, 2, 1, 1],
    padding="SAME",
    rtol=2e-5,
)
x7 = np.random.RandomState(1).rand(1, 6, 8, 2).astype(np.float32)
largest = x7.reshape(1, 3, 2, 4, 2, 2).max((2, 4))
windows = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
case("MaxPoolGrad", "MaxPoolGrad", x7, largest, f(1, 3, 4, 2), **windows)
case("BiasAddV1", "BiasAddV1", f(2, 3, 4), f(4))
for _name, _n_extra in (("Grad", 0), ("GradV2", 0), ("GradV3", 1)):
    for _training in (True, False):
        case(
            f"FusedBatchNorm{_name}/{_training}",
            f"FusedBatchNorm{_name}",
            f(2, 3, 4, 3),
            f(2, 3, 4, 3),
            f(3, low=0.5, high=2),
            f(3),
            f(3, low=0.5, high=2),
            *[f(0)] * _n_extra,
            is_training=_training,
            epsilon=0.01,
            rtol=1e-4,
        )
