"""What operations on lists of tensors refuse, as function_errors has it."""


def _made(shape: str, n: int = 2) -> str:
    options = f"element_shape={shape}, num_elements={n}, element_dtype=tf.float32"
    return f"tf.raw_ops.TensorListReserve({options})"


def _set(handle: str, index: int, item: str) -> str:
    return f"tf.raw_ops.TensorListSetItem(input_handle={handle}, index={index}, item={item})"


def _read(op: str, handle: str, shape: str = "[-1]", **options: str) -> str:
    options = {"element_dtype": "tf.float32", **options}
    words = "".join(f", {name}={value}" for name, value in options.items())
    return f"tf.raw_ops.TensorList{op}(input_handle={handle}, element_shape={shape}{words})"


def _from(op: str, shape: str, **options: str) -> str:
    """How many elements a list has that is made of a tensor."""
    words = "".join(f", {name}={value}" for name, value in options.items())
    handle = f"tf.raw_ops.TensorList{op}(element_shape={shape}{words})"
    return f"tf.raw_ops.TensorListLength(input_handle={handle})"


_PAIR, _UNEVEN = "D([1., 2.])", _set(_set(_made("[-1]"), 0, "D([1.])"), 1, "D([1., 2.])")
_UNEVEN_ROWS = _set(_set(_made("[-1, -1]"), 0, "D([[1.]])"), 1, "D([[1., 2.]])")
_EMPTY = (
    "tf.raw_ops.EmptyTensorList(element_shape=[4], max_num_elements=-1, element_dtype=tf.float32)"
)
_ROWS = "D([[1., 2.], [3., 4.]])"
_LENGTHS = "tf.constant([1, 2], tf.int64)"
_NONE = "tf.constant([], tf.int64)"

RUNS = [
    (
        _read("Stack", _set(_made("[4]"), 0, _PAIR)),
        (
            "Tried to set a tensor with incompatible shape at a list index. Item element shape: "
            "[2] list shape: [4]"
        ),
    ),
    (
        _read("Stack", f"tf.raw_ops.TensorListPushBack(input_handle={_EMPTY}, tensor={_PAIR})"),
        (
            "Tried to append a tensor with incompatible shape to a list. Op element shape: [2] "
            "list shape: [4]"
        ),
    ),
    (
        _read("Stack", _set(_made("[1]"), 0, "D([3])")),
        "Invalid data types; op elements int32 but list elements float",
    ),
    (_read("Stack", _UNEVEN), "PartialTensorShape: Incompatible shapes during merge: [1] vs. [2]"),
    (
        _read("Gather", _UNEVEN, indices="[0, 1]"),
        "PartialTensorShape: Incompatible shapes during merge: [1] vs. [2]",
    ),
    (
        _read("ConcatV2", _UNEVEN_ROWS, "[-1, -1]", leading_dims=_NONE),
        "PartialTensorShape: Incompatible shapes during merge: [1] vs. [2]",
    ),
    (
        _read("Stack", _made("[-1]")),
        (
            "Tried to stack list which only contains uninitialized tensors and has a "
            "non-fully-defined element_shape: [?]"
        ),
    ),
    (
        _read("Stack", _made("[-1]", 0)),
        "Tried to stack elements of an empty list with non-fully-defined element_shape: [?]",
    ),
    (
        _read("GetItem", _made("[-1]"), index="0"),
        (
            "Trying to read an uninitialized tensor but element_shape is not fully defined: [?] "
            "and no list element is set."
        ),
    ),
    (
        _read("ConcatV2", _made("[-1]"), leading_dims=_NONE),
        "List contains uninitialized tensor at index 0 but leading_dims has only 0 elements.",
    ),
    (
        _read("Gather", _made("[2]"), indices="[0, 4]"),
        "Index 4 out o range; list only has 2 elements.",
    ),
    (
        _read("Stack", _made("[2]"), num_elements="3"),
        "Operation expected a list with 3 elements but got a list with 2 elements.",
    ),
    (
        _from("FromTensor", "[3]", tensor=_ROWS),
        "Specified a list with shape [3] from a tensor with shape [2]",
    ),
    (
        _from("ScatterV2", "[3]", tensor=_ROWS, indices="[0, 1]", num_elements="-1"),
        "Specified a list with shape [3] from a tensor with shape [2]",
    ),
    (
        _from("Split", "[-1]", tensor=_PAIR, lengths=_LENGTHS),
        "Attempting to slice [1, 3] from tensor with length 2",
    ),
    (
        _from("Split", "[-1]", tensor=_PAIR, lengths="tf.constant([1], tf.int64)"),
        "Unused values in tensor. Length of tensor: 2 Values used: 1",
    ),
    (
        _from("Split", "[-1]", tensor=_PAIR, lengths="tf.constant([-1, 3], tf.int64)"),
        "Invalid value in lengths: -1",
    ),
]
ERRORS = [(expr, "InvalidArgumentError", words) for expr, words in RUNS]
