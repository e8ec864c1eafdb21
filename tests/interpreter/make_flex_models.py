"""Writes flex/*.tflite with TensorFlow's converter and SELECT_TF_OPS, and what TensorFlow answers.

    .venv-tensorflow/bin/python tests/interpreter/make_flex_models.py           # all
    .venv-tensorflow/bin/python tests/interpreter/make_flex_models.py queued    # these alone

Each function becomes a file; its inputs and TensorFlow's results are in flex/runs.npz.
custom_goldens.npz has TensorFlow's answers for custom operators that LiteRT in Python lacks.
"""

import sys
from pathlib import Path

import numpy as np
import tensorflow as tf

HERE = Path(__file__).parent
RANDOM = np.random.default_rng(0)


def normal(*shape):
    return RANDOM.normal(size=shape).astype(np.float32)


MODELS = {
    "elementwise": (lambda x: tf.atan(x) + tf.cosh(x * 2), [normal(3, 4)]),
    "cholesky": (
        lambda x: tf.linalg.cholesky(tf.matmul(x, x, transpose_b=True) + tf.eye(3)),
        [normal(3, 3)],
    ),
    "inverse_and_determinant": (
        lambda x: (tf.linalg.inv(x), tf.linalg.det(x)),
        [normal(2, 3, 3) + 2 * np.eye(3, dtype=np.float32)],
    ),
    "triangular_solve": (tf.linalg.triangular_solve, [np.tril(normal(3, 3)) + 3, normal(3, 2)]),
    "dynamic_shape": (
        lambda x: tf.raw_ops.UniqueV2(x=x, axis=[0])[0] * 2,
        [np.int32([3, 1, 3, 2, 1])],
    ),
    "several_results": (
        lambda x: tuple(tf.raw_ops.UniqueV2(x=x, axis=[1])),
        [np.int32([[3, 1, 3], [2, 1, 2]])],
    ),
    "max_pool_3d": (lambda x: tf.nn.max_pool3d(x, 2, 2, "SAME"), [normal(1, 5, 4, 3, 2)]),
    "in_a_loop": (
        lambda x: tf.while_loop(
            lambda i, y: i < 3, lambda i, y: (i + 1, tf.atan(y) * 2), (tf.constant(0), x)
        )[1],
        [normal(2, 3)],
    ),
    "random": (
        lambda x: x + tf.raw_ops.TruncatedNormal(shape=[2, 3], dtype=tf.float32, seed=3, seed2=5),
        [normal(2, 3)],
    ),
}
LATER = np.random.default_rng(1)
"""For models that came later: those above keep their inputs."""
TURN = [[0.8, -0.6, 1.5, 0.6, 0.8, -1.0, 0.05, 0.0]]


def spoken(samples):
    """The cepstra of sound."""
    spectrogram = tf.raw_ops.AudioSpectrogram(
        input=samples, window_size=400, stride=160, magnitude_squared=True
    )
    return tf.raw_ops.Mfcc(spectrogram=spectrogram, sample_rate=16000)


def turned(images):
    """Images seen through a transform."""
    return tf.raw_ops.ImageProjectiveTransformV3(
        images=images, transforms=TURN, output_shape=[6, 5], fill_value=0.5,
        interpolation="BILINEAR", fill_mode="REFLECT",
    )  # fmt: skip


def looked_up(keys, values, default):
    """A module with a lookup table of TensorFlow's, that is a Flex operator for these types."""
    module = tf.Module()
    pairs = tf.lookup.KeyValueTensorInitializer(tf.constant(keys), tf.constant(values))
    module.table = tf.lookup.StaticHashTable(pairs, default)
    module.function = lambda x: (module.table.lookup(x), module.table.size())
    return module


def counted():
    """A module whose table changes in each run."""
    module = tf.Module()
    module.table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, 0)

    def function(words):
        counts = module.table.lookup(words) + 1
        with tf.control_dependencies([module.table.insert(words, counts)]):
            return tf.identity(counts), module.table.size()

    module.function = function
    return module


def remembered():
    """A module with a variable, changed by operations that TFLite has no other form of."""
    module = tf.Module()
    module.variable = tf.Variable(np.zeros((4, 3), np.float32))

    def function(base, places, values):
        raw, variable = tf.raw_ops, module.variable
        variable.assign(base)
        raw.ResourceScatterNdUpdate(ref=variable.handle, indices=places, updates=values)
        raw.ResourceScatterNdAdd(ref=variable.handle, indices=places, updates=values * 2)
        return variable.gather_nd(places), variable.read_value()

    module.function = function
    return module


def collected(rows):
    """Rows that go through a tensor array, and through a stack."""
    raw = tf.raw_ops
    array, flow = raw.TensorArrayV3(size=4, dtype=tf.float32, dynamic_size=True)
    flow = raw.TensorArrayScatterV3(handle=array, indices=[0, 1], value=rows, flow_in=flow)
    flow = raw.TensorArrayWriteV3(handle=array, index=2, value=rows[1] * 3, flow_in=flow)
    flow = raw.TensorArrayWriteV3(handle=array, index=5, value=rows[0] - 1, flow_in=flow)
    row = raw.TensorArrayReadV3(handle=array, index=2, flow_in=flow, dtype=tf.float32)
    size = raw.TensorArraySizeV3(handle=array, flow_in=flow)
    several = raw.TensorArrayGatherV3(handle=array, indices=[5, 0], flow_in=flow, dtype=tf.float32)
    stack = raw.StackV2(max_size=4, elem_type=tf.float32)
    pushed = raw.StackPushV2(handle=stack, elem=rows * 2)
    with tf.control_dependencies([raw.StackPushV2(handle=stack, elem=pushed + 1)]):
        popped = raw.StackPopV2(handle=stack, elem_type=tf.float32)
    return row, size, several, popped


def drawn(logits):
    """Numbers that follow from seeds."""
    raw = tf.raw_ops
    shape, seed = [2, 3], [3, 4]
    return (
        raw.StatelessMultinomial(logits=logits, num_samples=5, seed=[1, 2]),
        raw.StatelessRandomGammaV2(shape=shape, seed=seed, alpha=[1.0, 2.0, 3.0]),
        raw.StatelessRandomPoisson(shape=shape, seed=seed, lam=[1.0, 20.0, 3.0], dtype=tf.int32),
    )


def as_others(base, places):
    """Operations that do what others with other names do."""
    raw = tf.raw_ops
    added = raw.ScatterNdNonAliasingAdd(input=base, indices=places, updates=base[:2])
    return raw.DeepCopy(x=base) + 1, added, raw.DebugGradientIdentity(input=base) * 2


def shown(x):
    """What is printed on the way."""
    tf.print("x is", x)
    return x + 1


def queued(x):
    """Elements that go through a queue."""
    raw = tf.raw_ops
    queue = raw.FIFOQueueV2(component_types=[tf.float32], shapes=[[3]], capacity=8)
    with tf.control_dependencies([raw.QueueEnqueueV2(handle=queue, components=[x[0]])]):
        all_rows = raw.QueueEnqueueManyV2(handle=queue, components=[x * 2])
    with tf.control_dependencies([all_rows]):
        size = raw.QueueSizeV2(handle=queue)
    with tf.control_dependencies([size]):
        (one,) = raw.QueueDequeueV2(handle=queue, component_types=[tf.float32])
    with tf.control_dependencies([one]):
        (two,) = raw.QueueDequeueManyV2(handle=queue, n=2, component_types=[tf.float32])
    return size, one, two, raw.QueueIsClosedV2(handle=queue)


def optional(x):
    """A value, and none."""
    raw = tf.raw_ops
    some, none = raw.OptionalFromValue(components=[x]), raw.OptionalNone()
    (value,) = raw.OptionalGetValue(
        optional=some, output_types=[tf.float32], output_shapes=[x.shape]
    )
    return raw.OptionalHasValue(optional=some), raw.OptionalHasValue(optional=none), value


def mapped(key, value):
    """Tensors by keys."""
    raw = tf.raw_ops
    entries = raw.TensorMapInsert(input_handle=raw.EmptyTensorMap(), key=key, value=value)
    keys = raw.TensorMapStackKeys(input_handle=entries, key_dtype=tf.int32)
    entries = raw.TensorMapInsert(input_handle=entries, key=key + 1, value=value * 2)
    fewer = raw.TensorMapErase(input_handle=entries, key=key, value_dtype=tf.float32)
    return (
        raw.TensorMapSize(input_handle=entries),
        raw.TensorMapHasKey(input_handle=fewer, key=key),
        raw.TensorMapLookup(input_handle=entries, key=key, value_dtype=tf.float32),
        keys,
        raw.TensorMapSize(input_handle=fewer),
    )


def rows_of_rows(values, inner, outer):
    """Ragged tensors as variants and back, whole and row by row."""
    raw, splits = tf.raw_ops, [outer, inner]
    ranks = {"output_ragged_rank": 2, "Tvalues": tf.float32, "Tsplits": tf.int64}
    results = []
    for batched in (False, True):
        encoded = raw.RaggedTensorToVariant(
            rt_nested_splits=splits, rt_dense_values=values, batched_input=batched
        )
        decoded = raw.RaggedTensorFromVariant(
            encoded_ragged=encoded, input_ragged_rank=2 - batched, **ranks
        )
        results += [*decoded[0], decoded[1]]
    rows = raw.RaggedTensorToVariant(
        rt_nested_splits=[inner], rt_dense_values=values, batched_input=True
    )
    gradient = raw.RaggedTensorToVariantGradient(
        encoded_ragged_grad=rows, row_splits=inner, dense_values_shape=[5], Tvalues=tf.float32
    )
    return (*results, gradient)


def listed(x):
    """Lists of tensors, one behind another and with one more."""
    raw = tf.raw_ops
    one, other = (raw.TensorListFromTensor(tensor=y, element_shape=[3]) for y in (x, x * 2))
    both = raw.TensorListConcatLists(input_a=one, input_b=other, element_dtype=tf.float32)
    longer = raw.TensorListPushBackBatch(
        input_handles=raw.Pack(values=[one, other], axis=0), tensor=x
    )
    return (
        raw.TensorListStack(input_handle=both, element_shape=[3], element_dtype=tf.float32),
        raw.TensorListLength(input_handle=longer[0]),
    )


def codes(x):
    """Quantized numbers of TensorFlow 1."""
    raw = tf.raw_ops

    def plain(codes, low, high):
        return raw.Dequantize(input=codes, min_range=low, max_range=high)

    x = raw.QuantizeV2(input=x, min_range=-3.0, max_range=9.0, T=tf.quint8)
    ends = {"min_features": x.output_min, "max_features": x.output_max}
    cut = raw.QuantizedRelu(features=x.output, out_type=tf.quint8, **ends)
    six = raw.QuantizedRelu6(features=x.output, out_type=tf.quint8, **ends)
    flat = raw.QuantizedReshape(tensor=six[0], shape=[8, 4], input_min=six[1], input_max=six[2])
    return plain(*cut), plain(*flat)


def stepped():
    """A module whose variables optimizers change that no other file has."""
    module, raw = tf.Module(), tf.raw_ops
    module.slots = [tf.Variable(np.ones((2, 3), np.float32)) for _ in range(4)]

    def function(gradient, rows):
        var, m, v, vhat = (slot.handle for slot in module.slots)
        step = {"var": var, "lr": 0.1, "grad": gradient}
        momentum = {**step, "accum": m, "momentum": 0.9}
        moments = {"beta1_power": 0.9, "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-7}
        signs = {**step, "m": m, "sign_decay": 0.9, "beta": 0.9}
        raw.ResourceApplyKerasMomentum(use_nesterov=True, **momentum)
        raw.ResourceSparseApplyKerasMomentum(indices=rows, **momentum)
        raw.ResourceApplyAdamWithAmsgrad(m=m, v=v, vhat=vhat, beta2_power=0.99, **moments, **step)
        raw.ResourceApplyAdaMax(m=m, v=v, **moments, **step)
        raw.ResourceApplyAddSign(alpha=1.0, **signs)
        raw.ResourceApplyPowerSign(logbase=1.0, **signs)
        return [slot.read_value() for slot in module.slots]

    module.function = function
    return module


def keyed(alpha, boxes):
    """Numbers that follow from keys, and parts of images at random."""
    raw = tf.raw_ops
    algorithm, keys = raw.StatelessRandomGetAlg(), raw.StatelessRandomGetKeyCounterAlg(seed=[1, 2])
    gamma = raw.StatelessRandomGammaV3(
        shape=[2, 3], key=keys.key, counter=keys.counter, alg=algorithm, alpha=alpha
    )
    part = {"image_size": [40, 50, 3], "bounding_boxes": boxes, "min_object_covered": 0.1}
    fixed = raw.StatelessSampleDistortedBoundingBox(seed=[1, 2], **part)
    drawn = raw.SampleDistortedBoundingBoxV2(seed=1, seed2=2, **part)
    return algorithm, *keys, gamma, *fixed, *drawn


def crossed(numbers, words):
    """Crosses of features as numbers, and numbers that are looked at."""
    raw = tf.raw_ops
    now = tf.cast(raw.Timestamp() * 0, tf.int64)
    weak, strong = (
        raw.SparseCrossHashed(
            indices=[], values=[], shapes=[], dense_inputs=inputs, num_buckets=100,
            strong_hash=strong, salt=[1, 2],
        )
        for inputs, strong in (([numbers, words], False), ([words, words], True))
    )  # fmt: skip
    real = raw.CheckNumericsV2(tensor=tf.cast(numbers, tf.float32), message="m")
    return weak.output_indices, weak.output_values + now, strong.output_values, real


WORDS = np.array([b"two", b"none", b"one"])
MODELS |= {
    "spoken": (spoken, [LATER.normal(size=(1600, 1)).astype(np.float32)]),
    "turned": (turned, [LATER.normal(size=(2, 5, 7, 3)).astype(np.float32)]),
    "words_to_words": (looked_up(["one", "two"], ["un", "deux"], "?"), [WORDS]),
    "words_to_numbers": (looked_up(["one", "two"], [1.5, 2.5], -1.0), [WORDS]),
    "numbers_to_numbers": (
        looked_up(np.int64([3, 5]), np.int64([30, 50]), np.int64(-1)),
        [np.int64([[5, 4], [3, 3]])],
    ),
    "counted_words": (counted(), [WORDS]),
    "remembered": (remembered(), [normal(4, 3), np.int32([[3, 1], [0, 2]]), np.float32([5, 7])]),
    "collected": (collected, [normal(2, 3)]),
    "shown": (shown, [normal(2)]),
    "drawn": (drawn, [np.float32([[0, 1, 2]])]),
    "as_others": (as_others, [normal(3, 2), np.int32([[0], [0]])]),
}
LAST = np.random.default_rng(2)
BOXES = np.float32([[[0.1, 0.2, 0.8, 0.9]]])
MODELS |= {
    "queued": (queued, [LAST.normal(size=(2, 3)).astype(np.float32)]),
    "optional": (optional, [LAST.normal(size=2).astype(np.float32)]),
    "mapped": (mapped, [np.int32(3), LAST.normal(size=2).astype(np.float32)]),
    "rows_of_rows": (
        rows_of_rows,
        [LAST.normal(size=5).astype(np.float32), np.int64([0, 2, 2, 5]), np.int64([0, 1, 3])],
    ),
    "listed": (listed, [LAST.normal(size=(2, 3)).astype(np.float32)]),
    "codes": (codes, [5 * LAST.normal(size=(1, 4, 4, 2)).astype(np.float32)]),
    "stepped": (stepped(), [LAST.normal(size=(2, 3)).astype(np.float32), np.int32([1, 0])]),
    "keyed": (keyed, [np.float32([1, 2, 3]), BOXES]),
    "crossed": (crossed, [np.int64([[1, 2], [3, 4]]), np.array([[b"a", b"b"], [b"c", b"d"]])]),
}


def convert(function, inputs):
    """A file of a function, and TensorFlow's results."""
    specs = [tf.TensorSpec(x.shape, tf.string if x.dtype.kind == "S" else x.dtype) for x in inputs]
    module = function if isinstance(function, tf.Module) else None
    traced = tf.function(function if module is None else module.function)
    concrete = traced.get_concrete_function(*specs)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete], module)
    converter.target_spec.supported_ops = [
        tf.lite.OpsSet.TFLITE_BUILTINS,
        tf.lite.OpsSet.SELECT_TF_OPS,
    ]
    content = converter.convert()  # with variables as they are before the first run
    results = tf.nest.flatten(concrete(*map(tf.constant, inputs)))
    return content, [np.asarray(plain(result.numpy())) for result in results]


def plain(array):
    """Strings as bytes, which no pickle is needed for."""
    return array.astype(bytes) if array.dtype == object else array


def main():
    names, runs = sys.argv[1:], HERE / "flex" / "runs.npz"
    arrays = dict(np.load(runs)) if names else {}
    for name, (function, inputs) in MODELS.items():
        if names and name not in names:
            continue
        content, results = convert(function, inputs)
        (HERE / "flex" / f"{name}.tflite").write_bytes(content)
        for kind, listed in (("in", inputs), ("tf", results)):
            arrays.update((f"{name}:{kind}:{i}", x) for i, x in enumerate(listed))
    np.savez_compressed(runs, **arrays)
    if not names:
        np.savez_compressed(HERE / "custom_goldens.npz", **custom_goldens())


def custom_goldens():
    """Inputs and results of TensorFlow's operations that custom operators are named after."""
    arrays = {}

    def put(name, inputs, results):
        for kind, listed in (("in", inputs), ("tf", results)):
            for i, x in enumerate(listed):
                arrays[f"{name}:{kind}:{i}"] = np.asarray(x)

    x = normal(1, 6, 7, 5, 2)
    for padding in ("SAME", "VALID"):
        for kind, function in (("Max", tf.raw_ops.MaxPool3D), ("Avg", tf.raw_ops.AvgPool3D)):
            y = function(input=x, ksize=[1, 2, 3, 2, 1], strides=[1, 2, 2, 1, 1], padding=padding)
            put(f"{kind}Pool3D_{padding}", [x], [y])
        image = normal(1, 7, 6, 3)
        y = tf.raw_ops.MaxPoolWithArgmax(
            input=image, ksize=[1, 3, 2, 1], strides=[1, 2, 2, 1], padding=padding
        )
        put(f"MaxPoolWithArgmax_{padding}", [image], y)
    x, shift, axis = normal(4, 5, 6), np.int32([2, -7, 3]), np.int32([0, 1, 0])
    put("Roll", [x, shift, axis], [tf.roll(x, shift, axis)])
    x = (normal(2, 4, 5) + 1j * normal(2, 4, 5)).astype(np.complex64)
    put("IRFFT2D", [x, np.int32([8, 8])], [tf.signal.irfft2d(x, [8, 8])])
    for name, pair in (("a", ([2, 1, 5], [3, 5])), ("b", ([1, 4], [3, 1])), ("c", ([2], [2]))):
        pair = [np.int32(shape) for shape in pair]
        put(
            f"BroadcastGradientArgs_{name}",
            pair,
            tf.raw_ops.BroadcastGradientArgs(s0=pair[0], s1=pair[1]),
        )
    for merge in (False, True):
        logits, lengths = normal(9, 3, 5) * 2, np.int32([9, 4, 7])
        decoded = tf.raw_ops.CTCBeamSearchDecoder(
            inputs=logits, sequence_length=lengths, beam_width=8, top_paths=3, merge_repeated=merge
        )
        put(
            f"CTCBeamSearchDecoder_{merge}",
            [logits, lengths],
            [*(x for part in decoded[:3] for x in part), decoded[3]],
        )
    return arrays | example_goldens()


def example_goldens():
    """Two serialized Examples, and what ParseExampleV2 makes of them."""

    def example(**features):
        return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()

    ints = [tf.train.Feature(int64_list=tf.train.Int64List(value=v)) for v in ([1, 2, 3], [4])]
    reals = tf.train.Feature(float_list=tf.train.FloatList(value=[0.5, -1.5]))
    words = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"\x00ab"]))
    serialized = [example(i=ints[0], f=reals, s=words), example(i=ints[1])]
    parsed = tf.raw_ops.ParseExampleV2(
        serialized=serialized,
        names=[],
        sparse_keys=["i"],
        dense_keys=["f", "s"],
        ragged_keys=[],
        dense_defaults=[np.float32([7, 8]), np.array([b"none"])],
        num_sparse=1,
        sparse_types=[tf.int64],
        ragged_value_types=[],
        ragged_split_types=[],
        dense_shapes=[[2], [1]],
    )
    listed = [parsed.sparse_indices, parsed.sparse_values, parsed.sparse_shapes]
    listed = [part[0] for part in listed] + [*parsed.dense_values]
    arrays = {f"ParseExampleV2:tf:{i}": x.numpy() for i, x in enumerate(listed)}
    arrays["ParseExampleV2:tf:4"] = arrays["ParseExampleV2:tf:4"].astype("S")
    return arrays | {f"example:{i}": np.frombuffer(x, np.uint8) for i, x in enumerate(serialized)}


if __name__ == "__main__":
    main()
