"""Programs with branches and loops of Switch and Merge, as TensorFlow 1 writes them.

Each function gets TensorFlow with control flow v1, builds a graph and gives its runs: for each what
is fetched and what is fed, by names.
"""

from array_programs import (
    arrays_across_stages,
    arrays_of_kinds,
    arrays_of_native_and_other_loops,
    arrays_of_sizes_in_the_run,
    arrays_that_grow,
    arrays_without_elements,
    elements_of_unequal_shapes,
    elements_read_again,
    elements_without_value,
    gradients_of_gradients_of_arrays,
    wrong_elements,
)


def branch(tf):
    x = tf.placeholder(tf.float32, [None], name="x")
    y = tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2 + 1, lambda: x - 1)
    return [([y], {"x:0": [1, 2]}), ([y], {"x:0": [-1, -2]})]


def loop(tf):
    x = tf.placeholder(tf.int32, [], name="x")
    y = tf.while_loop(lambda i, s: i < x, lambda i, s: (i + 1, s + i * i), [0, 0])
    return [(y, {"x:0": 5}), (y, {"x:0": 0})]


def effects(tf):
    x = tf.placeholder(tf.bool, [], name="x")
    v = tf.get_variable("v", initializer=1.0)
    w = tf.get_variable("w", initializer=2.0, use_resource=True)

    def chosen():
        return tf.group(tf.assign_add(v, 1.0), w.assign_add(10.0))

    c = tf.cond(x, chosen, lambda: tf.group(tf.assign(v, -5.0)))
    with tf.control_dependencies([c]):
        read = [v.read_value(), w.read_value()]
    runs = [(read, {"x:0": flag}) for flag in (True, False, True)]
    return [([tf.global_variables_initializer()], {}), *runs]


def nested(tf):
    x = tf.placeholder(tf.int32, [], name="x")

    def inner(i):
        def body(j, t):
            return j + 1, t + tf.cond(tf.equal(j % 2, 0), lambda: j * x, lambda: -j)

        return tf.while_loop(lambda j, t: j < i, body, [0, 0])[1]

    y = tf.while_loop(lambda i, s: i < x, lambda i, s: (i + 1, s + inner(i)), [0, 1])
    return [(y, {"x:0": 5}), (y, {"x:0": 1})]


def gradient_of_loop(tf):
    x = tf.placeholder(tf.float32, [2], name="x")
    start = [0, tf.constant([1.0, 2.0])]
    _, y = tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * x + tf.sin(y)), start)
    return [([y, *tf.gradients(y, x)], {"x:0": [0.5, 0.3]})]


def gradient_of_branch_in_loop(tf):
    x = tf.placeholder(tf.float32, [2], name="x")

    def body(i, y):
        even = tf.equal(i % 2, 0)
        return i + 1, tf.cond(even, lambda: y * x, lambda: tf.exp(-y) * x)

    y = tf.while_loop(lambda i, y: i < 3, body, [0, x])[1]
    return [([y, *tf.gradients(y, x)], {"x:0": [0.5, 0.3]})]


def recurrent(tf):
    x = tf.placeholder(tf.float32, [3, None, 4], name="x")
    w = tf.get_variable("w", [9, 5], initializer=tf.constant_initializer(0.1))
    n = tf.shape(x)[1]
    rows = tf.TensorArray(tf.float32, n).unstack(tf.transpose(x, [1, 0, 2]))
    lengths = tf.constant([1, 2, 3])

    def body(i, h, results):
        new = tf.tanh(tf.matmul(tf.concat([rows.read(i), h], 1), w))
        new = tf.where(i < lengths, new, h)
        return i + 1, new, results.write(i, new)

    start = [0, tf.zeros([3, 5]), tf.TensorArray(tf.float32, n)]
    _, _, results = tf.while_loop(lambda i, *_: i < n, body, start)
    outputs = tf.transpose(results.stack(), [1, 0, 2])
    loss = tf.reduce_sum(outputs * outputs)
    step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    feeds = {"x:0": [[[0.1 * (i + j - k) for k in range(4)] for j in range(5)] for i in range(3)]}
    fetches = [outputs, loss, *tf.gradients(loss, x)]
    init = [tf.global_variables_initializer()]
    return [(init, {}), (fetches, feeds), ([step], feeds), (fetches, feeds)]


def maps(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y, z = tf.map_fn(lambda r: r * r + 1, x), tf.scan(lambda a, r: a + r * r, x)
    fetches = [y, z, tf.gradients(y, x)[0], tf.gradients(z, x)[0]]
    return [(fetches, {"x:0": [[1, 2], [3, 4], [5, 6]]}), (fetches, {"x:0": [[1, 2]]})]


def dead(tf):
    x = tf.placeholder(tf.bool, [], name="x")
    no, yes = tf.raw_ops.Switch(data=tf.constant(3.0), pred=x)
    merged = tf.raw_ops.Merge(inputs=[tf.negative(no), yes * 2])
    runs = [([tf.negative(no, name="no")], {"x:0": flag}) for flag in (False, True)]
    return [*runs, (list(merged), {"x:0": False}), (list(merged), {"x:0": True})]


def cases(tf):
    x = tf.placeholder(tf.int32, [], name="x")
    y = tf.case([(x < 1, lambda: x + 1), (x < 3, lambda: x * 10)], default=lambda: -x)
    return [([y], {"x:0": k}) for k in (0, 2, 5)]


def assertion(tf):
    x = tf.placeholder(tf.int32, [], name="x")

    def checked():
        with tf.control_dependencies([tf.Assert(x > 5, ["too small", x])]):
            return x * 2

    y = tf.cond(x > 0, checked, lambda: x)
    return [([y], {"x:0": k}) for k in (-1, 7, 3)]


def statistics(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    training = tf.placeholder_with_default(False, [], name="training")
    mean = tf.get_variable("mean", [2], initializer=tf.zeros_initializer(), trainable=False)

    def measured():
        now = tf.reduce_mean(x, 0)
        with tf.control_dependencies([tf.assign_sub(mean, 0.5 * (mean - now))]):
            return tf.identity(now)

    y = x - tf.cond(training, measured, lambda: tf.identity(mean))
    feeds = {"x:0": [[1, 2], [3, 5]]}
    runs = [([y], feeds), ([y], {**feeds, "training:0": True}), ([y], feeds)]
    return [([tf.global_variables_initializer()], {}), *runs]


def writes_in_loop(tf):
    x = tf.placeholder(tf.int32, [], name="x")
    v = tf.get_variable("v", initializer=0, use_resource=True)

    def body(i):
        with tf.control_dependencies([v.assign_add(i)]):
            return i + 1

    i = tf.while_loop(lambda i: i < x, body, [0])
    with tf.control_dependencies([i]):
        read = v.read_value()
    init = [tf.global_variables_initializer()]
    return [(init, {}), ([read], {"x:0": 4}), ([read], {"x:0": 3})]


def queue_in_branch(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    queue = tf.FIFOQueue(10, [tf.float32], shapes=[()])

    def put():
        with tf.control_dependencies([queue.enqueue(x)]):
            return tf.constant(1)

    y = tf.cond(x > 0, put, lambda: tf.constant(0))
    with tf.control_dependencies([y]):
        size = queue.size()
    return [([y, size], {"x:0": k}) for k in (1, -1, 2)]


def pieces(tf):
    x = tf.placeholder(tf.float32, [None], name="x")
    array = tf.TensorArray(tf.float32, 3, infer_shape=False).split(x, [1, 2, 0])
    grown = tf.TensorArray(tf.float32, 0, dynamic_size=True, clear_after_read=False)
    grown = tf.while_loop(
        lambda i, a: i < tf.size(x), lambda i, a: (i + 1, a.write(i, x[i] * 2)), [0, grown]
    )[1]
    twice = [grown.read(0), grown.read(0), grown.gather([1, 0]), grown.size()]
    return [([array.concat()], {"x:0": [1, 2, 3]}), (twice, {"x:0": [4, 5]})]


def wrong_arrays(tf):
    x = tf.placeholder(tf.int32, [], name="x")
    array = tf.TensorArray(tf.float32, 2, element_shape=[], tensor_array_name="a")
    full = array.write(0, 1.0)
    with tf.control_dependencies([full.flow]):
        again = full.write(x, 2.0)
    return [([full.read(x)], {"x:0": 5}), ([again.flow], {"x:0": 0}), ([full.read(x)], {"x:0": 1})]


def states(tf):
    x = tf.placeholder(tf.float32, [None, 3], name="x")

    def body(i, a):
        return i + 1, tf.concat([a, x[:1] * tf.cast(i, tf.float32)], 0)

    shapes = [tf.TensorShape([]), tf.TensorShape([None, 3])]
    y = tf.while_loop(lambda i, a: i < 3, body, [0, x], shape_invariants=shapes)
    return [(y, {"x:0": [[1, 2, 3]]}), (y, {"x:0": [[1, 2, 3], [4, 5, 6]]})]


def folds(tf):
    x = tf.placeholder(tf.float32, [4], name="x")
    y = [tf.foldl(lambda a, b: a * 2 + b, x), tf.foldr(lambda a, b: a * 2 + b, x)]
    return [([*y, *tf.gradients(y, x)], {"x:0": [1, 2, 3, 4]})]


def two_loops_in_turn(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    _, y = tf.while_loop(lambda i, y: y < 100, lambda i, y: (i + 1, y * x), [0, x])
    _, z = tf.while_loop(lambda i, z: z > 1, lambda i, z: (i + 1, z / 2), [0, y])
    return [([y, z, *tf.gradients(z, x)], {"x:0": k}) for k in (3, 200)]


def endless(tf):
    x = tf.placeholder(tf.bool, [], name="x")
    y = tf.while_loop(lambda i: tf.logical_and(i > 0, x), lambda i: i * 1, [1])
    return [([y], {"x:0": False})]


def gradient_of_nested_loops(tf):
    x = tf.placeholder(tf.float32, [2], name="x")

    def outer(i, y):
        inner = tf.while_loop(lambda j, z: j < i + 1, lambda j, z: (j + 1, tf.sin(z * x)), [0, y])
        return i + 1, inner[1] + y

    y = tf.while_loop(lambda i, y: i < 3, outer, [0, x])[1]
    return [([y, *tf.gradients(y, x)], {"x:0": [0.5, 1.3]})]


def gradient_of_unbounded_loop(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    steps, y = tf.while_loop(lambda i, y: y < 50, lambda i, y: (i + 1, y * y + x), [0, x])
    return [([steps, y, *tf.gradients(y, x)], {"x:0": k}) for k in (1.5, 0.9, 60)]


def gradient_of_arrays(tf):
    x = tf.placeholder(tf.float32, [4, 2], name="x")
    source = tf.TensorArray(tf.float32, 4, clear_after_read=False).unstack(x)
    target = tf.TensorArray(tf.float32, 4)

    def body(i, h, a):
        h = h * 0.5 + source.read(i) * source.read(3 - i)
        return i + 1, h, a.write(i, tf.tanh(h))

    _, h, target = tf.while_loop(lambda i, h, a: i < 4, body, [0, x[0], target])
    y = target.stack()
    value = [[0.1, 0.2], [0.3, -0.4], [0.5, 0.6], [-0.7, 0.8]]
    return [([y, h, *tf.gradients([y, h], x)], {"x:0": value})]


def gradient_of_cases_in_loop(tf):
    x = tf.placeholder(tf.float32, [], name="x")

    def body(i, y):
        left = tf.equal(i % 3, 0)
        right = tf.equal(i % 3, 1)
        pairs = [(left, lambda: y * x), (right, lambda: tf.exp(-y))]
        return i + 1, tf.case(pairs, default=lambda: y + x * x)

    y = tf.while_loop(lambda i, y: i < 7, body, [0, x])[1]
    return [([y, *tf.gradients(y, x)], {"x:0": k}) for k in (0.3, 1.2)]


def one_condition_thrice(tf):
    x = tf.placeholder(tf.float32, [3], name="x")
    positive = x[0] > 0
    a, b, c = tf.cond(positive, lambda: (x + 1, x * 2, x[:1]), lambda: (x, x - 1, x[1:2]))
    d = tf.cond(positive, lambda: a * b, lambda: a - b)
    e = tf.cond(positive, lambda: tf.reduce_sum(d) * c, lambda: c)
    y = [a, d, e]
    return [([*y, *tf.gradients(e, x)], {"x:0": k}) for k in ([1, 2, 3], [-1, 2, 3])]


def branches_in_branches(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    z = tf.placeholder_with_default(2.0, [], name="z")

    def high():
        chosen = tf.cond(
            z > x, lambda: x * z, lambda: tf.while_loop(lambda y: y > 1, lambda y: y / 2, [x])
        )
        return tf.cond(chosen > 2, lambda: chosen * 3, lambda: chosen + z), x * 1

    y = tf.cond(x > 0, high, lambda: (tf.cond(z > 1, lambda: -x, lambda: x * x), z))
    runs = [(5.0, 2.0), (5.0, 7.0), (0.5, 2.0), (-1.5, 2.0), (-1.5, 0.5)]
    grads = tf.gradients(y[0], x)
    return [([*y, *grads], {"x:0": a, "z:0": b}) for a, b in runs]


def loop_in_branch_in_loop(tf):
    x = tf.placeholder(tf.int32, [], name="x")

    def body(i, s, n):
        def iterate():
            return tf.while_loop(lambda j, t: t < 10 * i, lambda j, t: (j + 1, t + x), [0, s])

        j, t = tf.cond(tf.equal(i % 2, 1), iterate, lambda: (tf.constant(0), s))
        return i + 1, t, n + j

    y = tf.while_loop(lambda i, s, n: i < 6, body, [0, 1, 0])
    return [(y, {"x:0": k}) for k in (3, 7)]


def variables_in_loops(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    v = tf.get_variable("v", initializer=1.0)
    w = tf.get_variable("w", initializer=2.0, use_resource=True)

    def body(i, s):
        def changed():
            with tf.control_dependencies([w.assign_add(x)]):
                return tf.identity(w.read_value())

        y = tf.cond(tf.equal(i % 2, 0), changed, lambda: w * 1.0)
        return i + 1, s + y

    before = w.read_value()
    with tf.control_dependencies([before]):
        i, s = tf.while_loop(lambda i, s: i < 5, body, [0, v * 0.0])
    with tf.control_dependencies([s]):
        after = w.read_value()
    runs = [([before, i, s, after], {"x:0": k}) for k in (1, 0.5)]
    return [([tf.global_variables_initializer()], {}), *runs]


def waits_across(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    with tf.control_dependencies([v.assign(x * 2)]):
        y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y + v), [0, 0.0])[1]
    with tf.control_dependencies([y]):
        last = v.assign_add(100.0)
    with tf.control_dependencies([last]):
        z = tf.cond(x > 0, lambda: v * 1.0, lambda: -v)
    runs = [([y, z], {"x:0": k}) for k in (3, -2)]
    return [([tf.global_variables_initializer()], {}), *runs]


def summaries_of_branches(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    text = tf.cond(
        x > 0, lambda: tf.summary.scalar("up", x), lambda: tf.summary.scalar("downwards", x)
    )
    return [([text], {"x:0": 1}), ([text], {"x:0": -1})]


def strings_in_loop(tf):
    x = tf.placeholder(tf.string, [], name="x")
    y = tf.while_loop(
        lambda i, t: i < 4, lambda i, t: (i + 1, tf.string_join([t, x, tf.as_string(i)])), [0, "<"]
    )[1]
    return [([tf.strings.length(y), tf.string_to_hash_bucket_fast(y, 1000)], {"x:0": "ab"})]


def limited_loops(tf):
    x = tf.placeholder(tf.int64, [], name="x")
    y = tf.while_loop(
        lambda a, b: a < 100, lambda a, b: [a + b, b + 1], [x, x], maximum_iterations=6
    )
    z = tf.while_loop(lambda a: a < 0, lambda a: a - 1, [x])
    return [([*y, z], {"x:0": k}) for k in (1, 30, 200)]


def draws_in_loop(tf):
    x = tf.placeholder(tf.int32, [], name="x")

    def body(i, s, t):
        u = tf.random_uniform([2], seed=3)
        n = tf.cond(u[0] > 0.5, lambda: tf.random_normal([2], seed=4), lambda: u)
        return i + 1, s + u, t + n

    tf.set_random_seed(7)
    start = [0, tf.zeros([2]), tf.zeros([2])]
    y = tf.while_loop(lambda i, s, t: i < x, body, start, parallel_iterations=1)
    return [(y[1:], {"x:0": k}) for k in (3, 5)] + [([y[1]], {"x:0": 2})]


def assertion_in_loop(tf):
    x = tf.placeholder(tf.int32, [], name="x")

    def body(i):
        with tf.control_dependencies([tf.Assert(tf.less(i, 3), [i], name="small")]):
            return i + 1

    y = tf.while_loop(lambda i: i < x, body, [0])
    return [([y], {"x:0": 3}), ([y], {"x:0": 5})]


def maps_in_maps(tf):
    x = tf.placeholder(tf.float32, [3, None], name="x")
    y = tf.map_fn(lambda row: tf.map_fn(lambda a: tf.cond(a > 0, lambda: a, lambda: a * a), row), x)
    sums = tf.scan(lambda a, row: a + tf.reduce_sum(row), x, 0.0)
    return [([y, sums], {"x:0": [[1, -2], [-3, 4], [5, -6]]})]


def filled_and_empty(tf):
    x = tf.placeholder(tf.int32, [], name="x")
    array = tf.TensorArray(tf.float32, x, element_shape=[2], clear_after_read=False)
    array = tf.while_loop(
        lambda i, a: 2 * i < x,
        lambda i, a: (i + 1, a.write(2 * i, tf.cast([i, i + 1], tf.float32))),
        [0, array],
    )[1]
    return [([array.stack(), array.size(), array.gather([0])], {"x:0": k}) for k in (1, 4)]


def values_that_decide(tf):
    x = tf.placeholder(tf.float32, [None], name="x")

    def body(i, y):
        big = tf.boolean_mask(y, y > 0.1 * tf.cast(i, tf.float32))
        return i + 1, tf.cond(tf.size(big) > 2, lambda: big * 0.5, lambda: y)

    shapes = [tf.TensorShape([]), tf.TensorShape([None])]
    y = tf.while_loop(lambda i, y: i < 4, body, [0, x], shape_invariants=shapes)[1]
    return [([y, tf.size(y)], {"x:0": [1, 2, 0.05, 0.3, 4]}), ([y], {"x:0": [0.5, 0.1]})]


def steps_of_branches(tf):
    x = tf.placeholder(tf.bool, [], name="x")
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    w = tf.get_variable("w", initializer=3.0)
    loss = tf.cond(x, lambda: tf.reduce_sum(v * v) * w, lambda: tf.reduce_sum(v) - w)
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.control_dependencies([step]):
        after = [v.read_value(), tf.identity(w)]
    runs = [(y, {"x:0": flag}) for flag in (True, False, True) for y in ([loss], after)]
    return [([tf.global_variables_initializer()], {}), *runs]


def loops_beside_each_other(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    y = [
        tf.while_loop(lambda i, y, k=k: i < k, lambda i, y: (i + 1, y * x), [0, 1.0])[1]
        for k in range(4)
    ]
    z = tf.while_loop(lambda z, t: z < tf.add_n(y), lambda z, t: (z + t, t * 2), [x, y[1]])
    return [([*y, *z, *tf.gradients(z[0], x)], {"x:0": k}) for k in (1.5, 0.5)]


def bidirectional(tf):
    x = tf.placeholder(tf.float32, [2, None, 3], name="x")
    length = tf.placeholder(tf.int32, [2], name="length")
    cells = [
        tf.nn.rnn_cell.GRUCell(
            2,
            kernel_initializer=tf.constant_initializer(k),
            bias_initializer=tf.constant_initializer(0.1),
        )
        for k in (0.1, -0.2)
    ]
    y, state = tf.nn.bidirectional_dynamic_rnn(*cells, x, length, dtype=tf.float32)
    grads = tf.gradients([*y, *state], [x, *tf.trainable_variables()])
    feeds = {"x:0": [[[1, 2, 3], [0.1, 0.2, 0.3]], [[-1, 0, 1], [4, 5, 6]]], "length:0": [2, 1]}
    return [([tf.global_variables_initializer()], {}), ([*y, *state, *grads], feeds)]


PROGRAMS = (
    *(branch, loop, effects, nested, gradient_of_loop, gradient_of_branch_in_loop, recurrent),
    *(maps, dead, cases, assertion, statistics, writes_in_loop, queue_in_branch, pieces),
    *(wrong_arrays, states, folds, two_loops_in_turn, endless, gradient_of_nested_loops),
    *(gradient_of_unbounded_loop, gradient_of_arrays, gradient_of_cases_in_loop),
    *(one_condition_thrice, branches_in_branches, loop_in_branch_in_loop, variables_in_loops),
    *(waits_across, summaries_of_branches, strings_in_loop, limited_loops, draws_in_loop),
    *(assertion_in_loop, maps_in_maps, filled_and_empty, values_that_decide, steps_of_branches),
    *(loops_beside_each_other, bidirectional, wrong_elements, elements_read_again),
    *(elements_without_value, elements_of_unequal_shapes, arrays_of_native_and_other_loops),
    *(
        arrays_across_stages,
        arrays_that_grow,
        arrays_of_sizes_in_the_run,
        arrays_of_kinds,
        arrays_without_elements,
    ),
    gradients_of_gradients_of_arrays,
)
