"""Programs that begin with the values of a checkpoint; TensorFlow and flatlite both run them."""

import numpy as np

VOCABULARIES = {"old.txt": "a\nb\nc\nd\n", "new.txt": "d\nx\na\ny\nc\nz\n"}


def write_source(tf, folder):
    """The checkpoint that the programs read, and one by objects; their vocabularies."""
    for name, text in VOCABULARIES.items():
        (folder / name).write_text(text)
    with tf.Graph().as_default(), tf.Session() as session:
        for name, shape in SHAPES.items():
            values = np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + 100 * len(name)
            tf.get_variable(name, initializer=values)
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(folder / "source"), write_meta_graph=False)
        variables = {v.op.name.replace("/", "_"): v for v in tf.global_variables()}
        tf.train.Checkpoint(**variables).write(str(folder / "objects"), session)
        return path


SHAPES = {
    "embedding": [4, 2],
    "output": [3, 4],
    "scope/a": [2],
    "scope/b": [3],
    "scope/inner/a": [1],
    "top": [],
}


def zeros(tf, name, shape, **arguments):
    return tf.get_variable(name, initializer=np.zeros(shape, np.float32), **arguments)


def by_variable(tf, folder):
    v = zeros(tf, "v", [2], use_resource=True)
    tf.train.init_from_checkpoint(str(folder / "source"), {"scope/a": v, "top": zeros(tf, "t", [])})


def by_name(tf, folder):
    for name in ("other/v", "other/w"):
        zeros(tf, name, [2])
    pairs = [("scope/a", "other/v"), ("scope/a", "other/w")]
    tf.train.init_from_checkpoint(str(folder / "source"), pairs)


def by_scope(tf, folder):
    for name, size in {"new/a": 2, "new/b": 3, "new/inner/a": 1, "aside": 5}.items():
        zeros(tf, name, [size])
    tf.train.init_from_checkpoint(str(folder), {"scope/": "new/"})


def from_root(tf, folder):
    zeros(tf, "m/scope/a", [2])
    zeros(tf, "m/top", [])
    tf.train.init_from_checkpoint(str(folder / "source"), {"/": "m/"})


def to_root(tf, folder):
    zeros(tf, "a", [2])
    zeros(tf, "b", [3])
    tf.train.init_from_checkpoint(str(folder / "source"), {"scope/": "/"})


def depending(tf, folder):
    """A variable that begins with the value of another one."""
    v = zeros(tf, "v", [2])
    tf.train.init_from_checkpoint(str(folder / "source"), {"scope/a": v})
    tf.get_variable("w", initializer=v.initialized_value() * 2.0)


def other_shape(tf, folder):
    tf.train.init_from_checkpoint(str(folder / "source"), {"scope/a": zeros(tf, "v", [3])})


def no_tensor(tf, folder):
    tf.train.init_from_checkpoint(str(folder / "source"), {"none": zeros(tf, "v", [3])})


def no_tensor_in_scope(tf, folder):
    zeros(tf, "new/c", [2])
    tf.train.init_from_checkpoint(str(folder / "source"), {"scope/": "new/"})


def no_variable(tf, folder):
    tf.train.init_from_checkpoint(str(folder / "source"), {"scope/a": "nothing/v"})


def cut(tf, name, shape, parts, **arguments):
    """A variable in parts."""
    partitioner = tf.fixed_size_partitioner(parts)
    initializer = tf.zeros_initializer()
    return tf.get_variable(
        name, shape, tf.float32, initializer, partitioner=partitioner, **arguments
    )


def partitioned(tf, folder):
    """By the list of its parts, by its name, and within a scope."""
    whole = list(cut(tf, "whole", [4, 2], 2))
    parts = list(cut(tf, "parts", [3, 4], 3, use_resource=True))
    cut(tf, "named", [3], 2)
    cut(tf, "new/b", [3], 3)
    zeros(tf, "new/a", [2])
    path = str(folder / "source")
    tf.train.init_from_checkpoint(path, {"embedding": whole, "output": parts, "scope/b": "named"})
    tf.train.init_from_checkpoint(path, {"scope/": "new/"})


def warm_parts(tf, folder):
    cut(tf, "embedding", [8, 2], 3)
    cut(tf, "output", [3, 4], 3)
    info = vocabulary(tf, folder, oov=2, backup_initializer=tf.ones_initializer())
    tf.train.warm_start(str(folder / "source"), var_name_to_vocab_info={"embedding": info})


def warm_all(tf, folder):
    zeros(tf, "scope/a", [2])
    zeros(tf, "top", [], trainable=False)
    tf.train.warm_start(str(folder))


def warm_some(tf, folder):
    zeros(tf, "scope/a", [2], trainable=False)
    zeros(tf, "scope/b", [3])
    zeros(tf, "top", [])
    tf.train.warm_start(str(folder / "source"), ["scope/a", "top"])


def warm_variables(tf, folder):
    zeros(tf, "scope/a", [2])
    v = zeros(tf, "v", [3], trainable=False)
    tf.train.warm_start(str(folder / "source"), [v], var_name_to_prev_var_name={"v": "scope/b"})


def warm_objects(tf, folder):
    zeros(tf, "scope/a", [2])
    zeros(tf, "top", [])
    tf.train.warm_start(str(folder / "objects"))


def vocabulary(tf, folder, **arguments):
    return tf.train.VocabInfo(
        str(folder / "new.txt"),
        arguments.pop("size", 6),
        arguments.pop("oov", 0),
        str(folder / "old.txt"),
        **arguments,
    )


def warm_rows(tf, folder):
    zeros(tf, "embedding", [8, 2], use_resource=True)
    info = vocabulary(tf, folder, oov=2, backup_initializer=tf.ones_initializer())
    tf.train.warm_start(str(folder / "source"), var_name_to_vocab_info={"embedding": info})


def warm_few_rows(tf, folder):
    zeros(tf, "e", [3, 2])
    zeros(tf, "top", [])
    info = vocabulary(tf, folder, size=3, old_vocab_size=3)
    tf.train.warm_start(
        str(folder / "source"),
        None,
        var_name_to_vocab_info={"e": info},
        var_name_to_prev_var_name={"e": "embedding"},
    )


def warm_columns(tf, folder):
    zeros(tf, "output", [3, 7])
    info = vocabulary(tf, folder, oov=1, axis=1)
    tf.train.warm_start(str(folder / "source"), var_name_to_vocab_info={"output": info})


def unused_name(tf, folder):
    zeros(tf, "top", [])
    tf.train.warm_start(str(folder / "source"), var_name_to_prev_var_name={"no": "top"})


def unused_vocabulary(tf, folder):
    zeros(tf, "top", [])
    info = vocabulary(tf, folder)
    tf.train.warm_start(str(folder / "source"), var_name_to_vocab_info={"no": info})


def lacking_objects(tf, folder):
    zeros(tf, "none", [])
    tf.train.warm_start(str(folder / "objects"))


def mixed(tf, folder):
    tf.train.warm_start(str(folder / "source"), [zeros(tf, "top", []), "top"])


def a_number(tf, folder):
    tf.train.warm_start(str(folder / "source"), 3)


def wrong_axis(tf, folder):
    vocabulary(tf, folder, axis=2)


PROGRAMS = {
    f.__name__: f
    for f in (
        by_variable,
        by_name,
        by_scope,
        from_root,
        to_root,
        depending,
        other_shape,
        no_tensor,
        no_tensor_in_scope,
        no_variable,
        partitioned,
        warm_parts,
        warm_all,
        warm_some,
        warm_variables,
        warm_objects,
        warm_rows,
        warm_few_rows,
        warm_columns,
        unused_name,
        unused_vocabulary,
        lacking_objects,
        mixed,
        a_number,
        wrong_axis,
    )
}


def outcomes(tf, folder):
    """The variables after initialization, by program, or what is raised."""
    results = {}
    for name, program in PROGRAMS.items():
        with tf.Graph().as_default(), tf.Session() as session:
            try:
                program(tf, folder)
                session.run(tf.global_variables_initializer())
                results[name] = {v.op.name: session.run(v).tolist() for v in tf.global_variables()}
            except Exception as error:  # recorded: what TensorFlow raises is the question
                text = str(error).replace(str(folder), "").split("\n")[0]
                results[name] = [type(error).__name__, text]
    return results
