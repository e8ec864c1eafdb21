"""ai.onnx.ml: scalers, encoders, linear models and support vector machines."""

from __future__ import annotations

import warnings

import numpy as np

from ...callers import caller
from ...lowering.moves import as_int32, as_type, int32s, like, reshaped
from ..array import gathered
from ..registry import lower
from .pairs import pair_probabilities, pairs_of
from .scores import best_label, labels_of, matrix, texts, transform_of, transformed, with_complement

DOMAIN = "ai.onnx.ml."


@lower(f"{DOMAIN}ArrayFeatureExtractor")
def array_feature_extractor(node, b):
    """The named columns."""
    x, indices = node.inputs
    x = reshaped(x, (1, -1), b) if x.rank == 1 else x
    return gathered(x, as_int32(reshaped(indices, (-1,), b), b), len(x.dims) - 1, b)


@lower(f"{DOMAIN}Binarizer")
def binarizer(node, b):
    """1 above a threshold, 0 elsewhere."""
    (x,) = node.inputs
    return b.CAST(b.GREATER(x, like(x, node.attr("threshold", 0.0), b)), dtype=x.dtype)


@lower(f"{DOMAIN}FeatureVectorizer")
def feature_vectorizer(node, b):
    """The inputs side by side."""
    parts = [matrix(b, x) for x in node.inputs]
    sizes = node.attr("inputdimensions", [x.dims[1] for x in parts])
    node.require(
        len(sizes) == len(parts), f"inputdimensions must be {len(parts)} sizes, got {sizes}"
    )
    return b.CONCATENATION(
        *(_of_columns(node, b, x, n) for x, n in zip(parts, sizes, strict=True)), axis=1
    )


def _of_columns(node, b, x, n):
    """The first columns, and zeros where there are less."""
    size = x.dims[1]
    if size == n:
        return x
    node.require(size is not None, "the numbers of features must be known")
    if size < n:
        return b.PAD(x, np.array([[0, 0], [0, n - size]], np.int32))
    return b.SLICE(x, int32s([0, 0]), int32s([-1, n]))


@lower(f"{DOMAIN}Imputer")
def imputer(node, b):
    """A column's own value in the place of what is missing."""
    (x,) = node.inputs
    is_float = x.dtype.kind == "f"
    kind, missing = ("floats", "float") if is_float else ("int64s", "int64")
    values = np.asarray(node.attr(f"imputed_value_{kind}"), x.dtype)
    missing = node.attr(f"replaced_value_{missing}", 0)
    is_missing = b.NOT_EQUAL(x, x) if missing != missing else b.EQUAL(x, like(x, missing, b))
    return b.SELECT_V2(is_missing, b.constant(values.reshape((1, -1))), x)


@lower(f"{DOMAIN}Scaler")
def scaler(node, b):
    """(x - offset) * scale."""
    x = as_type(node.inputs[0], np.float32, b)
    offset, scale = (np.asarray(node.attr(name, [v]), np.float32)
                     for name, v in (("offset", 0.0), ("scale", 1.0)))  # fmt: skip
    return b.MUL(b.SUB(x, b.constant(offset)), b.constant(scale))


@lower(f"{DOMAIN}Normalizer")
def normalizer(node, b):
    """Each row divided by its largest absolute value, sum of them or length."""
    x, norm, axis = as_type(node.inputs[0], np.float32, b), node.attr("norm", "MAX"), int32s([-1])
    norms = {
        "MAX": lambda: b.REDUCE_MAX(x, axis, keep_dims=True),
        "L1": lambda: b.SUM(b.ABS(x), axis, keep_dims=True),
        "L2": lambda: b.SQRT(b.SUM(b.SQUARE(x), axis, keep_dims=True)),
    }
    node.require(norm in norms, f"norm must be one of {[*norms]}, got '{norm}'")
    size = norms[norm]()
    is_zero = b.EQUAL(size, like(x, 0, b))
    return b.DIV(x, b.SELECT_V2(is_zero, like(x, 1, b), size))


@lower(f"{DOMAIN}OneHotEncoder")
def one_hot_encoder(node, b):
    """1 at the category that an element is, along a new axis."""
    (x,) = node.inputs
    categories = node.attr("cats_int64s", None)
    is_text = not categories
    values = texts(node.attr("cats_strings")) if is_text else np.asarray(categories, np.int64)
    if not is_text:
        x = x if x.dtype == np.int64 else b.CAST(x, dtype=np.int64)
    if not node.attr("zeros", 1):
        warnings.warn(
            f"OneHotEncoder '{node.name}' refuses unknown categories in the source; TFLite cannot, "
            "the converted model gives zeros for them",
            stacklevel=caller(),
        )
    return b.CAST(_matches(b, x, values), dtype=np.float32)


def _matches(b, x, values):
    """Which of some values each element is, along a new axis."""
    column = b.EXPAND_DIMS(x, np.int32(x.rank))
    if values.dtype != object:
        return b.EQUAL(column, b.constant(values))
    parts = [b.EQUAL(x, b.constant(values[i : i + 1].reshape(()))) for i in range(len(values))]
    return b.PACK(*parts, axis=x.rank, values_count=len(parts))


KINDS = {"int64s": np.int64, "floats": np.float32, "strings": object}


@lower(f"{DOMAIN}LabelEncoder")
def label_encoder(node, b):
    """The value of each key, a default for others."""
    (x,) = node.inputs
    keys, values = _column(node, "keys"), _column(node, "values")
    node.require(len(keys) == len(values), f"keys and values must be as many, got {len(keys)} keys")
    return _looked_up(b, x, keys, values, _default(node, values.dtype))


def _column(node, name):
    from onnx.numpy_helper import to_array

    tensor = node.attr(f"{name}_tensor", None)
    if tensor is not None:
        array = to_array(tensor)
        return texts(array.ravel().tolist()) if array.dtype == object else array.ravel()
    for kind, dtype in KINDS.items():
        column = node.attr(f"{name}_{kind}", None)
        if column:
            return texts(column) if dtype is object else np.asarray(column, dtype)
    return node.fail(f"{name} are missing")


def _default(node, dtype):
    from onnx.numpy_helper import to_array

    tensor = node.attr("default_tensor", None)
    if tensor is not None:
        return to_array(tensor).ravel()[0]
    if dtype.hasobject:
        return node.attr("default_string", "_Unused").encode()
    if dtype.kind == "i":
        return node.attr("default_int64", -1)
    return node.attr("default_float", -0.0)


def _looked_up(b, x, keys, values, default):
    """values[i] where an element is keys[i], the default where it is none."""
    if keys.dtype.kind == "f" and np.isnan(keys).any():
        numbers = np.where(np.isnan(keys), np.finfo(keys.dtype).max, keys)
        x = b.SELECT_V2(b.NOT_EQUAL(x, x), like(x, np.finfo(keys.dtype).max, b), x)
        keys = numbers
    if keys.dtype != object:
        x = x if x.dtype == keys.dtype else b.CAST(x, dtype=keys.dtype)
    matches = b.CAST(_matches(b, x, keys), dtype=np.int32)
    none = b.SUB(np.int32(1), b.REDUCE_MAX(matches, int32s([x.rank]), keep_dims=True))
    matches = b.CONCATENATION(matches, none, axis=x.rank)
    dtype = np.dtype(np.int32)
    index = b.ARG_MAX(matches, np.int32(x.rank), dtype=dtype, output_type=b.tensor_type(dtype))
    table = np.empty(len(values) + 1, values.dtype)
    table[:-1], table[-1] = values, default
    return b.GATHER(b.constant(table), index)


@lower(f"{DOMAIN}CategoryMapper")
def category_mapper(node, b):
    """Texts as numbers, or numbers as texts."""
    (x,) = node.inputs
    names = texts(node.attr("cats_strings"))
    numbers = np.asarray(node.attr("cats_int64s"), np.int64)
    if x.dtype.kind in "OS":
        return _looked_up(b, x, names, numbers, node.attr("default_int64", -1))
    return _looked_up(b, x, numbers, names, node.attr("default_string", "_Unused").encode())


@lower(f"{DOMAIN}ZipMap")
def zip_map(node, b):
    """The scores themselves, a column for each class; TFLite has no dictionaries."""
    return node.inputs[0]


def _linear(node, b, n_targets):
    """x @ coefficients + intercepts."""
    x = matrix(b, node.inputs[0])
    weights = np.asarray(node.attr("coefficients"), np.float32).reshape(n_targets, -1)
    intercepts = node.attr("intercepts", None)
    bias = np.asarray(intercepts, np.float32) if intercepts else None
    return b.FULLY_CONNECTED(x, b.constant(weights), None if bias is None else b.constant(bias))


@lower(f"{DOMAIN}LinearRegressor")
def linear_regressor(node, b):
    """A sum of the features for each target."""
    n_targets = node.attr("targets", 1)
    scores = _linear(node, b, n_targets)
    is_same = n_targets == 1 and transform_of(node) != "PROBIT"  # as in ONNX Runtime
    return scores if is_same else transformed(node, b, scores)


@lower(f"{DOMAIN}LinearClassifier")
def linear_classifier(node, b):
    """The best class, and the scores of all."""
    labels, size = labels_of(node), node.shape()[-1]
    node.require(size is not None, "the number of features must be known")
    n = len(node.attr("coefficients")) // size
    scores = _linear(node, b, n)
    if n == 1 and labels is not None and len(labels) == 2:
        pair = with_complement(b, scores, b.NEG)
        if transform_of(node) == "LOGISTIC":
            shares = b.LOGISTIC(pair)
        else:  # ONNX Runtime transforms no other
            shares = with_complement(b, scores, lambda x: b.SUB(like(x, 1, b), x))
        return best_label(b, pair, labels), shares
    scores = transformed(node, b, scores)
    if scores.dims[1] != 1:
        return best_label(b, scores, np.arange(n) if labels is None else labels), scores
    limit = 0.0 if node.attr("post_transform", "NONE") == "NONE" else 0.5
    is_class = b.RESHAPE(b.GREATER_EQUAL(scores, like(scores, limit, b)), int32s([-1]))
    label = np.int64(1) if labels is None else labels[0]
    node.require(not isinstance(label, bytes), "one class with a text as label is not supported")
    return b.SELECT_V2(is_class, np.int64(label), np.int64(0)), scores


def _kernel(node, b, x, vectors):
    """What the kernel gives for each row and each support vector."""
    kind = node.attr("kernel_type", "LINEAR")
    gamma, coef, degree = node.attr("kernel_params", None) or (0.0, 0.0, 0.0)
    kinds = ("LINEAR", "POLY", "RBF", "SIGMOID")
    node.require(kind in kinds, f"kernel_type must be one of {kinds}, got '{kind}'")
    if kind == "RBF":
        rows = b.EXPAND_DIMS(x, np.int32(1))
        distance = b.SUM(b.SQUARE(b.SUB(rows, b.constant(vectors[None]))), int32s([2]))
        return b.EXP(b.MUL(distance, like(x, -gamma, b)))
    product = b.FULLY_CONNECTED(x, b.constant(vectors), None)
    if kind == "LINEAR":
        return product
    line = b.ADD(b.MUL(product, like(x, gamma, b)), like(x, coef, b))
    return b.TANH(line) if kind == "SIGMOID" else b.POW(line, like(x, int(degree), b))


@lower(f"{DOMAIN}SVMRegressor")
def svm_regressor(node, b):
    """A weighted sum of kernels; 1 or -1 of a model of one class."""
    x, n = matrix(b, node.inputs[0]), node.attr("n_supports", 0)
    weights = np.asarray(node.attr("coefficients"), np.float32).reshape(1, -1)
    bias = b.constant(np.asarray(node.attr("rho")[:1], np.float32))
    if n:
        vectors = np.asarray(node.attr("support_vectors"), np.float32).reshape(n, -1)
        x = _kernel(node, b, x, vectors)
    out = b.FULLY_CONNECTED(x, b.constant(weights), bias)
    if node.attr("one_class", 0):
        return b.SELECT_V2(b.GREATER(out, like(out, 0, b)), like(out, 1, b), like(out, -1, b))
    return transformed(node, b, out)


@lower(f"{DOMAIN}SVMClassifier")
def svm_classifier(node, b):
    """The best class, and the scores: of classes, or of pairs of them."""
    x, labels = matrix(b, node.inputs[0]), labels_of(node)
    counts = node.attr("vectors_per_class", None)
    coefficients = np.asarray(node.attr("coefficients"), np.float32)
    rho, n_classes = np.asarray(node.attr("rho"), np.float32), len(labels)
    if not counts:
        weights = coefficients.reshape(n_classes, -1)
        bias = np.full(n_classes, rho[0], np.float32)
        scores = b.FULLY_CONNECTED(x, b.constant(weights), b.constant(bias))
        return best_label(b, scores, labels), transformed(node, b, scores)
    vectors = np.asarray(node.attr("support_vectors"), np.float32).reshape(sum(counts), -1)
    kernels = _kernel(node, b, x, vectors)
    weights, votes = pairs_of(counts, coefficients.reshape(-1, sum(counts)))
    scores = b.FULLY_CONNECTED(kernels, b.constant(weights), b.constant(rho[: len(weights)]))
    for_first = b.CAST(b.GREATER(scores, like(scores, 0, b)), dtype=np.float32)
    counted = b.FULLY_CONNECTED(
        for_first, b.constant(votes), b.constant((votes < 0).sum(1).astype(np.float32))
    )
    label = best_label(b, counted, labels)
    if node.attr("prob_a", None):
        scores = pair_probabilities(node, b, scores, n_classes)
    elif n_classes == 2:
        scores = with_complement(b, scores, b.NEG)
    return label, transformed(node, b, scores)
