"""What variables can do, as programs: each is run on references and on resources."""

import numpy as np

M = np.arange(1, 13, dtype="f4").reshape(4, 3)
PROGRAMS = {
    "scatter_add": "v.scatter_add(tf.IndexedSlices(tf.constant([[1., 2., 3.]]), tf.constant([2])))",
    "scatter_sub": "v.scatter_sub(tf.IndexedSlices(tf.constant([[1., 2., 3.]]), tf.constant([2])))",
    "scatter_mul": "v.scatter_mul(tf.IndexedSlices(tf.constant([[1., 2., 3.]]), tf.constant([2])))",
    "scatter_div": "v.scatter_div(tf.IndexedSlices(tf.constant([[1., 2., 3.]]), tf.constant([2])))",
    "scatter_max": "v.scatter_max(tf.IndexedSlices(tf.constant([[9., 2., 3.]]), tf.constant([2])))",
    "scatter_min": "v.scatter_min(tf.IndexedSlices(tf.constant([[9., 2., 3.]]), tf.constant([2])))",
    "scatter_update": (
        "v.scatter_update(tf.IndexedSlices(tf.constant([[1., 2., 3.]]), tf.constant([2])))"
    ),
    "batch_scatter_update": (
        "v.batch_scatter_update(tf.IndexedSlices(tf.constant([[1.], [2.], [3.], [4.]]),"
        " tf.constant([[0], [2], [1], [1]])))"
    ),
    "batch_scatter_update of rows": (
        "v.batch_scatter_update(tf.IndexedSlices(tf.constant([[1., 2., 3.]]), tf.constant([1])))"
    ),
    "scatter_nd_add": "v.scatter_nd_add([[0, 1], [3, 2], [0, 1]], [10., 20., 30.])",
    "scatter_nd_sub": "v.scatter_nd_sub([[1]], [[10., 20., 30.]])",
    "scatter_nd_update": "v.scatter_nd_update([[1], [0]], [[1., 2., 3.], [4., 5., 6.]])",
    "function scatter_nd_update": "tf.scatter_nd_update(v, [[2, 2]], [7.])",
    "sparse_read": "v.sparse_read([2, 0, 2])",
    "gather_nd": "v.gather_nd([[2, 1], [0, 0]])",
    "gather_nd of rows": "v.gather_nd([[3]])",
    "count_up_to": "[n.count_up_to(9)]",
    "slice": "v[1:, ::2]",
    "slice assigned": "v[1:3, ::2].assign([[1., 2.], [3., 4.]])",
    "row assigned": "v[-1].assign([7., 8., 9.])",
    "element assigned": "v[0, 1].assign(5.)",
    "initialized_value": "v.initialized_value() + 1.",
    "value of the uninitialized": "late.initialized_value() * 2.",
    "divided as in Python 2": "[n.__div__(2), v.__rdiv__(2.)]",
    "read_value": "after(v.assign_add(v), v.read_value)",
    "partitions": "[tf.convert_to_tensor(p), *list(p)]",
    "partitions added": "p.assign_add(tf.ones([5, 2]))",
    "partitions subtracted": "p.assign_sub([tf.ones([3, 2]), tf.ones([2, 2])])",
    "partitions multiplied": "tf.matmul(p, [[1.], [2.]])",
    "embedding of partitions": "tf.nn.embedding_lookup(list(p), [0, 3, 4], 'div')",
    "columns": "[tf.convert_to_tensor(columns(tf.fixed_size_partitioner(2, 1)))]",
    "bytes": "[*columns(tf.variable_axis_size_partitioner(24))]",
    "bytes at most": "[*columns(tf.variable_axis_size_partitioner(8, axis=1, max_shards=2))]",
    "min max": "[*columns(tf.min_max_variable_partitioner(3, 0, 16))]",
    "by scope": "[*scoped()]",
    "from a value": "[*tf.get_variable('c', initializer=tf.constant(M), partitioner=two)]",
    "reused": "[*reused()]",
    "created": "[created()]",
    "cut value": "tf.create_partitioned_variables([4, 3], [2, 1], tf.constant(M), name='cut')",
    "of old": "tf.create_partitioned_variables([5, 2], [2, 1], offsets, name='old')",
}
FACTS = {
    "names": "[v.name for v in tf.global_variables()]",
    "told": "told()",
    "slice info": "[info_of(x).spec for x in p]",
    "info of slots": "slots()",
    "from_spec": "vars(tf.Variable.SaveSliceInfo.from_spec('4 3 0,2:0,3'))",
    "partition facts": "(p.name, p.shape.as_list(), len(p), p.dtype == tf.float32)",
    "reference": (
        "(v.ref() == v.ref(), v.ref() == n.ref(), v.ref().deref() is v, len({v.ref(), v.ref()}))"
    ),
    "caching": "cached().device",
    "modes": "(v.synchronization.name, v.aggregation.name, v.trainable)",
    "read and trained": (
        "tf.get_variable('r', [], trainable=True,"
        " synchronization=tf.VariableSynchronization.ON_READ).trainable"
    ),
    "on read": (
        "tf.get_variable('r', [], synchronization=tf.VariableSynchronization.ON_READ,"
        " aggregation=tf.VariableAggregation.MEAN).trainable"
    ),
    "scopes": (
        "(tf.get_variable_scope().get_collection('variables') == tf.global_variables(),"
        " tf.VariableScope(True, 'a', name_scope='b/').original_name_scope,"
        " in_op_scope())"
    ),
    "proto": "str(next(iter(p)).to_proto()).split('save_slice_info_def')[1].split()",
    "proto and back": "info_of(tf.Variable.from_proto(next(iter(p)).to_proto())).spec",
}
REFUSALS = {
    "iterated": "list(v)",
    "scatter without slices": "v.scatter_add([1.])",
    "batch scatter without slices": "v.batch_scatter_update([1.])",
    "synchronization": "tf.get_variable('r', [], synchronization='once')",
    "aggregation": "tf.get_variable('r', [], aggregation='sum')",
    "type of a value": ("tf.get_variable('t', initializer=tf.constant(1), dtype=tf.float32)"),
    "no getter": "tf.get_variable('g', [], custom_getter=3)",
    "spec without offset": "tf.Variable.SaveSliceInfo.from_spec('0 a,0:0:0')",
    "spec without size": "tf.Variable.SaveSliceInfo.from_spec('0 0,a:0:0')",
    "two axes": "columns(lambda shape, dtype: [2, 2])",
    "too few numbers": "columns(lambda shape, dtype: [2])",
    "no list": "columns(lambda shape, dtype: 2)",
    "none": "columns(lambda shape, dtype: [0, 1])",
    "there already": "tf.get_variable('p', [5, 2], partitioner=two)",
    "there in one piece": "tf.get_variable('v', [4, 3], partitioner=two)",
    "there in parts": "tf.get_variable('p', [5, 2])",
    "not there": "missing()",
    "other parts": "other(tf.fixed_size_partitioner(3), [5, 2])",
    "other shape": "other(two, [4, 2])",
    "bytes of nothing": "tf.variable_axis_size_partitioner(0)",
    "shards of nothing": "tf.variable_axis_size_partitioner(1, max_shards=-1)",
    "axis beyond": "columns(tf.min_max_variable_partitioner(3, axis=2))",
    "spec without shape": "tf.Variable.SaveSliceInfo.from_spec('0,2:0,3')",
    "spec without pairs": "tf.Variable.SaveSliceInfo.from_spec('4 3 0:0,3')",
    "spec of words": "tf.Variable.SaveSliceInfo.from_spec('4 a 0,2:0,3')",
}


def names_for(tf, use_resource: bool) -> dict:
    """What the expressions may use."""
    with tf.variable_scope("", use_resource=use_resource):
        two = tf.fixed_size_partitioner(2)

        def offsets(shape, dtype=None, partition_info=None):
            start = 0 if partition_info is None else sum(partition_info.var_offset)
            values = np.arange(int(np.prod([int(n) for n in shape]))) + 100.0 * start
            return tf.constant(values.reshape([int(n) for n in shape]), tf.float32)

        def get(name, *args, **kwargs):
            return tf.get_variable(name, *args, use_resource=use_resource, **kwargs)

        v = get("v", initializer=M)
        n = get("n", initializer=7)
        p = get("p", [5, 2], initializer=offsets, partitioner=two)
        late = get("late", initializer=[1.0, 2.0], collections=["later"])

    def after(op, make):
        with tf.control_dependencies([op]):
            return tf.identity(make())

    def columns(partitioner):
        return get("c", [4, 3], initializer=offsets, partitioner=partitioner)

    def scoped():
        with tf.variable_scope("s", partitioner=two, initializer=offsets):
            return get("c", [3])

    def reused():
        with tf.variable_scope("", reuse=True):
            return get("p", [5, 2])

    def missing():
        with tf.variable_scope("", reuse=True):
            return get("q", [5, 2], partitioner=two)

    def other(partitioner, shape):
        with tf.variable_scope("", reuse=True):
            return get("p", shape, partitioner=partitioner)

    def info_of(variable):
        hidden = getattr(variable, "_get_save_slice_info", None)
        return hidden() if hidden else variable.save_slice_info

    def cached():
        with tf.device("/job:ps/task:1"):
            return get("cached", [], caching_device="/job:worker").value()

    def in_op_scope():
        with tf.variable_op_scope([v], None, "made"):
            return tf.get_variable("x", []).name

    def created():
        def doubled(next_creator, **kwargs):
            value = kwargs.pop("initial_value")
            names = tf.convert_to_tensor(value() if callable(value) else value) * 2.0
            return next_creator(initial_value=names, **kwargs)

        with tf.variable_creator_scope(doubled), tf.variable_creator_scope(doubled):
            return tf.Variable([1.0, 2.0]) + get("created", initializer=[1.0, 3.0])

    def told():
        seen = []

        def noted(next_creator, **kwargs):
            absent = "experimental_enable_variable_lifting"  # new in TensorFlow 2
            seen.append(
                [
                    (key, None if callable(value) else str(value))
                    for key, value in sorted(kwargs.items())
                    if key != absent
                ]
            )
            return next_creator(**kwargs)

        with tf.variable_creator_scope(noted):
            tf.Variable([1.0, 2.0])
            get("told", [2], initializer=tf.zeros_initializer())
            get("told_too", initializer=[1.0, 2.0], trainable=False)
            tf.Variable([1], name="named", dtype=tf.int32, expected_shape=[1])
        return seen

    def slots():
        loss = tf.reduce_sum(tf.square(tf.convert_to_tensor(p)))
        optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
        optimizer.minimize(loss, var_list=list(p))
        infos = [info_of(optimizer.get_slot(x, "momentum")) for x in p]
        return [(info.full_name, info.spec) for info in infos]

    names = {"tf": tf, "v": v, "n": n, "p": p, "late": late, "two": two, "M": M}
    functions = (
        after,
        offsets,
        created,
        told,
        in_op_scope,
        cached,
        columns,
        scoped,
        reused,
        missing,
        other,
        info_of,
        slots,
    )
    return names | {function.__name__: function for function in functions}


def run(tf, expression: str, use_resource: bool) -> list:
    """The values an expression gives, and the variable's behind it."""
    with tf.Graph().as_default(), tf.Session() as session:
        names = names_for(tf, use_resource)
        results = eval(expression, names)
        session.run(tf.global_variables_initializer())
        results = results if isinstance(results, list) else [results]
        return [*session.run(results), *session.run([names["v"], names["n"]])]


def fact(tf, expression: str, use_resource: bool) -> str:
    """The text of what an expression gives."""
    with tf.Graph().as_default():
        return repr(eval(expression, names_for(tf, use_resource)))


def refusal(tf, expression: str, use_resource: bool) -> list[str]:
    """Type and words of what an expression raises."""
    with tf.Graph().as_default():
        names = names_for(tf, use_resource)
        try:
            eval(expression, names)
        except Exception as error:
            return [type(error).__name__, str(error).strip()]
    return ["", ""]
