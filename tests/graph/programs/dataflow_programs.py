"""Programs with branches and loops of Switch and Merge, as TensorFlow 1 writes them.

Each function gets TensorFlow with control flow v1, builds a graph and gives its runs: for each what
is fetched and what is fed, by names.
"""


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


PROGRAMS = (
    *(branch, loop, effects, nested, gradient_of_loop, gradient_of_branch_in_loop, recurrent),
    *(maps, dead, cases, assertion, statistics, writes_in_loop, queue_in_branch, pieces),
    *(wrong_arrays, states, folds, two_loops_in_turn, endless),
)
