"""Models that between them use every part of the schema a Model has, and the files of a corpus."""

import numpy as np
import pytest

from flatlite.schema.flatbuffer import record
from flatlite.schema.model import Model, Operator, Quantization, Signature, Subgraph, Tensor, save


def classifier():
    """A small float network with an unknown batch, a signature and metadata."""
    rng = np.random.default_rng(1)
    weights = rng.standard_normal((4, 3, 3, 1)).astype("f4")
    dense = rng.standard_normal((10, 64)).astype("f4")
    tensors = [
        Tensor("x", (1, 8, 8, 1), shape_signature=(-1, 8, 8, 1)),
        Tensor("conv/kernel", (4, 3, 3, 1), data=weights),
        Tensor("conv/bias", (4,), data=np.zeros(4, "f4")),
        Tensor("conv", (1, 4, 4, 4), shape_signature=(-1, 4, 4, 4)),
        Tensor("shape", (2,), "INT32", data=np.array([-1, 64], "i4")),
        Tensor("flat", (1, 64), shape_signature=(-1, 64)),
        Tensor("dense/kernel", (10, 64), data=dense),
        Tensor("dense/bias", (10,), data=np.zeros(10, "f4")),
        Tensor("dense", (1, 10), shape_signature=(-1, 10)),
        Tensor("same bias", (4,), data=np.zeros(4, "f4")),
        Tensor("y", (1, 10), shape_signature=(-1, 10)),
    ]
    conv = record("Conv2DOptions")(stride_w=2, stride_h=2, fused_activation_function=1)
    operators = [
        Operator("CONV_2D", [0, 1, 2], [3], conv),
        Operator("RESHAPE", [3, 4], [5]),
        Operator("FULLY_CONNECTED", [5, 6, 7], [8], record("FullyConnectedOptions")()),
        Operator("SOFTMAX", [8], [10], record("SoftmaxOptions")(beta=1.0)),
    ]
    return Model(
        [Subgraph("main", tensors, [0], [10], operators)],
        description="made by a test",
        signatures=[Signature("serving_default", {"x": 0}, {"probabilities": 10})],
        metadata={"min_runtime_version": b"1.14.0".ljust(16, b"\0"), "empty": b""},
    )


def quantized():
    """An int8 convolution with a scale per channel, and one with a scale per block."""
    scales = np.array([0.5, 0.25], "f4")
    blockwise = record("BlockwiseQuantization")(scales=6, block_size=32)
    tensors = [
        Tensor("x", (1, 4, 4, 1), "INT8", quantization=_scale(0.1, -3)),
        Tensor(
            "w",
            (2, 3, 3, 1),
            "INT8",
            data=np.arange(18, dtype="i1").reshape(2, 3, 3, 1),
            quantization=Quantization(scales, np.zeros(2, "i8"), 0, min=-scales, max=scales),
        ),
        Tensor("b", (2,), "INT32", data=np.array([7, -7], "i4"), quantization=_scale(0.05, 0)),
        Tensor("y", (1, 4, 4, 2), "INT8", quantization=_scale(0.2, 5)),
        Tensor("flat", (1, 32), "INT8", quantization=_scale(0.2, 5)),
        Tensor(
            "packed",
            (3, 32),
            "INT4",
            data=bytes(range(48)),
            quantization=Quantization(np.zeros(0, "f4"), np.zeros(0, "i8"), details=blockwise),
        ),
        Tensor("packed scales", (3, 1), "FLOAT16", data=np.ones((3, 1), "f2")),
        Tensor("z", (1, 3), "INT8", quantization=_scale(0.3, 1)),
        Tensor("bits", (5,), "INT2", data=b"\x1b\x02"),
    ]
    operators = [
        Operator(
            "CONV_2D", [0, 1, 2], [3], record("Conv2DOptions")(stride_w=1, stride_h=1), version=3
        ),
        Operator("RESHAPE", [3], [4], record("ReshapeOptions")(new_shape=np.array([1, 32], "i4"))),
        Operator("FULLY_CONNECTED", [4, 5, -1], [7], record("FullyConnectedOptions")(), version=10),
    ]
    return Model([Subgraph("main", tensors, [0], [7], operators)])


def control_flow():
    """A loop, a branch, a function run once, and variables."""
    counter = [Tensor("i", (), "INT32"), Tensor("ten", (), "INT32", np.array(10, "i4"))]
    condition = Subgraph(
        "condition",
        [*counter, Tensor("less", (), "BOOL")],
        [0],
        [2],
        [Operator("LESS", [0, 1], [2])],
    )
    add = record("AddOptions")()
    body = Subgraph(
        "body",
        [Tensor("i", (), "INT32"), *counter[1:], Tensor("next", (), "INT32")],
        [0],
        [2],
        [Operator("ADD", [0, 1], [2], add)],
    )
    handle = record("VarHandleOptions")(shared_name="w")
    unused = Tensor(
        "handle",
        (),
        "RESOURCE",
        variant_tensors=(record("VariantSubType")(shape=np.array([2], "i4"), has_rank=True),),
    )
    setup = Subgraph(
        "setup",
        [unused, Tensor("one", (2,), data=np.ones(2, "f4"))],
        operators=[
            Operator("VAR_HANDLE", [], [0], handle),
            Operator("ASSIGN_VARIABLE", [0, 1], []),
        ],
    )
    main = Subgraph(
        "main",
        [
            Tensor("i", (), "INT32"),
            Tensor("looped", (), "INT32"),
            Tensor("choice", (), "BOOL"),
            Tensor("chosen", (), "INT32"),
        ],
        [0, 2],
        [3],
        [
            Operator("CALL_ONCE", [], [], record("CallOnceOptions")(init_subgraph_index=3)),
            Operator(
                "WHILE",
                [0],
                [1],
                record("WhileOptions")(cond_subgraph_index=1, body_subgraph_index=2),
            ),
            Operator(
                "IF",
                [2, 1],
                [3],
                record("IfOptions")(then_subgraph_index=2, else_subgraph_index=2),
            ),
        ],
        debug_metadata_index=4,
    )
    signatures = [
        Signature("run", {"i": 0, "choice": 2}, {"chosen": 3}),
        Signature("step", {"i": 0}, {"next": 2}, subgraph=2),
    ]
    return Model([main, condition, body, setup], signatures=signatures)


def unusual():
    """Sparse weights, strings, custom operators, omitted operands, inner tensors, other files."""
    rows = record("Int32Vector")(values=np.array([0, 2, 3], "i4"))
    columns = record("Uint8Vector")(values=np.array([0, 3, 1], "u1"))
    level = record("DimensionMetadata")
    sparsity = record("SparsityParameters")(
        traversal_order=np.array([0, 1, 2], "i4"),
        block_map=np.array([1], "i4"),
        dim_metadata=(
            level(dense_size=2),
            level(format=1, array_segments=rows, array_indices=columns),
            level(dense_size=2),
        ),
    )
    tensors = [
        Tensor("x", (1, 8)),
        Tensor("w", (2, 8), data=np.arange(6, dtype="f4").tobytes(), sparsity=sparsity),
        Tensor("y", (1, 2)),
        Tensor("words", (2,), "STRING", data=np.array([b"caf\xc3\xa9", b""], object)),
        Tensor("state", (1, 2), is_variable=True),
        Tensor("z", (), has_rank=False),
        Tensor("inner", (1, 2), "INT16"),
        Tensor("no elements", (0, 3), data=np.zeros((0, 3), "f4")),
        Tensor("elsewhere", (4,), external_buffer=7),
        Tensor("shifted", (1, 2)),
        Tensor("no words", (0,), "STRING", data=b""),
    ]
    convolution = record("StablehloConvolutionOptions")(
        window_strides=np.array([1, 2], "i8"), window_reversal=np.array([True, False])
    )
    operators = [
        Operator("FULLY_CONNECTED", [0, 1, -1], [2], record("FullyConnectedOptions")(), version=8),
        Operator(
            "CUSTOM",
            [2, 3, 4],
            [5],
            custom_code="Tokenize",
            custom_options=b"\x01\x02\x03",
            intermediates=[6],
            mutating_variable_inputs=[False, False, True],
            version=2,
            debug_metadata_index=1,
        ),
        Operator("STABLEHLO_CONVOLUTION", [2, 7, 8], [9], convolution),
    ]
    return Model(
        [Subgraph("", tensors, [0], [5, 9], operators)],
        metadata_buffer=[b"old", b"older"],
        external_buffers=[record("ExternalBuffer")(id=7, offset=16, length=16)],
        external_buffer_groups=[record("ExternalBufferGroup")(name="weights.bin")],
    )


def empty():
    """The smallest file there is: a subgraph without anything."""
    return Model([Subgraph()])


def _scale(scale, zero_point):
    return Quantization(np.array([scale], "f4"), np.array([zero_point], "i8"))


SAMPLES = {make.__name__: make for make in (classifier, quantized, control_flow, unusual, empty)}


@pytest.fixture(params=SAMPLES)
def sample(request):
    """Each sample Model in turn."""
    return SAMPLES[request.param]()


@pytest.fixture
def samples():
    """Name -> sample Model."""
    return {name: make() for name, make in SAMPLES.items()}


@pytest.fixture(scope="session")
def files(corpus):
    """Name -> bytes of the samples, and of all models of the corpus."""
    contents = {f"sample {name}": save(make()) for name, make in SAMPLES.items()}
    for path in sorted(corpus.rglob("*.tflite")):
        contents[str(path.relative_to(corpus))] = path.read_bytes()
    assert not corpus.exists() or len(contents) > len(SAMPLES), f"no .tflite in {corpus}"
    return contents
