"""Programs of TF1 that change variables and go on with what that gives, given `tf`.

What TensorFlow makes of them is stored in update_programs.json. Each gives what JSON can hold.
"""

from __future__ import annotations

PROGRAMS = []


def program(function):
    """Lists a program."""
    PROGRAMS.append(function)
    return function


def run(tf, fetches):
    """What a new Session gives for fetches of initialised variables."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [value.tolist() for value in session.run(fetches)]


def waits(graph, *kinds):
    """Name, inputs and control inputs of the operations of some types."""
    return [
        [
            op.name,
            [tensor.op.type for tensor in op.inputs],
            [before.name for before in op.control_inputs],
        ]
        for op in graph.get_operations()
        if op.type in kinds
    ]


@program
def chained_updates(tf):
    """Updates of what an update of a resource variable gives, each after the one before."""
    with tf.Graph().as_default() as graph:
        v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
        last = v.assign([3.0, 4.0]).assign_add([1.0, 1.0]).assign_sub([2.0, 0.0])
        values = run(tf, [last])
        return {
            "values": values,
            "text": [str(last), last.name, last.op.type, last.handle.name],
            "shape": [last.shape.as_list(), last.get_shape().as_list(), last.dtype.name],
            "is_tensor": [isinstance(last, tf.Tensor), tf.is_tensor(last)],
            "graph": waits(graph, "AssignVariableOp", "AssignAddVariableOp", "ReadVariableOp"),
        }


@program
def functions_of_updates(tf):
    """The functions of `tf` that change variables, on one behind a handle and its updates."""
    with tf.Graph().as_default() as graph:
        v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
        updates = [tf.assign(v, [3.0, 4.0])]
        updates.append(tf.assign_add(updates[0], [1.0, 1.0]))
        updates.append(tf.scatter_update(v, [0], [9.0]))
        updates.append(updates[-1].scatter_add(tf.IndexedSlices([1.0], [1])))
        updates.append(tf.scatter_nd_add(v, [[1]], [5.0]))
        updates.append(updates[-1].scatter_nd_sub([[0]], [5.0]))
        updates.append(v[0].assign(7.0))
        return [
            [str(x) for x in updates],
            waits(graph, "AssignVariableOp", "AssignAddVariableOp", "ResourceScatterUpdate"),
            waits(graph, "ResourceScatterAdd", "ResourceScatterNdAdd", "ResourceScatterNdSub"),
            [op.name for op in graph.get_operations() if op.type in ("Const", "ReadVariableOp")],
        ]


@program
def values_of_updates(tf):
    """Every way to read what an update gives."""
    with tf.Graph().as_default() as graph:
        v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
        new = v.assign([3.0, 4.0])
        reads = [new.value(), new.read_value(), tf.convert_to_tensor(new), tf.identity(new)]
        reads += [new + 1.0, new[0], tf.concat([new, new], 0)]
        values = run(tf, [new, *reads])
        with tf.control_dependencies([new]):
            after = tf.no_op("after")
        both = tf.group(new, v.assign_add([1.0, 1.0]), name="both")
        return [
            values,
            [tensor.name for tensor in reads],
            [[op.name for op in x.control_inputs] for x in (after, both)],
            waits(graph, "ReadVariableOp"),
        ]


@program
def gradients_by_updates(tf):
    """Gradients by a variable and by what its update gives."""
    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
        new = v.assign([3.0, 4.0])
        return run(tf, tf.gradients(new * new, [v, new]))


@program
def places_of_updates(tf):
    """Where what is colocated with a variable and its update stands, and what waits for them."""
    with tf.Graph().as_default() as graph:
        v = tf.get_variable("v", initializer=1.0, use_resource=True)
        new = v.assign(2.0)
        with graph.colocate_with(v):
            beside = tf.constant(1.0).op
        with graph.colocate_with(new):
            beside_new = tf.constant(1.0).op
        with tf.control_dependencies([v]):
            after = tf.no_op()
        return [
            [group.decode() for op in (beside, beside_new) for group in op.colocation_groups()],
            [op.name for op in after.control_inputs],
            len(waits(graph, "ReadVariableOp")),
        ]


@program
def references(tf):
    """What updates of a reference give: tensors that can be changed again by functions of `tf`."""
    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=False)
        last = tf.scatter_add(tf.assign_add(tf.assign(v, [3.0, 4.0]), [1.0, 1.0]), [0], [5.0])
        part = v[0].assign(7.0)
        values = run(tf, [last])
        return [
            values,
            str(v.op.outputs[0]),
            repr(last),
            str(part),
            str(v.value()),
            hasattr(last, "assign"),
            isinstance(last, tf.Tensor),
        ]


@program
def order_of_sums(tf):
    """The inputs of the AddN operations of gradients with several readers."""
    with tf.Graph().as_default() as graph:
        x = tf.get_variable("x", initializer=[1.0, 2.0])
        y = tf.exp(x, name="exp") * x + tf.sin(tf.cos(x, name="cos"), name="sin")
        z = tf.tanh(tf.tanh(x, name="inner"), name="outer") * tf.sigmoid(x, name="sigmoid")
        tf.gradients([y, z, tf.square(y, name="square")], x)
        return [
            [tensor.op.name.split("/")[1] for tensor in op.inputs]
            for op in graph.get_operations()
            if op.type == "AddN"
        ]


@program
def text_of_an_operation(tf):
    """What is printed of an operation."""
    with tf.Graph().as_default():
        op = tf.add(1.0, 2.0, name="sum").op
        return [str(op), repr(op)]


def words(call):
    """The type of an error and its words up to the operation's own description."""
    try:
        return ["nothing", str(call())]
    except (TypeError, ValueError) as error:
        text = str(error).split(" for '{{node")[0].split(": Dimension 0 in both")[0]
        return [type(error).__name__, text.replace("' v:0'", "'v:0'")]


@program
def shapes_that_do_not_fit(tf):
    """Updates that are refused when the graph is built."""

    def refused(v):
        return [
            words(lambda: tf.scatter_update(v, [0, 1], [0.0, 1.0, 2.0])),
            words(lambda: tf.scatter_add(v, [0, 1], [[0.0], [1.0]])),
            words(lambda: tf.scatter_sub(v, [[0, 1]], [1.0, 2.0])),
            words(lambda: tf.scatter_nd_add(v, [[0], [1]], [1.0, 2.0, 3.0])),
            words(lambda: tf.assign_add(v, [1.0])),
            words(lambda: tf.assign_sub(v, 1.0)),
            tf.scatter_add(v, [0, 1], 5.0).shape.as_list(),
        ]

    def cut(parts):
        return words(lambda: tf.create_partitioned_variables([10, 43], parts, tf.zeros([10, 43])))

    with tf.Graph().as_default():
        return [
            refused(tf.get_variable("v", [4], use_resource=False)),
            refused(tf.get_variable("w", [4], use_resource=True)),
            [cut([11, 1]), cut([1, 50])],
            words(lambda: tf.ones([1, 2, 3]) + tf.ones([4, 5, 6])),
        ]


@program
def caching_devices(tf):
    """A read on a caching device stands beside nothing else."""
    with tf.Graph().as_default() as graph:
        v = tf.get_variable("v", initializer=1.0, use_resource=True)
        with graph.colocate_with(v):
            w = tf.get_variable("w", [], use_resource=True, caching_device="/job:localhost")
            read = w.value()
        return [read.device, [group.decode() for group in read.op.colocation_groups()]]


@program
def groups_by_device(tf):
    """tf.group makes an operation for each device, and one of them all."""
    with tf.Graph().as_default() as graph:
        with tf.device("/cpu:0"):
            p, q = tf.constant(1.0, name="p"), tf.constant(1.0, name="q")
        with tf.device("/cpu:1"):
            r = tf.constant(1.0, name="r")
        tf.group(p, q, name="one")
        tf.group(r, p, q, name="two")
        tf.group(name="none")
        return [
            [op.name, op.device, [before.name for before in op.control_inputs]]
            for op in graph.get_operations()
            if op.type == "NoOp"
        ]


@program
def methods_with_gradients(tf):
    """custom_gradient on methods."""

    class Twice:
        factor = 2.0

        @tf.custom_gradient
        def times(self, x, y):
            """x * y, with another gradient by x."""
            return x * y, lambda dz: (dz * y * self.factor, dz * x)

    with tf.Graph().as_default():
        x, y = tf.constant(3.0), tf.constant(4.0)
        z = Twice().times(x, y)
        return run(tf, [z, *tf.gradients(z, [x, y])])


@program
def tensors_in_lists(tf):
    """Tensors of another type in a list are converted to the type that is asked for."""
    with tf.Graph().as_default():
        i = tf.constant(1)
        lists = [
            tf.concat([tf.zeros([1, 2], tf.int64), [[i, 2]]], 0),
            tf.convert_to_tensor([i, 2], tf.float32),
        ]
        return [[x.dtype.name for x in lists], run(tf, lists)]


@program
def kinds_of_loops(tf):
    """What a loop gives has the structure that its body gave."""

    def kind(variables, body, **options):
        result = tf.while_loop(lambda i, *_: i < 3, body, variables, **options)
        return type(result).__name__ if isinstance(result, (list, tuple)) else "one"

    with tf.Graph().as_default():
        spec = [tf.TensorSpec([], tf.int32), tf.TensorSpec([None])]
        return [
            kind([0, 1.0], lambda i, x: (i + 1, x)),
            kind((0, 1.0), lambda i, x: [i + 1, x]),
            kind([0], lambda i: [i + 1]),
            kind([0], lambda i: (i + 1,), return_same_structure=True),
            kind([0], lambda i: i + 1, return_same_structure=True),
            kind(
                [0, tf.ones([1])],
                lambda i, x: (i + 1, tf.concat([x, x], 0)),
                shape_invariants=spec,
            ),
        ]


@program
def a_list_among_results(tf):
    """A pair of tensors among what is differentiated counts as one."""
    with tf.Graph().as_default():
        x = tf.constant([1.0, 2.0])
        return run(tf, tf.gradients([tf.square(x), (x * 2.0, x * x * x)], x))


def outcomes(tf):
    """What each program gives."""
    return {function.__name__: function(tf) for function in PROGRAMS}
