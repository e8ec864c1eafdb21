"""Programs with lookup tables, given `tf`, a session and the path of a vocabulary.

VALUES give what TensorFlow's sessions print; ERRORS raise. lookup_programs.json has its answers.
"""

from __future__ import annotations

import itertools
import os
import tempfile

import numpy as np

VOCABULARY = "brain\t3\nsalad\t5\nsurgery\t7\n"


def plain(value):
    """Arrays and texts as JSON has them."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return value.decode()
    return (
        plain(np.asarray(value).tolist()) if isinstance(value, (np.ndarray, np.generic)) else value
    )


def int64(tf, values):
    return tf.constant(values, tf.int64)


def static(tf, session, path):
    """Filled from tensors, asked densely; filled again."""
    initializer = tf.lookup.KeyValueTensorInitializer(["a", "b"], int64(tf, [4, 5]))
    table = tf.lookup.StaticHashTable(initializer, -1)
    session.run(tf.tables_initializer())
    session.run(table.initializer)
    looked_up = table.lookup(tf.constant([["b", "c"], ["a", "b"]]))
    _, values = table.export()
    return session.run([looked_up, table.size(), tf.sort(values)]), table.key_dtype.name, table.name


def files(tf, session, path):
    """Columns, line numbers with an offset, and the first lines of a file."""
    results = []
    for key, key_type, value, value_type, default, size, offset in (
        (0, tf.string, 1, tf.int64, -1, None, 0),
        (1, tf.int64, 0, tf.string, "?", None, 0),
        (-2, tf.string, -1, tf.int64, -1, 2, 10),
    ):
        initializer = tf.lookup.TextFileInitializer(
            path, key_type, key, value_type, value, size, value_index_offset=offset
        )
        table = tf.lookup.StaticHashTable(initializer, default)
        session.run(table.initializer)
        keys = int64(tf, [5, 9]) if key == 1 else tf.constant(["salad", "salad\t5", "surgery\t7"])
        results.append(session.run([table.lookup(keys), table.size()]))
    return results


def vocabulary(tf, session, path):
    """Known words, and buckets for others."""
    initializer = tf.lookup.TextFileInitializer(path, tf.string, 0, tf.int64, -1)
    table = tf.lookup.StaticVocabularyTable(initializer, 3)
    session.run(table.initializer)
    numbers = tf.lookup.StaticVocabularyTable(
        tf.lookup.KeyValueTensorInitializer(int64(tf, [42, 1]), int64(tf, [0, 1])), 4, tf.int32
    )
    session.run(numbers.initializer)
    words = tf.constant(["salad", "UNK", "fruit", "brain"])
    return session.run([table[words], table.size(), numbers.lookup(tf.constant([1, 7, 42, -9]))])


def mutable(tf, session, path):
    """Keys that come and go; defaults of a run; values that are vectors."""
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    session.run(table.insert(["a", "b", "a"], int64(tf, [1, 2, 3])))
    session.run(table.remove(tf.constant(["b", "z"])))
    keys = tf.constant([["a", "b"]])
    results = session.run(
        [table.lookup(keys), table.lookup(keys, int64(tf, [[7, 8]])), table.size()]
    )
    vectors = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, [0.5, 0.5])
    session.run(vectors.insert(int64(tf, [1, 2]), [[1.0, 2.0], [3.0, 4.0]]))
    return results, session.run([vectors.lookup(int64(tf, [2, 9])), vectors.size()])


def dense(tf, session, path):
    """The buckets that export shows, after removals and growth; keys that are vectors."""
    results = []
    table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -1, 4)
    for keys, removed in (([11, 12, 13], [12, 99]), ([13, 14, 15, 16, 17], [14])):
        session.run(table.insert(int64(tf, keys), int64(tf, [2 * key for key in keys])))
        session.run(table.remove(int64(tf, removed)))
        results.append(session.run([*table.export(), table.size()]))
    results.append(session.run(table[int64(tf, [10, 11, 12, 15])]))
    texts = tf.lookup.experimental.DenseHashTable(tf.string, tf.float32, 0.0, "", "-", 8)
    session.run(texts.insert(tf.constant(["ab", "c", "a longer text"]), [1.0, 2.0, 3.0]))
    pairs = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, [0, 3], [-1, -1], 8)
    session.run(pairs.insert(int64(tf, [[0, 1], [1, 2], [1, 3]]), int64(tf, [10, 11, 12])))
    results.append(session.run([*texts.export(), *pairs.export()]))
    return results


def branches(tf, session, path):
    """Tables asked within cond and while_loop."""
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)
    session.run(table.insert(int64(tf, [1, 2, 5]), int64(tf, [2, 5, 9])))
    start = int64(tf, 1)
    chosen = tf.cond(start > 0, lambda: table.lookup(start), lambda: start)
    followed = tf.while_loop(lambda x: x < 9, table.lookup, [start])
    return session.run([chosen, followed])


def kinds_of_tables(tf, session, path):
    """Dtypes of keys and values of which there are tables."""
    dtypes = [tf.float32, tf.float64, tf.int32, tf.int64, tf.string, tf.bool, tf.int8, tf.half]
    known = []
    for kind in ("HashTableV2", "MutableHashTableV2"):
        for key, value in itertools.product(dtypes, dtypes):
            try:
                with tf.Graph().as_default(), tf.Session() as another:
                    _raw(kind, key.name, value.name)(tf, another, path)
            except tf.errors.InvalidArgumentError:
                continue
            known.append([kind, key.name, value.name])
    return known


def _raw(kind, key, value):
    """The program that asks for the size of a table."""

    def size(tf, session, path):
        make = getattr(tf.raw_ops, kind)
        table = make(key_dtype=tf.as_dtype(key), value_dtype=tf.as_dtype(value))
        return session.run(tf.raw_ops.LookupTableSizeV2(table_handle=table))

    return size


VALUES = [static, files, vocabulary, mutable, dense, branches, kinds_of_tables]


def _static(tf, keys, values, default):
    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), default)


def _file(tf, path, *arguments, default=-1, **more):
    return tf.lookup.StaticHashTable(
        tf.lookup.TextFileInitializer(path, *arguments, **more), default
    )


def _dense(tf, empty=0, deleted=-1, **more):
    return tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, empty, deleted, **more)


ERRORS = {
    "default": lambda tf, s, p: _static(tf, ["a"], [1.0], "x"),
    "key type": lambda tf, s, p: _static(tf, ["a"], [1.0], 1.0).lookup(tf.constant([1])),
    "not filled": lambda tf, s, p: s.run(_static(tf, ["a"], [1.0], 1.0).lookup(tf.constant("a"))),
    "two values": lambda tf, s, p: s.run(_static(tf, ["a", "a"], [1, 2], 1).initializer),
    "column": lambda tf, s, p: s.run(_file(tf, p, tf.string, 2, tf.int64, -1).initializer),
    "lines": lambda tf, s, p: s.run(
        _file(tf, p, tf.string, -2, tf.int64, -1, vocab_size=9).initializer
    ),
    "number": lambda tf, s, p: s.run(_file(tf, p, tf.string, 1, tf.int64, 0).initializer),
    "no file": lambda tf, s, p: s.run(
        _file(tf, "there-is-none", tf.string, -2, tf.int64, -1).initializer
    ),
    "line number type": lambda tf, s, p: _file(tf, p, tf.int64, 0, tf.string, -1, default=""),
    "whole line type": lambda tf, s, p: _file(tf, p, tf.float32, -2, tf.int64, -1),
    "no name": lambda tf, s, p: tf.lookup.TextFileInitializer("", tf.int64, -1, tf.string, -2),
    "no lines": lambda tf, s, p: tf.lookup.TextFileInitializer(
        p, tf.string, -2, tf.int64, -1, vocab_size=0
    ),
    "no buckets": lambda tf, s, p: tf.lookup.StaticVocabularyTable(None, 0),
    "insert types": lambda tf, s, p: tf.lookup.experimental.MutableHashTable(
        tf.string, tf.int64, -1
    ).insert(["1"], tf.constant([2], tf.int32)),
    "insert shapes": lambda tf, s, p: s.run(
        tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1).insert(
            ["1", "2"], int64(tf, [2])
        )
    ),
    "value rank": lambda tf, s, p: s.run(
        tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, [[-1]]).size()
    ),
    "empty key": lambda tf, s, p: s.run(_dense(tf).insert(int64(tf, [0]), int64(tf, [1]))),
    "deleted key": lambda tf, s, p: s.run(_dense(tf).lookup(int64(tf, [-1]))),
    "key rank": lambda tf, s, p: s.run(_dense(tf).lookup(int64(tf, [[1, 2]]))),
    "buckets": lambda tf, s, p: s.run(_dense(tf, initial_num_buckets=12).size()),
    **{
        f"{kind} of {key} to {value}": _raw(kind, key, value)
        for kind, key, value in (
            *(("HashTableV2", "float32", "int64"), ("HashTableV2", "int32", "int64")),
            *(("HashTableV2", "bool", "bool"), ("MutableHashTableV2", "string", "string")),
            *(("MutableHashTableV2", "int32", "string"), ("MutableHashTableV2", "int8", "int8")),
        )
    },
    "key shapes": lambda tf, s, p: s.run(_dense(tf, empty=[1]).size()),
    "same keys": lambda tf, s, p: s.run(_dense(tf, empty=-1).size()),
}


def vocabulary_file(folder) -> str:
    """The path of a file with VOCABULARY."""
    path = os.path.join(folder, "words.txt")
    with open(path, "w") as file:
        file.write(VOCABULARY)
    return path


def value_of(tf, program, path):
    """What a program gives, in a session of its own."""
    with tf.Graph().as_default(), tf.Session() as session:
        return plain(program(tf, session, path))


def error_of(tf, program, path) -> list[str]:
    """The type of what a program raises, and its first line."""
    with tf.Graph().as_default(), tf.Session() as session:
        try:
            program(tf, session, path)
        except (tf.errors.OpError, TypeError, ValueError) as error:
            words = getattr(error, "message", str(error)).split("Node: '")[-1]
            lines = [line for line in words.split("\n") if not line.startswith("\t") and line]
            first = lines[1] if len(lines) > 1 and lines[0].endswith("'") else lines[0]
            return [type(error).__name__, first.replace(path, "words.txt")]
    return ["", ""]


def outcomes(tf):
    """Values and errors."""
    with tempfile.TemporaryDirectory() as folder:
        path = vocabulary_file(folder)
        return {
            "values": {program.__name__: value_of(tf, program, path) for program in VALUES},
            "errors": {name: error_of(tf, program, path) for name, program in ERRORS.items()},
        }
