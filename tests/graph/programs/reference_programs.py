"""Programs of TF1 that read variables and use what they read after the variable was written.

What is read from a reference variable is its memory: who waits for the write sees the new value.
What TensorFlow makes of them is stored in reference_programs.json. Each gives what JSON can hold.
"""

from __future__ import annotations

WRITES = {
    "add": lambda tf, v: tf.assign_add(v, [10.0, 10.0]),
    "subtract": lambda tf, v: tf.assign_sub(v, [10.0, 10.0]),
    "scatter": lambda tf, v: tf.scatter_update(v, [0], [10.0]),
    "constant": lambda tf, v: tf.assign(v, [10.0, 11.0]),
    "computed": lambda tf, v: tf.assign(v, tf.placeholder_with_default([3.0, 4.0], [2]) * 2.0),
    "itself": lambda tf, v: tf.assign(v, v * 3.0),
    "descent": lambda tf, v: tf.train.GradientDescentOptimizer(1.0).apply_gradients(
        [(tf.constant([1.0, 1.0]), v)]
    ),
    "reshaped": lambda tf, v: tf.assign(v, [[10.0], [11.0]], validate_shape=False),
    "resized": lambda tf, v: tf.assign(v, [10.0, 11.0, 12.0], validate_shape=False),
    "branch": lambda tf, v: tf.cond(
        tf.placeholder_with_default(True, []), lambda: _added(tf, v), lambda: tf.constant(0)
    ),
    "loop": lambda tf, v: tf.while_loop(
        lambda i: i < tf.placeholder_with_default(3, []), lambda i: _added(tf, v) + i, [0]
    ),
    "mapped": lambda tf, v: tf.map_fn(
        lambda x: tf.cast(_added(tf, v), tf.float32) + x, tf.constant([1.0, 2.0])
    ),
}
READS = {
    "value": lambda tf, v: v.value(),
    "read_value": lambda tf, v: v.read_value(),
    "identities": lambda tf, v: tf.identity(tf.identity(v)),
    "reshape": lambda tf, v: tf.reshape(v, [2, 1]),
    "expand_dims": lambda tf, v: tf.expand_dims(v, 0),
    "stop_gradient": lambda tf, v: tf.stop_gradient(v),
    "tuple": lambda tf, v: tf.tuple([v.read_value(), tf.constant(1.0)])[0],
    "negative": lambda tf, v: -v,
    "sum": lambda tf, v: tf.reduce_sum(v),
}


def _added(tf, v):
    """1, when 10 was added to a variable."""
    with tf.control_dependencies([tf.assign_add(v, [10.0, 10.0])]):
        return tf.constant(1)


def outcome(tf, read: str, write: str) -> list:
    """What is read before a write, computed on after it; what is fetched of it; the variable."""
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(
            [1.0, 2.0], use_resource=False, validate_shape=write not in ("reshaped", "resized")
        )
        before = READS[read](tf, v)
        with tf.control_dependencies([before]):
            update = WRITES[write](tf, v)
        with tf.control_dependencies([update]):
            after = before + 0.5
        session.run(v.initializer)
        runs = [session.run([after, before]) for _ in range(2)]
        return [[[value.tolist() for value in run] for run in runs], session.run(v).tolist()]


def condition_of_loop(tf) -> list:
    """How often a loop runs whose condition looks at what was read before."""
    results = []
    for inside in (False, True):
        with tf.Graph().as_default(), tf.Session() as session:
            v = tf.Variable(1.0, use_resource=False)
            before = v.read_value()

            def body(i, v=v):
                with tf.control_dependencies([tf.assign_add(v, 1.0)]):
                    return i + 1

            def goes_on(i, v=v, before=before, inside=inside):
                return tf.logical_and((v.read_value() if inside else before) < 5.0, i < 10)

            count = tf.while_loop(goes_on, body, [tf.constant(0)])
            session.run(v.initializer)
            results.append([session.run(count).tolist(), session.run(v).tolist()])
    return results


def loop_variable(tf) -> list:
    """What a loop gives for a variable that it is passed and hands on."""
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(1.0, use_resource=False)

        def body(i, x):
            with tf.control_dependencies([tf.assign_add(v, 1.0)]):
                return i + 1, x

        results = tf.while_loop(lambda i, x: i < 3, body, [tf.constant(0), v])
        session.run(v.initializer)
        return [value.tolist() for value in session.run(results)]


def branch_with_read(tf) -> list:
    """What a branch gives that writes and then uses what was read outside."""
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable([1.0, 2.0], use_resource=False)
        before, flag = v.read_value(), tf.placeholder_with_default(True, [])

        def branch():
            with tf.control_dependencies([tf.assign_add(v, [10.0, 10.0])]):
                return before + 0.5

        result = tf.cond(flag, branch, lambda: before)
        session.run(v.initializer)
        return [session.run(result, {flag: choice}).tolist() for choice in (True, False)]


def other_types(tf) -> list:
    """Integers and strings, and what counts up."""
    with tf.Graph().as_default(), tf.Session() as session:
        numbers = tf.Variable([1, 2], use_resource=False)
        words = tf.Variable(["a", "b"], use_resource=False)
        count = tf.Variable(0, use_resource=False)
        reads = [numbers.read_value(), words.read_value(), count.read_value()]
        with tf.control_dependencies(reads):
            updates = [tf.assign_sub(numbers, [5, 5]), tf.assign(words, ["c", "d"])]
            updates.append(tf.count_up_to(count, 10))
        with tf.control_dependencies(updates):
            results = [reads[0] + 0, tf.string_join([reads[1], "!"]), reads[2] + 0]
        session.run(tf.global_variables_initializer())
        values = session.run(results)
        return [values[0].tolist(), [x.decode() for x in values[1]], values[2].tolist()]


def fetched_with_step(tf) -> list:
    """A variable fetched together with a training step, or with an update."""
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable([1.0, 2.0], use_resource=False)
        step = tf.train.GradientDescentOptimizer(0.25).minimize(tf.reduce_sum(v * v))
        session.run(v.initializer)
        values = [session.run([v, step])[0].tolist() for _ in range(2)]
        first = tf.assign(v, [10.0, 10.0])
        with tf.control_dependencies([first]):
            second = tf.assign(v, [20.0, 10.0])
        return [*values, [value.tolist() for value in session.run([first, second])]]


def read_through_handle(tf) -> list:
    """A value that was read through a handle stays."""
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable([1.0, 2.0], use_resource=True)
        before = v.read_value()
        with tf.control_dependencies([before]):
            update = v.assign_add(10 * before, read_value=False)
        with tf.control_dependencies([update]):
            after = tf.reshape(before, [2, 1]) * 2.0
        session.run(v.initializer)
        values = [*session.run([before, after]), session.run(v)]
        return [value.tolist() for value in values]


def copied_after_step(tf) -> list:
    """The weights of a layer, copied to another one behind a step that changes them."""
    with tf.Graph().as_default(), tf.Session() as session:
        w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], use_resource=False)
        slow = tf.Variable([[0.0, 0.0], [0.0, 0.0]], use_resource=False)
        y = tf.nn.relu(tf.matmul(tf.constant([[1.0, 0.5]]), w) + tf.constant([1.0, -1.0]))
        loss = tf.reduce_sum(y * y)
        step = tf.train.GradientDescentOptimizer(0.125).minimize(loss, var_list=[w])
        with tf.control_dependencies([step]):
            copied = tf.assign(slow, 0.5 * slow + 0.5 * w)
        session.run(tf.global_variables_initializer())
        return [session.run([loss, copied])[1].tolist() for _ in range(2)]


PROGRAMS = [
    condition_of_loop,
    loop_variable,
    branch_with_read,
    other_types,
    fetched_with_step,
    read_through_handle,
    copied_after_step,
]
PAIRS = [
    *((read, "add") for read in READS),
    *(("value", write) for write in WRITES if write != "add"),
]


def key(read: str, write: str) -> str:
    """Under which the answer of a pair is stored."""
    return f"{read} before {write}"


def outcomes(tf):
    """What pairs of a read and a write and the other programs give; the same each time."""
    first, second = _outcomes(tf), _outcomes(tf)
    assert first == second, "what depends on the order of threads has no place here"
    return first


def _outcomes(tf):
    return {
        **{key(read, write): outcome(tf, read, write) for read, write in PAIRS},
        **{function.__name__: function(tf) for function in PROGRAMS},
    }
