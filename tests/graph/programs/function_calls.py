"""Graphs of TensorFlow 1's functions: called by their names, by themselves, and differentiated.

What TensorFlow's sessions give for them is recorded. The graphs are GraphDefs, as nothing of
TensorFlow's API writes a function that calls itself.
"""

from __future__ import annotations

import numpy as np

FLOAT, INT, BOOL, RESOURCE = 1, 3, 10, 20
CALL = "PartitionedCall"


def add(nodes, name, kind, inputs="", **attrs):
    """Adds a node; attributes are functions (text), types (numbers, lists) and constants."""
    node = nodes.add(name=name, op=kind, input=inputs.split())
    for key, value in attrs.items():
        attr = node.attr[key]
        if isinstance(value, str):
            attr.func.name = value
        elif isinstance(value, list):
            attr.list.type.extend(value)
        elif isinstance(value, np.int32):
            attr.tensor.dtype = INT
            attr.tensor.int_val.append(int(value))
            attr.tensor.tensor_shape.SetInParent()
            node.attr["dtype"].type = INT
        else:
            attr.type = value


def function(message, name, arguments, results, **returned):
    """Adds a function of arguments and results with types; gives its nodes to be added to."""
    definition = message.library.function.add()
    definition.signature.name = name
    for key, kind in arguments.items():
        definition.signature.input_arg.add(name=key, type=kind)
    for key, kind in results.items():
        definition.signature.output_arg.add(name=key, type=kind)
        definition.ret[key] = returned[key]
    return definition.node_def


def placeholder(message, name, kind, sizes=()):
    add(message.node, name, "Placeholder", dtype=kind)
    shape = message.node[-1].attr["shape"].shape
    shape.SetInParent()
    for size in sizes:
        shape.dim.add(size=size)


def constants(nodes, *numbers):
    for number in numbers:
        add(nodes, f"c{number}", "Const", value=np.int32(number))


def choice(nodes, inputs, then_branch, else_branch, kinds=(INT,), results=(INT,), kind="If"):
    """Adds "if", an If whose condition is the first of `inputs`."""
    types = {"Tcond": BOOL, "Tin": list(kinds), "Tout": list(results)}
    add(nodes, "if", kind, inputs, then_branch=then_branch, else_branch=else_branch, **types)


def invoke(nodes, by, name, target, argument):
    """Adds a call of a function of one number by its name or by PartitionedCall."""
    if by == "name":
        add(nodes, name, target, argument)
        return f"{name}:r:0"
    add(nodes, name, CALL, argument, f=target, Tin=[INT], Tout=[INT])
    return f"{name}:output:0"


def recursive(message, by, name, bound, numbers, kind, inputs):
    """A function that gives its argument below `bound`.

    Else it gives what an operation makes of `inputs`, where {} is what it gives for a number less.
    """
    nodes = function(message, name, {"n": INT}, {"r": INT}, r="if:output:0")
    constants(nodes, bound)
    add(nodes, "below", "Less", f"n c{bound}:output:0", T=INT)
    choice(nodes, "below:z:0 n", "base", f"{name}_step")
    nodes = function(message, f"{name}_step", {"n": INT}, {"r": INT}, r="y:z:0")
    constants(nodes, *numbers)
    for number in numbers:
        add(nodes, f"less{number}", "Sub", f"n c{number}:output:0", T=INT)
    called = [invoke(nodes, by, f"call{i}", name, f"less{i}:z:0") for i in numbers]
    add(nodes, "y", kind, inputs.format(*called), T=INT)


def numbers(tf, by):
    """Factorials, Fibonacci's numbers, and a loop that calls for factorials.

    TensorFlow gives them where functions are called by "name"; by PartitionedCall it crashes.
    """
    message = tf.GraphDef()
    placeholder(message, "n", INT)
    function(message, "base", {"n": INT}, {"r": INT}, r="n")
    recursive(message, by, "factorial", 2, [1], "Mul", "n {}")
    recursive(message, by, "fibonacci", 2, [1, 2], "AddV2", "{} {}")
    for name in ("factorial", "fibonacci"):
        invoke(message.node, by, name, name, "n")
    nodes = function(message, "more", {"i": INT, "s": INT}, {"r": BOOL}, r="less:z:0")
    constants(nodes, 6)
    add(nodes, "less", "Less", "i c6:output:0", T=INT)
    results = {"j": "next:z:0", "t": "sum:z:0"}
    nodes = function(message, "sums", {"i": INT, "s": INT}, {"j": INT, "t": INT}, **results)
    constants(nodes, 1)
    add(nodes, "next", "AddV2", "i c1:output:0", T=INT)
    add(nodes, "sum", "AddV2", f"s {invoke(nodes, by, 'f', 'factorial', 'i')}", T=INT)
    constants(message.node, 1)
    add(message.node, "loop", "While", "c1 n", cond="more", body="sums", T=[INT, INT])
    return message


def parity(tf):
    """Two functions that call each other."""
    message = tf.GraphDef()
    placeholder(message, "n", INT)
    for name, other, value in (("even", "odd", 1), ("odd", "even", 0)):
        nodes = function(message, name, {"n": INT}, {"r": INT}, r="if:output:0")
        constants(nodes, 1)
        add(nodes, "below", "Less", "n c1:output:0", T=INT)
        choice(nodes, "below:z:0 n", f"{name}_end", f"{name}_step", kind="StatelessIf")
        constants(
            function(message, f"{name}_end", {"n": INT}, {"r": INT}, r=f"c{value}:output:0"), value
        )
        nodes = function(message, f"{name}_step", {"n": INT}, {"r": INT}, r="call:r:0")
        constants(nodes, 1)
        add(nodes, "less", "Sub", "n c1:output:0", T=INT)
        invoke(nodes, "name", "call", other, "less:z:0")
    invoke(message.node, "name", "even", "even", "n")
    return message


def written(tf):
    """A function that calls itself and adds to a variable each time."""
    message = tf.GraphDef()
    placeholder(message, "n", INT)
    add(message.node, "v", "VarHandleOp", dtype=INT)
    message.node[-1].attr["shape"].shape.SetInParent()
    message.node[-1].attr["shared_name"].s = b"v"
    constants(message.node, 0)
    add(message.node, "init", "AssignVariableOp", "v c0", dtype=INT)
    arguments = {"n": INT, "v": RESOURCE}
    nodes = function(message, "count", arguments, {"r": INT}, r="if:output:0")
    constants(nodes, 1)
    add(nodes, "below", "Less", "n c1:output:0", T=INT)
    choice(nodes, "below:z:0 n v", "done", "count_step", (INT, RESOURCE))
    function(message, "done", arguments, {"r": INT}, r="n")
    nodes = function(message, "count_step", arguments, {"r": INT}, r="call:r:0")
    constants(nodes, 1)
    add(nodes, "less", "Sub", "n c1:output:0", T=INT)
    add(nodes, "more", "AssignAddVariableOp", "v n", dtype=INT)
    add(nodes, "call", "count", "less:z:0 v ^more")
    for definition in message.library.function:
        definition.signature.is_stateful = definition.signature.name != "done"
    add(message.node, "y", "count", "n v")
    add(message.node, "read", "ReadVariableOp", "v ^y", dtype=INT)
    return message


def differentiated(tf):
    """Calls by name of functions, one with a gradient of its own, and their SymbolicGradients."""
    message = tf.GraphDef()
    for name in ("x", "z"):
        placeholder(message, name, FLOAT, (2,))
    two, pair = {"a": FLOAT, "b": FLOAT}, {"p": FLOAT, "q": FLOAT}
    nodes = function(message, "inner", two, pair, p="product:z:0", q="difference:z:0")
    add(nodes, "tanh", "Tanh", "a", T=FLOAT)
    add(nodes, "product", "Mul", "tanh:y:0 b", T=FLOAT)
    add(nodes, "difference", "Sub", "a b", T=FLOAT)
    nodes = function(message, "outer", two, {"r": FLOAT}, r="sum:z:0")
    add(nodes, "first", "inner", "a b")
    add(nodes, "second", "inner", "first:q:0 first:p:0")
    add(nodes, "exp", "Exp", "second:q:0", T=FLOAT)
    add(nodes, "sum", "AddV2", "second:p:0 exp:y:0", T=FLOAT)
    nodes = function(message, "square", {"a": FLOAT}, {"r": FLOAT}, r="y:y:0")
    add(nodes, "y", "Square", "a", T=FLOAT)
    nodes = function(message, "tripled", two, {"r": FLOAT}, r="more:z:0")
    add(nodes, "twice", "AddV2", "b b", T=FLOAT)
    add(nodes, "more", "AddV2", "twice:z:0 b", T=FLOAT)
    message.library.gradient.add(function_name="square", gradient_func="tripled")
    add(message.node, "y", "outer", "x z")
    add(message.node, "s", "square", "x")
    types = {"Tin": [FLOAT] * 3, "Tout": [FLOAT] * 2}
    add(message.node, "dy", "SymbolicGradient", "x z x", f="outer", **types)
    types = {"Tin": [FLOAT] * 2, "Tout": [FLOAT]}
    add(message.node, "ds", "SymbolicGradient", "x z", f="square", **types)
    return message


def run(tf, message, runs, gradients=()):
    """What is fetched for (fetch, feeds); fetches may be gradients, as "y:0/x:0"."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.import_graph_def(message, name="")
        tensor = graph.get_tensor_by_name
        flown = {y + "/" + x: tf.gradients(tensor(y), tensor(x))[0] for y, x in gradients}
        return [
            np.asarray(session.run(flown.get(fetch, fetch), feeds)).tolist()
            if ":" in fetch
            else session.run(fetch, feeds)
            for fetch, feeds in runs
        ]


X = {"x:0": [0.5, -1.0], "z:0": [0.25, 2.0]}
NUMBERS = [
    *((f"{name}:0", {"n:0": n}) for name in ("factorial", "fibonacci") for n in (5, 0, 1, 12)),
    ("factorial:0", {"n:0": 700}),
    ("loop:1", {"n:0": 3}),
]
PROGRAMS = {
    "numbers by name": lambda tf: run(tf, numbers(tf, "name"), NUMBERS),
    "even or odd": lambda tf: run(tf, parity(tf), [("even:0", {"n:0": n}) for n in (0, 7, 30)]),
    "a variable": lambda tf: run(
        tf, written(tf), [("init", {}), *(("read:0", {"n:0": n}) for n in (4, 10, 90))]
    ),
    "gradients": lambda tf: run(
        tf,
        differentiated(tf),
        [(fetch, X) for fetch in ("y:0", "s:0", "dy:0", "dy:1", "ds:0", *GRADIENTS, "y:0")],
        [fetch.split("/") for fetch in GRADIENTS],
    ),
}
GRADIENTS = ("y:0/x:0", "y:0/z:0", "s:0/x:0")


def outcomes(tf):
    """What each program gives."""
    return {name: program(tf) for name, program in PROGRAMS.items()}
