"""Tables that are saved, given `tf`: table_checkpoints/ has what TensorFlow wrote of them."""

from __future__ import annotations


def tables(tf):
    """A table of words, a dense one of rows, and one that is not saved."""
    lookup = tf.lookup.experimental
    words = lookup.MutableHashTable(tf.string, tf.int64, -1, name="words")
    rows = lookup.DenseHashTable(
        tf.int64, tf.float32, [0.0, 0.0], -1, -2, initial_num_buckets=4, name="rows"
    )
    lookup.MutableHashTable(tf.string, tf.int64, -1, name="unsaved", checkpoint=False)
    return words, rows


def fill(tf, session, words, rows):
    """Gives the tables what is saved of them."""
    session.run(
        [
            words.insert(tf.constant([b"a", b"b"]), tf.constant([1, 2], tf.int64)),
            rows.insert(tf.constant([3, 8], tf.int64), tf.constant([[1.0, 2.0], [3.0, 4.0]])),
        ]
    )


def savers(tf, words):
    """The savers by the checkpoints that they write."""
    return {
        "version_2": tf.train.Saver(),
        "version_1": tf.train.Saver(write_version=1),
        "alone": tf.train.Saver([words]),
    }


def save(tf, session, words, rows, folder):
    """Saves the tables in every way."""
    for name, saver in savers(tf, words).items():
        saver.save(session, f"{folder}/{name}", write_meta_graph=False)
    checkpoint = tf.train.Checkpoint(words=words, rows=rows)
    session.run(checkpoint.save_counter.initializer)
    checkpoint.write(f"{folder}/objects", session)


def restored(tf, name, folder):
    """What the tables have when the checkpoint `name` was restored over something else."""
    with tf.Graph().as_default(), tf.Session() as session:
        words, rows = tables(tf)
        disturb(tf, session, words, rows)
        if name == "objects":
            status = tf.train.Checkpoint(words=words, rows=rows).restore(f"{folder}/{name}")
            status.assert_consumed().run_restore_ops()
        else:
            savers(tf, words)[name].restore(session, f"{folder}/{name}")
        return contents(tf, session, words, rows)


def disturb(tf, session, words, rows):
    """Changes the tables."""
    session.run([words.insert(tf.constant([b"z"]), tf.constant([9], tf.int64))])
    session.run([words.remove(tf.constant([b"a"])), rows.remove(tf.constant([3], tf.int64))])


def contents(tf, session, words, rows):
    """What the tables have now, by the keys of `fill` and one more."""
    keys = tf.constant([b"a", b"b", b"z"]), tf.constant([3, 8, 9], tf.int64)
    values = [words.lookup(keys[0]), rows.lookup(keys[1]), words.size(), rows.size()]
    return [value.tolist() for value in session.run(values)]


def names_of_operations(tf):
    """Name, type and inputs of the operations that save and restore tables in version 2."""
    with tf.Graph().as_default() as graph:
        with tf.name_scope("scope"):
            tables(tf)
        v = tf.get_variable("v", initializer=1.0)
        tf.train.Saver()
        saved = graph.get_operation_by_name("save/SaveV2").inputs
        return [
            [tensor.name for tensor in saved],
            [
                [op.name, op.type, [tensor.name for tensor in op.inputs], group]
                for op in graph.get_operations()
                for group in [[name.decode() for name in op.colocation_groups()]]
                if "Table" in op.type or op.name == "save/restore_all"
            ],
            [op.name for op in graph.get_operation_by_name("save/restore_all").control_inputs],
            [v.name for v in tf.global_variables()],
            [item.name for item in tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)],
            v.name,
        ]


def refusal(tf):
    """The type and the words of the error of a table that has two names."""
    with tf.Graph().as_default():
        words, _ = tables(tf)
        try:
            tf.train.Saver({"one": words, "two": words})
        except ValueError as error:
            return str(error)
