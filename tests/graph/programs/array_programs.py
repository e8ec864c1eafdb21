"""Programs whose tensor arrays TensorFlow 1 writes: errors of elements, growth, gradients."""


def wrong_elements(tf):
    w = tf.placeholder(tf.int32, [3], name="w")
    r = tf.placeholder(tf.int32, [3], name="r")
    array = tf.TensorArray(tf.float32, 3, tensor_array_name="a")

    def put(i, a):
        return i + 1, a.write(w[i], tf.cast(i, tf.float32) + [1.0, 2.0])

    full = tf.while_loop(lambda i, a: i < 3, put, [0, array])[1]
    start = [0, tf.zeros([2])]
    y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2 + full.read(r[i])), start)[1]
    pairs = [([2, 0, 1], [0, 2, 1]), ([0, 0, 1], [0, 1, 2]), ([0, 1, 3], [0, 1, 2])]
    pairs += [([0, -1, 2], [0, 1, 2]), ([0, 1, 2], [0, 0, 2]), ([0, 1, 2], [0, 1, -7])]
    pairs += [([0, 1, 2], [0, 3, 1]), ([1, 2, 0], [2, 1, 0])]
    return [([y], {"w:0": a, "r:0": b}) for a, b in pairs]


def elements_read_again(tf):
    x = tf.placeholder(tf.int32, [], name="x")
    source = tf.range(4.0)
    array = tf.TensorArray(tf.float32, 4, clear_after_read=False, tensor_array_name="a")
    array = array.unstack(source)

    def body(i, y, a):
        y += a.read(3 - i) + a.read(1)
        with tf.control_dependencies([y]):
            value = tf.cast(i, tf.float32)
            return i + 1, y, tf.cond(i < x, lambda: a, lambda: a.write(i, value))

    y = tf.while_loop(lambda i, *_: i < 4, body, [0, 0.0, array])[1]
    return [([y], {"x:0": 4}), ([y], {"x:0": 2})]


def elements_without_value(tf):
    x = tf.placeholder(tf.int32, [], name="x")
    arrays = [
        tf.TensorArray(tf.float32, 4, element_shape=[2], tensor_array_name="a"),
        tf.TensorArray(tf.float64, 4, tensor_array_name="b"),
        tf.TensorArray(tf.int64, 4, infer_shape=False, tensor_array_name="c"),
    ]

    def put(i, *many):
        items = [tf.cast(i, a.dtype) + tf.ones([2], a.dtype) for a in many]
        return i + 2, *(a.write(i, item) for a, item in zip(many, items, strict=True))

    full = tf.while_loop(lambda i, *_: i < x, put, [0, *arrays])[1:]
    y = []
    for a in full:
        start = [0, tf.zeros([2], a.dtype)]
        shapes = [tf.TensorShape([]), tf.TensorShape(None)]

        def step(i, y, a=a):
            return i + 1, y * 2 + a.read(i)

        y.append(tf.while_loop(lambda i, y: i < 4, step, start, shape_invariants=shapes)[1])
    return [([y[0]], {"x:0": 0}), ([y[0]], {"x:0": 4}), *(([z], {"x:0": 3}) for z in y[1:])]


def elements_of_unequal_shapes(tf):
    x = tf.placeholder(tf.float32, [4], name="x")
    n = tf.placeholder(tf.int32, [], name="n")
    array = tf.TensorArray(tf.float32, 3, infer_shape=False, tensor_array_name="a")
    same = tf.TensorArray(tf.float32, 3, tensor_array_name="b")

    def put(i, a):
        return i + 1, a.write(i, x[: tf.minimum(i, n) + 1])

    full = tf.while_loop(lambda i, a: i < 3, put, [0, array])[1]
    unlike = tf.while_loop(lambda i, a: i < 3, put, [0, same])[1]
    feeds = [{"x:0": [1, 2, 3, 4], "n:0": k} for k in (0, 2)]
    grads = tf.gradients(full.concat(), x)
    runs = [([full.concat(), *grads], feed) for feed in feeds]
    return runs + [([y], feed) for y in (full.stack(), unlike.concat()) for feed in feeds]


def arrays_of_native_and_other_loops(tf):
    x = tf.placeholder(tf.float32, [3, 2], name="x")
    rows = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x)
    squares = tf.TensorArray(tf.float32, 3, clear_after_read=False)

    def square(i, a):
        return i + 1, a.write(i, rows.read(i) * rows.read(2 - i))

    squares = tf.while_loop(lambda i, a: i < 3, square, [0, squares])[1]

    def longer(i, y):
        return i + 1, tf.concat([y, squares.read(i) * x[0]], 0)

    shapes = [tf.TensorShape([]), tf.TensorShape([None])]
    y = tf.while_loop(lambda i, y: i < 3, longer, [0, x[1]], shape_invariants=shapes)[1]
    z = squares.gather([1, 0])
    loss = tf.reduce_sum(y * y) + tf.reduce_sum(z * x[1:])
    return [([y, z, *tf.gradients(loss, x)], {"x:0": [[1, 2], [3, 0.5], [0.1, -1]]})]


def arrays_across_stages(tf):
    x = tf.placeholder(tf.float32, [4], name="x")
    array = tf.TensorArray(tf.float32, 4, clear_after_read=False)
    array = tf.while_loop(
        lambda i, a: i < 4, lambda i, a: (i + 1, a.write(i, x[i] * x[i])), [0, array]
    )[1]
    with tf.control_dependencies([array.flow]):
        positive = tf.boolean_mask(x, x > 0)
    n = tf.size(positive)
    y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y + array.read(i)), [0, 0.0])[1]
    grads = tf.gradients(y + tf.reduce_sum(positive), x)
    return [([y, positive, *grads], {"x:0": k}) for k in ([1, -1, 2, 3], [-1, -2, 5, -1])]


def arrays_that_grow(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    grown = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    n = tf.shape(x)[0]
    grown = tf.while_loop(
        lambda i, a: i < n, lambda i, a: (i + 1, a.write(i, tf.sin(x[i]))), [0, grown]
    )[1]
    y = grown.stack()
    return [([y, *tf.gradients(y, x)], {"x:0": k}) for k in ([[1, 2]], [[3, 4], [5, 6]])]


def arrays_of_sizes_in_the_run(tf):
    x = tf.placeholder(tf.float32, [2], name="x")
    size, n, shift, r = (tf.placeholder(tf.int32, [], name=k) for k in ("size", "n", "shift", "r"))

    def put(i, a):
        return i + 1, a.write(n - 1 - i + shift, tf.sin(x) * tf.cast(i, tf.float32))

    def runs(name, first, grows, right, wrong):
        array = tf.TensorArray(
            tf.float32, first, grows, False, tensor_array_name=name, element_shape=[2]
        )
        full = tf.while_loop(lambda i, _: i < n, put, [0, array])[1]
        y, last = full.stack(), full.read(r)
        values = [y, full.size(), *tf.gradients(y * y, x)]
        again = [last, *tf.gradients(last, x)]
        three = feed(3, 3, 0)
        rows = [(values, feed(*sizes)) for sizes in right]
        rows += [([y], feed(*sizes)) for sizes in wrong]
        rows += [(again, {**three, "r:0": k}) for k in (0, 2)]
        return rows + [([last], {**three, "r:0": k}) for k in (3, -1)]

    def feed(*sizes):
        return {"x:0": [0.5, 2], **dict(zip(("size:0", "n:0", "shift:0"), sizes, strict=True))}

    wrong = [(2, 3, 0), (2, 2, -1)]
    sized = runs("a", size, False, [(4, 4, 0), (3, 2, 1), (5, 2, 0)], wrong)
    grown = runs("b", 0, True, [(0, 4, 0), (0, 2, 1), (0, 1, 3)], [(0, 3, -1)])
    return sized + grown + runs("c", size, True, [(2, 4, 0), (6, 2, 1), (3, 3, 0)], [(-1, 1, 0)])


def arrays_of_kinds(tf):
    x = tf.placeholder(tf.int32, [3], name="x")
    texts = tf.map_fn(tf.as_string, x, tf.string)
    flags = tf.map_fn(lambda i: i > 1, x, tf.bool)
    halves = tf.map_fn(lambda i: tf.cast(i, tf.float16) / 2, x, tf.float16)
    waves = tf.map_fn(lambda i: tf.complex(1.0, tf.cast(i, tf.float32)), x, tf.complex64)
    return [([texts[1], flags, halves, tf.imag(waves)], {"x:0": [1, 2, 3]})]


def arrays_without_elements(tf):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.map_fn(lambda r: r * 2, x)
    z = tf.map_fn(lambda r: r[:0], x)
    return [
        ([y, z, *tf.gradients(y, x)], {"x:0": k}) for k in ([[1, 2, 3]], [[1, 2, 3], [4, 5, 6]])
    ]


def gradients_of_gradients_of_arrays(tf):
    x = tf.placeholder(tf.float32, [3], name="x")
    y = tf.scan(lambda a, b: a * b + tf.sin(b), x)
    (first,) = tf.gradients(y, x)
    return [([y, first], {"x:0": [0.5, 1.5, -0.3]})]
