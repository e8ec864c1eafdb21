"""Composites that run fused: equal to their decomposition, which LiteRT runs."""

from pathlib import Path

import numpy as np
import pytest
from flatbuffers import flexbuffers

from flatlite.interpreter.interpreter import Interpreter
from flatlite.interpreter.ops import composites
from flatlite.interpreter.profile import profile

FOLDER = Path(__file__).parent / "composites"


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def run(content, inputs):
    """The results, and how many operators took time."""
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    for detail, x in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], x)
    interpreter.invoke()
    details = interpreter.get_output_details()
    return [interpreter.get_tensor(d["index"]) for d in details], len(profile(interpreter))


def check(content, inputs, litert, monkeypatch, is_fused=True, rtol=1e-5, atol=2e-6):
    """Fused, decomposed and LiteRT's results are equal but for rounding."""
    fused, n_fused = run(content, inputs)
    monkeypatch.setattr(composites, "FUSED", {})
    decomposed, n_decomposed = run(content, inputs)
    assert (n_fused < n_decomposed) == is_fused
    by_litert = litert.run(content, [inputs])
    assert isinstance(by_litert, list), by_litert
    (theirs,) = by_litert
    for mine, other, reference in zip(fused, decomposed, theirs, strict=True):
        np.testing.assert_allclose(mine, other, rtol=rtol, atol=atol)
        np.testing.assert_allclose(mine, reference, rtol=rtol, atol=atol)


@pytest.mark.parametrize("name", ["sdpa_gqa", "sdpa_mha", "l2_norm"])
def test_files_of_litert(name, litert, monkeypatch):
    content = (FOLDER / f"{name}.tflite").read_bytes()
    details = Interpreter(model_content=content).get_input_details()
    inputs = [normal(*d["shape"], seed=i) for i, d in enumerate(details)]
    check(content, inputs, litert, monkeypatch)


def test_group_norm_is_what_its_decomposition_says(litert, monkeypatch):
    """This file sums over one element: fused by its name it would be something else."""
    content = (FOLDER / "group_norm.tflite").read_bytes()
    check(content, [normal(2, 2)], litert, monkeypatch, is_fused=False)


def composite(builder, saved, name, attributes, shapes, decompose):
    """A model of one composite; `decompose(body, tensors)` adds its decomposition."""
    main, body = builder("main"), builder("body")
    xs = [main.input(f"x{i}", shape) for i, shape in enumerate(shapes)]
    inner = [body.input(f"b{i}", shape) for i, shape in enumerate(shapes)]
    result = decompose(body, inner)
    shape = body.subgraph.tensors[result].shape
    y = main.tensor("y", shape)
    main.op(
        "STABLEHLO_COMPOSITE",
        xs,
        [y],
        name=name,
        decomposition_subgraph_index=1,
        composite_attributes=np.frombuffer(bytes(flexbuffers.Dumps(attributes)), np.uint8),
    )
    return saved(main.outputs(y), body.outputs(result))


def add(b, kind, inputs, shape, **options):
    """The result of one more operator."""
    return b.op(kind, inputs, [b.tensor(f"t{len(b.subgraph.tensors)}", shape)], **options)


def scalar(b, value):
    return b.constant(f"c{len(b.subgraph.tensors)}", np.float32(value))


def rms(shape, epsilon, weighted):
    def decompose(b, xs):
        narrow = (*shape[:-1], 1)
        square = add(b, "MUL", [xs[0], xs[0]], shape)
        axis = b.constant("axis", np.int32([len(shape) - 1]))
        mean = add(b, "MEAN", [square, axis], narrow, keep_dims=True)
        root = add(b, "RSQRT", [add(b, "ADD", [mean, scalar(b, epsilon)], narrow)], narrow)
        y = add(b, "MUL", [xs[0], root], shape)
        return add(b, "MUL", [y, xs[1]], shape) if weighted else y

    return decompose


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("shape", [(3, 64), (1, 5, 100), (7,)])
def test_rms_norm(builder, saved, litert, monkeypatch, shape, weighted):
    shapes = [shape, shape[-1:]] if weighted else [shape]
    content = composite(
        builder, saved, "odml.rms_norm", {"epsilon": 1e-3}, shapes, rms(shape, 1e-3, weighted)
    )
    inputs = [normal(*s, seed=i) for i, s in enumerate(shapes)]
    check(content, inputs, litert, monkeypatch)


def gelu_by_tanh(b, xs):
    shape = (4, 9)
    cube = add(b, "MUL", [add(b, "MUL", [xs[0], xs[0]], shape), xs[0]], shape)
    inner = add(b, "ADD", [xs[0], add(b, "MUL", [cube, scalar(b, 0.044715)], shape)], shape)
    tanh = add(b, "TANH", [add(b, "MUL", [inner, scalar(b, np.sqrt(2 / np.pi))], shape)], shape)
    share = add(b, "ADD", [tanh, scalar(b, 1)], shape)
    return add(b, "MUL", [add(b, "MUL", [xs[0], scalar(b, 0.5)], shape), share], shape)


def hard_swish(b, xs):
    shape = (4, 9)
    six = add(b, "RELU6", [add(b, "ADD", [xs[0], scalar(b, 3)], shape)], shape)
    return add(b, "MUL", [add(b, "MUL", [xs[0], six], shape), scalar(b, 1 / 6)], shape)


def gelu(b, xs):
    """LiteRT has no ERF: its own GELU stands for the sum of it."""
    return add(b, "RELU", [add(b, "GELU", [xs[0]], (4, 9), approximate=False)], (4, 9))


@pytest.mark.parametrize(
    ("name", "attributes", "decompose"),
    [
        ("aten.gelu", {"approximate": "tanh"}, gelu_by_tanh),
        ("tfl.gelu", {"approximate": True}, gelu_by_tanh),
        ("aten.hardswish", {}, hard_swish),
    ],
)
def test_activations(builder, saved, litert, monkeypatch, name, attributes, decompose):
    content = composite(builder, saved, name, attributes, [(4, 9)], decompose)
    check(content, [normal(4, 9) * 3], litert, monkeypatch)


def attention(q, k, v, mask, scale, cap):
    """softmax(cap tanh(scale q k' / cap) + mask) v in float64."""
    k, v = (np.repeat(x.astype(float), q.shape[2] // x.shape[2], 2) for x in (k, v))
    logits = np.einsum("bthd,bshd->bhts", q.astype(float), k) * scale
    logits = (cap * np.tanh(logits / cap) if cap else logits) + mask
    shares = np.exp(logits - logits.max(-1, keepdims=True))
    return np.einsum("bhts,bshd->bthd", shares / shares.sum(-1, keepdims=True), v)


@pytest.mark.parametrize("mask", [(1, 1, 1, 7), (2, 1, 5, 7), (1, 6, 1, 7), None])
@pytest.mark.parametrize(("scale", "cap"), [(0.3, 0.0), (None, 2.0)])
@pytest.mark.parametrize("groups", [1, 2, 6])
def test_attention_by_definition(builder, saved, mask, scale, cap, groups):
    shapes = [(2, 5, 6, 8), (2, 7, groups, 8), (2, 7, groups, 4), *([mask] if mask else [])]
    attributes = {"logit_cap": cap} | ({} if scale is None else {"scale": scale})

    def decompose(b, xs):  # of the right shape; the name is known, and it does not run
        zeros = b.constant("zeros", np.zeros((2, 5, 6, 4), np.float32))
        return add(b, "ADD", [zeros, zeros], (2, 5, 6, 4))

    content = composite(
        builder, saved, "odml.scaled_dot_product_attention", attributes, shapes, decompose
    )
    inputs = [normal(*s, seed=i) for i, s in enumerate(shapes)]
    (y,), _ = run(content, inputs)
    extra = inputs[3] if mask else 0
    want = attention(*inputs[:3], extra, 8**-0.5 if scale is None else scale, cap)
    np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-6)


def cache_model(builder, saved, steps):
    """Caches of seven steps, `steps` of them replaced; the decomposition writes them in a row."""
    main, body = builder("main"), builder("body")
    shapes = [(1, 7, 2, 3)] * 2 + [(steps,)] + [(1, steps, 2, 3)] * 2
    kinds = ["FLOAT32", "FLOAT32", "INT32", "FLOAT32", "FLOAT32"]
    xs, inner = (
        [b.input(f"x{i}", s, k) for i, (s, k) in enumerate(zip(shapes, kinds, strict=True))]
        for b in (main, body)
    )
    first = body.tensor("first", (1,), "INT32")
    ends = [body.constant(name, np.int32([n])) for name, n in (("begin", 0), ("size", 1))]
    body.op("SLICE", [inner[2], *ends], [first])
    zero = body.constant("zero", np.int32([0]))
    start = body.tensor("start", (4,), "INT32")
    body.op("CONCATENATION", [zero, first, zero, zero], [start], axis=0)
    results = [
        add(body, "DYNAMIC_UPDATE_SLICE", [inner[i], inner[3 + i], start], shapes[0])
        for i in range(2)
    ]
    ys = [main.tensor(f"y{i}", shapes[0]) for i in range(2)]
    main.op(
        "STABLEHLO_COMPOSITE",
        xs,
        ys,
        name="odml.update_kv_cache",
        decomposition_subgraph_index=1,
        composite_attributes=np.frombuffer(bytes(flexbuffers.Dumps({"kv_cache_max": 7})), np.uint8),
    )
    return saved(main.outputs(*ys), body.outputs(*results))


@pytest.mark.parametrize("steps", [1, 3])
def test_update_kv_cache(builder, saved, litert, monkeypatch, steps):
    caches = [normal(1, 7, 2, 3, seed=i) for i in range(2)]
    updates = [normal(1, steps, 2, 3, seed=2 + i) for i in range(2)]
    inputs = [*caches, np.arange(2, 2 + steps, dtype=np.int32), *updates]
    check(cache_model(builder, saved, steps), inputs, litert, monkeypatch, rtol=0, atol=0)


def test_update_kv_cache_leaves_out_steps_that_there_are_not(builder, saved):
    caches = [normal(1, 7, 2, 3, seed=i) for i in range(2)]
    updates = [normal(1, 3, 2, 3, seed=2 + i) for i in range(2)]
    steps = np.int32([6, -1, 7])
    answers, _ = run(cache_model(builder, saved, 3), [*caches, steps, *updates])
    for output, cache, update in zip(answers, caches, updates, strict=True):
        cache[:, 6] = update[:, 0]
        assert np.array_equal(output, cache)


@pytest.mark.parametrize(
    ("name", "attributes", "shapes"),
    [
        ("odml.rms_norm", {"epsilon": "x"}, [(3, 4)]),
        ("odml.rms_norm", {"epsilon": 0.1}, [(3, 4), (3,)]),
        ("odml.l2_norm", {"axis": 0}, [(3, 4)]),
        ("aten.gelu", {"approximate": "exact"}, [(3, 4)]),
        ("odml.scaled_dot_product_attention", {}, [(3, 4)] * 3),
        ("somebody.elses", {}, [(3, 4)]),
    ],
)
def test_what_is_not_as_defined_runs_by_its_decomposition(builder, saved, name, attributes, shapes):
    def decompose(b, xs):
        return add(b, "NEG", [xs[0]], shapes[0])

    content = composite(builder, saved, name, attributes, shapes, decompose)
    inputs = [normal(*s, seed=i) for i, s in enumerate(shapes)]
    assert np.array_equal(run(content, inputs)[0][0], -inputs[0])


def test_exact_gelu_is_tensorflows(builder, saved):
    """x times the share of the normal distribution, by erfc in float64."""
    from math import erfc

    content = composite(builder, saved, "aten.gelu", {"approximate": "none"}, [(4, 9)], gelu)
    x = normal(4, 9) * 3
    (y,), _ = run(content, [x])
    want = [0.5 * v * erfc(-v / 2**0.5) for v in x.ravel().tolist()]
    np.testing.assert_allclose(y.ravel(), want, rtol=1e-6, atol=1e-7)
