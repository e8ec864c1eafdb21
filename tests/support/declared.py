"""Models of operators whose results must be declared, or that call subgraphs."""

import numpy as np
from building import Builder, save
from cases import floats

from flatlite.schema.flatbuffer import record
from flatlite.schema.tables import TENSOR_TYPE

ROWS, COLUMNS, BLOCK = 8, 16, 4
NHWC = {
    "input_batch_dimension": 0, "input_feature_dimension": 3, "input_spatial_dimensions": [1, 2],
    "kernel_input_feature_dimension": 2, "kernel_output_feature_dimension": 3,
    "kernel_spatial_dimensions": [0, 1], "output_batch_dimension": 0,
    "output_feature_dimension": 3, "output_spatial_dimensions": [1, 2],
}  # fmt: skip
"""Options of STABLEHLO_CONVOLUTION for NHWC by HWIO."""


def type_of(dtype):
    """The schema's name of a numpy type."""
    kind = np.dtype(dtype)
    return "STRING" if kind.hasobject else kind.name.upper()


def model(kind, inputs, outputs, *bodies, **options):
    """A file of one operator; outputs are (shape, dtype)."""
    b = Builder()
    tensors = [b.input(f"x{i}", x.shape, type_of(x.dtype)) for i, x in enumerate(inputs)]
    results = [b.tensor(f"y{i}", shape, type_of(t)) for i, (shape, t) in enumerate(outputs)]
    b.op(f"STABLEHLO_{kind}", tensors, results, **options)
    return save(b.outputs(*results), *bodies)


def body(kind, dtype="float32", second=(), **options):
    """A subgraph of one operator on two scalars; "second" gives the second one."""
    b = Builder("body")
    pair = [b.input(name, second, type_of(dtype)) for name in "ab"]
    if kind == "second":
        return b.outputs(pair[1])
    result = "BOOL" if kind in ("LESS", "STABLEHLO_COMPARE", "GREATER") else type_of(dtype)
    out = b.tensor("c", second, result)
    b.op(kind, pair, [out], **options)
    return b.outputs(out)


def difference():
    """a - b / 2, which no fold does at once."""
    b = Builder("body")
    x, y = (b.input(name, ()) for name in "ab")
    half, out = b.tensor("half", ()), b.tensor("out", ())
    b.op("MUL", [y, b.constant("factor", np.float32(0.5))], [half])
    b.op("SUB", [x, half], [out])
    return b.outputs(out)


def constant(b, name, array):
    kind = "STRING" if array.dtype.hasobject else array.dtype.name.upper()
    return b.tensor(name, array.shape, kind, data=array)


def handle(b, keys, values, table_id=3):
    types = {"key_dtype": TENSOR_TYPE[keys], "value_dtype": TENSOR_TYPE[values]}
    table = b.tensor("table", (1,), "RESOURCE")
    return b.op("HASHTABLE", [], [table], table_id=table_id, **types)


def lookup(key_type, keys, value_type, values, default):
    """y = the value of each x; n = how many entries; the table is filled once."""
    main, first = Builder("main"), Builder("first")
    operands = [constant(first, "keys", keys), constant(first, "values", values)]
    first.op("HASHTABLE_IMPORT", [handle(first, key_type, value_type), *operands], [])
    x = main.input("x", (2, 2), key_type)
    main.op("CALL_ONCE", [], [], init_subgraph_index=1)
    table = handle(main, key_type, value_type)
    y, n = main.tensor("y", (2, 2), value_type), main.tensor("n", (1,), "INT64")
    main.op("HASHTABLE_FIND", [table, x, constant(main, "default", default)], [y])
    main.op("HASHTABLE_SIZE", [table], [n])
    return save(main.outputs(y, n), first)


def sparse_weights(b, dtype):
    """[8, 16] in rows of blocks of 4; every other block is zero."""
    vector, level = record("Int32Vector"), record("DimensionMetadata")
    segments = np.arange(0, 2 * ROWS + 1, 2, dtype=np.int32)
    indices = np.array([(k + row) % 4 for row in range(ROWS) for k in (0, 2)], np.int32)
    indices = np.sort(indices.reshape(ROWS, 2), axis=1).ravel()
    sparsity = record("SparsityParameters")(
        traversal_order=np.array([0, 1, 2], np.int32),
        block_map=np.array([1], np.int32),
        dim_metadata=(
            level(dense_size=ROWS),
            level(format=1, array_segments=vector(values=segments),
                  array_indices=vector(values=indices)),
            level(dense_size=BLOCK),
        ),
    )  # fmt: skip
    blocks = floats(2 * ROWS, BLOCK).astype(dtype)
    dense = np.zeros((ROWS, COLUMNS), dtype)
    for i, (block, values) in enumerate(zip(indices, blocks, strict=True)):
        dense[i // 2, block * BLOCK : (block + 1) * BLOCK] = values
    kind = np.dtype(dtype).name.upper()
    tensor = b.tensor("w", dense.shape, kind, data=blocks.tobytes(), sparsity=sparsity)
    return tensor, dense


def densified():
    """y = the sparse weights, written out."""
    b = Builder()
    weights, dense = sparse_weights(b, np.float32)
    b.op("DENSIFY", [weights], [b.tensor("y", dense.shape)])
    return save(b.outputs(1))


def texts():
    """y = the pairs of words of x."""
    b = Builder()
    x, y = b.input("x", (1,), "STRING"), b.tensor("y", (0,), "STRING")
    b.op("SKIP_GRAM", [x], [y], ngram_size=2)
    return save(b.outputs(y))


def examples():
    """A file for each of these operators."""
    x, start, rows = np.zeros((2, 3), np.float32), np.float32(0), np.zeros((4, 1), np.int32)
    start, number = np.asarray(start), np.zeros((), np.int32)
    pair = [((2,), "uint64"), ((3,), "int32")]
    shapes = [np.zeros(n, np.float32) for n in ((1, 4, 4, 2), (2, 2, 2, 3))]
    fold, choice = {"body_subgraph_index": 1}, {"branch_subgraph_indices": [1]}
    loop = {"cond_subgraph_index": 1, "body_subgraph_index": 2}
    yield model("RESHAPE", [x], [((3, 2), "float32")])
    yield model("IOTA", [], [((3,), "int32")])
    yield model("BROADCAST_IN_DIM", [x], [((2, 3), "float32")], broadcast_dimensions=[0, 1])
    yield model("GATHER", [x, rows], [((4, 3), "float32")])
    yield model("DOT_GENERAL", [x, x], [((2, 2), "float32")])
    yield model("CONVOLUTION", shapes, [((1, 3, 3, 3), "float32")], **NHWC,
                feature_group_count=1, batch_group_count=1)  # fmt: skip
    yield model("RNG_BIT_GENERATOR", [np.zeros(2, np.uint64)], pair)
    yield model("REDUCE", [x, start], [((2,), "float32")], body("ADD"), **fold)
    yield model("REDUCE_WINDOW", [x, start], [((2, 3), "float32")], body("ADD"), **fold)
    yield model("SCATTER", [x, rows, np.zeros((4, 3), np.float32)], [((2, 3), "float32")],
                body("ADD"), update_computation_subgraph_index=1)  # fmt: skip
    yield model("SORT", [x], [((2, 3), "float32")], body("LESS"), comparator_subgraph_index=1)
    yield model("CASE", [number], [((), "float32")], body("ADD"), **choice)
    yield model("WHILE", [x], [((2, 3), "float32")], body("LESS"), body("ADD"), **loop)
    yield model("COMPOSITE", [x], [((2, 3), "float32")], body("ADD"),
                decomposition_subgraph_index=1)  # fmt: skip
    yield lookup("INT64", np.int64([1]), "INT64", np.int64([1]), np.int64([1]))
    yield texts()
    yield densified()
