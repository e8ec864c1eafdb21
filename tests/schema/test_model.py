"""Model as plain data: what load gives, what save writes, and what it refuses."""

import numpy as np
import pytest

from flatlite.schema.errors import ModelError
from flatlite.schema.flatbuffer import parse, record
from flatlite.schema.model import Model, Operator, Quantization, Subgraph, Tensor, load, save


def constant(data, dtype="FLOAT32", **fields):
    """A model with one constant."""
    return Model([Subgraph("", [Tensor("t", np.shape(data), dtype, data, **fields)])])


def loaded(model):
    """The first tensor of a model, written and read."""
    return load(save(model)).subgraphs[0].tensors[0]


def test_samples_survive(sample):
    content = save(sample)
    again = load(content)
    assert save(again) == content
    for subgraph in sample.subgraphs:
        for tensor in subgraph.tensors:
            if tensor.name == "words":
                tensor.data = again.subgraphs[0].tensors[3].data
    assert again == sample


def test_every_part_of_a_model_counts(samples):
    for make, change in CHANGES:
        model, changed = load(save(samples[make])), load(save(samples[make]))
        assert model == changed
        change(changed)
        assert model != changed, change
        assert load(save(changed)) == changed


def change_bias(model):
    model.subgraphs[0].tensors[2].data = np.array([0, 0, 0, -0.0], "f4")


def change_level(model):
    model.subgraphs[0].tensors[1].sparsity.dim_metadata[1].array_indices.values = np.array(
        [0, 2, 1], "u1"
    )


CHANGES = [
    ("classifier", change_bias),
    ("classifier", lambda m: setattr(m.subgraphs[0].tensors[0], "shape_signature", None)),
    ("classifier", lambda m: m.metadata.update(empty=b"no more")),
    ("classifier", lambda m: setattr(m.signatures[0], "key", "other")),
    ("classifier", lambda m: setattr(m.subgraphs[0].operators[0].options, "stride_w", 3)),
    ("classifier", lambda m: setattr(m, "description", "")),
    ("quantized", lambda m: setattr(m.subgraphs[0].tensors[1].quantization, "max", None)),
    ("quantized", lambda m: setattr(m.subgraphs[0].tensors[5].quantization.details, "scales", 0)),
    ("quantized", lambda m: setattr(m.subgraphs[0].operators[0], "version", 4)),
    ("control_flow", lambda m: setattr(m.subgraphs[3].tensors[0], "variant_tensors", ())),
    ("control_flow", lambda m: setattr(m.subgraphs[0], "debug_metadata_index", -1)),
    ("unusual", change_level),
    ("unusual", lambda m: setattr(m.subgraphs[0].tensors[4], "is_variable", False)),
    ("unusual", lambda m: setattr(m.subgraphs[0].tensors[5], "has_rank", True)),
    ("unusual", lambda m: setattr(m.subgraphs[0].tensors[7], "data", None)),
    ("unusual", lambda m: setattr(m.subgraphs[0].operators[1], "intermediates", [])),
    ("unusual", lambda m: setattr(m.subgraphs[0].operators[1], "mutating_variable_inputs", None)),
    ("unusual", lambda m: setattr(m.subgraphs[0].operators[1], "custom_code", "Other")),
    ("unusual", lambda m: setattr(m.subgraphs[0].operators[1], "custom_options", None)),
    ("unusual", lambda m: m.metadata_buffer.pop()),
    ("unusual", lambda m: setattr(m.external_buffers[0], "length", 8)),
    ("unusual", lambda m: setattr(m.external_buffer_groups[0], "name", "other.bin")),
]


def test_equal_constants_are_stored_once():
    data = np.arange(1000, dtype="f4")
    one, many = (
        save(Model([Subgraph("", [Tensor("t", (1000,), data=data.copy()) for _ in range(n)])]))
        for n in (1, 5)
    )
    assert len(many) < len(one) + 500
    assert len(parse(many).buffers) == 2
    assert parse(many).buffers[0].data is None


def test_tensors_that_are_not_constant_have_the_empty_buffer(samples):
    root = parse(save(samples["classifier"]))
    assert [tensor.buffer for tensor in root.subgraphs[0].tensors][:2] == [0, 1]


def test_one_operator_code_for_one_operator(samples):
    operators = samples["classifier"].subgraphs[0].operators
    operators[3] = Operator("CONV_2D", [0, 1, 2], [10], record("Conv2DOptions")(), version=2)
    root = parse(save(samples["classifier"]))
    assert [(code.builtin_code, code.version) for code in root.operator_codes] == [
        (3, 1),
        (22, 1),
        (9, 1),
        (3, 2),
    ]


def test_constants_are_views_of_the_file():
    content = bytearray(save(constant(np.arange(6, dtype="f4").reshape(2, 3))))
    data = load(content).subgraphs[0].tensors[0].data
    assert data.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert not data.flags.writeable
    assert np.shares_memory(data, np.frombuffer(content, "u1"))


@pytest.mark.parametrize("order", ["<", ">"])
def test_bytes_are_little_endian(order):
    data = np.array([1, 2], f"{order}i2")
    assert save(constant(data, "INT16")) == save(constant(data.astype("<i2"), "INT16"))


def test_an_array_that_is_not_contiguous():
    data = np.arange(12, dtype="f4").reshape(3, 4).T
    assert np.array_equal(loaded(constant(data)).data, data)


def test_nan_is_equal_to_itself():
    model = constant(np.array([np.nan], "f4"))
    assert load(save(model)) == model


@pytest.mark.parametrize(
    ("name", "values", "packed"),
    [
        ("INT4", [1, -2, 7, -8, 3], "e1 87 03"),
        ("UINT4", [1, 14, 7, 8, 3], "e1 87 03"),
        ("INT2", [1, -2, 0, -1, 1], "c9 01"),
    ],
)
def test_types_that_share_bytes_are_packed(name, values, packed):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    data = np.array(values).astype(getattr(ml_dtypes, name.lower()))
    assert loaded(constant(data, name)).data == bytes.fromhex(packed)


def test_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    data = np.array([1.5, float("nan")], ml_dtypes.bfloat16)
    model = constant(data, "BFLOAT16")
    assert load(save(model)) == model


def test_strings_are_written_as_a_table():
    tensor = loaded(constant(np.array(["one", b"two"], object), "STRING"))
    assert tensor.data.endswith(b"onetwo")


def test_an_operator_that_lists_no_variable_it_writes():
    model = Model([Subgraph("", [Tensor()], [], [], [Operator("RELU", [0], [])])])
    model.subgraphs[0].operators[0].mutating_variable_inputs = [False]
    assert load(save(model)).subgraphs[0].operators[0].mutating_variable_inputs is None


def test_an_empty_quantization_is_none():
    root = Model([Subgraph("", [Tensor()])])
    root.subgraphs[0].tensors[0].quantization = Quantization(np.zeros(0, "f4"), np.zeros(0, "i8"))
    assert loaded(root).quantization is None


REFUSED = [
    (constant(np.zeros(3, "f8")), "tensor 't': data must be float32, got float64"),
    (constant(b"123"), "subgraph 0: tensor 0 't': FLOAT32 of shape .* needs .* bytes"),
    (
        constant(np.zeros(3, "f4"), "FLOAT33"),
        "tensor 't': dtype must be a TensorType, got 'FLOAT33'",
    ),
    (
        Model([Subgraph("", [Tensor("t", (4,), data=np.zeros(3, "f4"))])]),
        r"tensor 't': data must have the shape \(4,\), got \(3,\)",
    ),
    (
        Model([Subgraph("", [], [], [], [Operator("CONV2D", [], [])])]),
        "operator must be one of the schema's, got 'CONV2D'",
    ),
    (
        Model([Subgraph("", [Tensor()], [], [], [Operator("RELU", [0], [1])])]),
        r"subgraph 0: operator 0 \(RELU\): output 0 must be a tensor in \[0, 1\), got 1",
    ),
    (
        Model([Subgraph("", [], [], [], [Operator("RELU", [], [], record("AddOptions")())])]),
        None,
    ),
    (
        Model([Subgraph("", [], [], [], [Operator("ADD", [], [], record("MulOptions")())])]),
        r"operator 0 \(ADD\): options must be AddOptions, got MulOptions",
    ),
    (Model([Subgraph("", [], [], [], [Operator("CUSTOM", [], [])])]), "has no custom_code"),
    (Model([]), "No subgraph in the model."),
]


@pytest.mark.parametrize(("model", "message"), REFUSED)
def test_what_is_not_written(model, message):
    if message is None:
        assert load(save(model)) == model
        return
    with pytest.raises(ModelError, match=message):
        save(model)
