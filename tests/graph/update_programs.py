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
        made = [tf.assign(v, [3.0, 4.0])]
        made.append(tf.assign_add(made[0], [1.0, 1.0]))
        made.append(tf.scatter_update(v, [0], [9.0]))
        made.append(made[-1].scatter_add(tf.IndexedSlices([1.0], [1])))
        made.append(tf.scatter_nd_add(v, [[1]], [5.0]))
        made.append(made[-1].scatter_nd_sub([[0]], [5.0]))
        made.append(v[0].assign(7.0))
        return [
            [str(x) for x in made],
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
        return [values, last.name, part.name, hasattr(last, "assign"), isinstance(last, tf.Tensor)]


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
