"""Cells of LSTM and GRU that are one operation, given `tf`: values, gradients, errors, shapes.

What TensorFlow makes of them is stored in cell_programs.json. Its releases without tf.contrib have
no gradient of LSTMBlockCell and GRUBlockCell: `gradients_of_formulas` records those of what the
cells compute, written out.
"""

from __future__ import annotations

import numpy as np

BATCH, INPUTS, UNITS, TIME = 3, 2, 4, 5
NAMES = ["x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b"]
GRU_NAMES = ["x", "h_prev", "w_ru", "w_c", "b_ru", "b_c"]


def lstm_arrays(*lead):
    """The operands of an LSTM over inputs of these leading sizes."""
    random = np.random.RandomState(3)
    state, peephole, n_rows = (BATCH, UNITS), (UNITS,), INPUTS + UNITS
    shapes = (*lead, INPUTS), state, state, (n_rows, 4 * UNITS), *[peephole] * 3, (4 * UNITS,)
    arrays = [random.randn(*shape).astype(np.float32) for shape in shapes]
    return dict(zip(NAMES, arrays, strict=True))


def gru_arrays():
    """The operands of a step of a GRU."""
    random = np.random.RandomState(4)
    n_rows = INPUTS + UNITS
    shapes = [(BATCH, INPUTS), (BATCH, UNITS), (n_rows, 2 * UNITS), (n_rows, UNITS)]
    shapes += [(2 * UNITS,), (UNITS,)]
    arrays = [random.randn(*shape).astype(np.float32) for shape in shapes]
    return dict(zip(GRU_NAMES, arrays, strict=True))


def weighted(tf, results):
    """A number that depends on each element in another way."""
    weights = [
        np.random.RandomState(5 + i).randn(*y.shape.as_list()).astype(np.float32)
        for i, y in enumerate(results)
    ]
    return tf.add_n([tf.reduce_sum(y * w) for y, w in zip(results, weights, strict=True)])


FORMS = ({}, {"use_peephole": True, "forget_bias": 0.5, "cell_clip": 1.0})


def sequences(tf):
    """cs and h of whole and shortened sequences, and the gradients by all operands."""
    return [_sequence(tf, tf.raw_ops.BlockLSTM, n, attrs) for attrs in FORMS for n in (TIME, 3, 0)]


def sequences_of_version_2(tf, version_2=None):
    """The same of BlockLSTMV2, whose gates stand as i, f, c, o, by BlockLSTM.

    TensorFlow's own gradient of BlockLSTMV2 takes them as i, c, f, o.
    """

    def reordered(w, b, **operands):
        w, b = (tf.concat([i, c, f, o], -1) for i, f, c, o in (tf.split(x, 4, -1) for x in (w, b)))
        return tf.raw_ops.BlockLSTM(w=w, b=b, forget_bias=0.0, **operands)

    forms = {"use_peephole": True, "cell_clip": 0.0}, {"cell_clip": 0.7}
    block = version_2 or reordered
    return [_sequence(tf, block, n, attrs) for attrs in forms for n in (TIME, 3)]


def _sequence(tf, block, n_steps, attrs):
    with tf.Graph().as_default(), tf.Session() as session:
        operands = {k: tf.constant(v) for k, v in lstm_arrays(TIME, BATCH).items()}
        results = block(seq_len_max=tf.constant(n_steps, tf.int64), **operands, **attrs)
        gradients = tf.gradients(weighted(tf, [results.cs, results.h]), [*operands.values()])
        arrays = session.run([results.cs, results.h, *gradients])
        return [array.tolist() for array in arrays]


def hidden(tf, n_steps):
    """h of a sequence of this many steps, fed."""
    with tf.Graph().as_default(), tf.Session() as session:
        steps = tf.placeholder(tf.int64, [])
        h = tf.raw_ops.BlockLSTM(seq_len_max=steps, **lstm_arrays(TIME, BATCH)).h
        return session.run(h, {steps: n_steps})


def imported(tf):
    """A GraphDef with the cells, as files have them, fed with sizes that the graph leaves open."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, None, INPUTS], "x")
        arrays = lstm_arrays(TIME, BATCH)
        del arrays["x"]
        steps = tf.cast(tf.shape(x)[0], tf.int64)
        block = tf.raw_ops.BlockLSTM(seq_len_max=steps, x=x, cell_clip=0.0, **arrays)
        cell = tf.raw_ops.LSTMBlockCell(x=x[0], cell_clip=0.0, **arrays)
        reset = gru_arrays() | {"x": x[0]}
        gru = tf.raw_ops.GRUBlockCell(**reset)
        outputs = [tf.identity(y, f"y{i}") for i, y in enumerate([block.h, cell.h, gru.h])]
        shapes = [y.shape.as_list() for y in outputs]
    with tf.Graph().as_default(), tf.Session() as session:
        names = [f"y{i}:0" for i in range(3)]
        (x, *ys) = tf.import_graph_def(graph.as_graph_def(), return_elements=["x:0", *names])
        values = session.run(ys, {x: lstm_arrays(TIME, BATCH)["x"]})
        return [shapes, [value.tolist() for value in values]]


WRONG = {
    "cs_prev": (7, UNITS),
    "h_prev": (BATCH, 9),
    "w": (INPUTS + UNITS, 5),
    "wci": (2, 2),
    "wcf": (7,),
    "b": (12,),
}
WRONG_GRU = {"h_prev": (7, UNITS), "w_ru": (6, 5), "w_c": (2, 2), "b_ru": (7,), "b_c": (9,)}


def refusals(tf):
    """The words of the kernels about operands of other sizes, and of the shape functions."""
    rows = []
    sequence = lstm_arrays(TIME, BATCH)
    calls = [("BlockLSTM", {"seq_len_max": np.array([1, 2])}, sequence)]
    calls += [("BlockLSTM", {name: shape}, sequence) for name, shape in WRONG.items()]
    calls += [("BlockLSTM", {"x": (TIME, BATCH, 3)}, sequence)]
    calls += [("GRUBlockCell", {name: shape}, gru_arrays()) for name, shape in WRONG_GRU.items()]
    for kind, change, arrays in calls:
        feeds = arrays | {"seq_len_max": np.int64(1)} if kind == "BlockLSTM" else arrays
        feeds = feeds | {
            name: np.zeros(value, np.float32) if isinstance(value, tuple) else value
            for name, value in change.items()
        }
        rows.append(_words(tf, kind, feeds))
    with tf.Graph().as_default():
        for name, shape in {"x": [2], "b": [7]}.items():
            operands = {key: tf.constant(value) for key, value in sequence.items()}
            operands[name] = tf.zeros(shape)
            try:
                tf.raw_ops.BlockLSTM(seq_len_max=np.int64(1), **operands)
            except ValueError as error:
                rows.append(str(error).split(" for ")[0])
    return rows


def _words(tf, kind, feeds):
    """The kernel's words, without those of the places around."""
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = {name: tf.placeholder(array.dtype) for name, array in feeds.items()}
        fetch = getattr(tf.raw_ops, kind)(**inputs)[0]
        try:
            session.run(fetch, {inputs[name]: array for name, array in feeds.items()})
        except tf.errors.InvalidArgumentError as error:
            lines = [line.strip() for line in error.message.splitlines()]
            return next(line for line in lines if " != " in line or " must be " in line)
    return "nothing"


LSTM_FORMS = (
    {"forget_bias": 0.5, "cell_clip": -1.0},
    {"forget_bias": 1.0, "cell_clip": -1.0, "use_peephole": True},
)


def lstm_formula(tf, x, cs_prev, h_prev, w, wci, wcf, wco, b, forget_bias, use_peephole=False):
    """cs and h of LSTMBlockCell that does not clip, written out."""
    i, c, f, o = tf.split(tf.matmul(tf.concat([x, h_prev], 1), w) + b, 4, 1)
    if not use_peephole:
        wci, wcf, wco = (0 * weights for weights in (wci, wcf, wco))
    i = tf.sigmoid(i + cs_prev * wci)
    f = tf.sigmoid(f + forget_bias + cs_prev * wcf)
    cs = i * tf.tanh(c) + f * cs_prev
    return [cs, tf.sigmoid(o + cs * wco) * tf.tanh(cs)]


def gru_formula(tf, x, h_prev, w_ru, w_c, b_ru, b_c):
    """h of GRUBlockCell, written out."""
    r, u = tf.split(tf.sigmoid(tf.matmul(tf.concat([x, h_prev], 1), w_ru) + b_ru), 2, 1)
    c = tf.tanh(tf.matmul(tf.concat([x, h_prev * r], 1), w_c) + b_c)
    return [u * h_prev + (1 - u) * c]


def _unclipped(tf, forget_bias, cell_clip, use_peephole=False, **operands):
    return lstm_formula(tf, forget_bias=forget_bias, use_peephole=use_peephole, **operands)


def _lstm_operation(tf, **operands):
    cell = tf.raw_ops.LSTMBlockCell(**operands)
    return [cell.cs, cell.h]


def _gru_operation(tf, **operands):
    return [tf.raw_ops.GRUBlockCell(**operands).h]


def gradients_of_formulas(tf, lstm=_unclipped, gru=gru_formula):
    """The gradients by all operands of a step of an LSTM in two forms, and of a GRU."""
    cells = [(lstm, lstm_arrays(BATCH), attrs) for attrs in LSTM_FORMS]
    rows = []
    for cell, arrays, attrs in [*cells, (gru, gru_arrays(), {})]:
        with tf.Graph().as_default(), tf.Session() as session:
            operands = {name: tf.constant(array) for name, array in arrays.items()}
            total = weighted(tf, cell(tf, **operands, **attrs))
            gradients = session.run(tf.gradients(total, [*operands.values()]))
            rows.append([gradient.tolist() for gradient in gradients])
    return rows


def gradients_of_operations(tf):
    """The same of the operations."""
    return gradients_of_formulas(tf, _lstm_operation, _gru_operation)


def outcomes(tf):
    """What each program gives."""
    programs = (sequences, sequences_of_version_2, imported, refusals, gradients_of_formulas)
    return {program.__name__: program(tf) for program in programs}
