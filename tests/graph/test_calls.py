"""Libraries of functions that call one another: more often than can be, or without end."""

import numpy as np
import pytest

import flatlite.compat.v1 as tf
from flatlite.graph.format.inline import inline
from flatlite.graph.session import call_depth
from flatlite.schema import proto
from flatlite.schema.errors import ModelError

LEVELS = 40
KINDS = ("PartitionedCall", "StatefulPartitionedCall", "StatelessIf", "f0")
FUNCTIONS = {"StatelessIf": ("then_branch", "else_branch")}


def body_of(message, name):
    """Adds a function of one float to a GraphDef message, without a result yet."""
    function = message.library.function.add()
    function.signature.name = name
    function.signature.input_arg.add(name="a", type=1)
    function.signature.output_arg.add(name="r", type=1)
    return function


def add_call(nodes, name, kind, x, function):
    """Adds a call of a function to nodes; gives the name of its result."""
    if kind == "f0":
        nodes.add(name=name, op=function, input=[x])
        return f"{name}:r:0"
    node = nodes.add(name=name, op=kind, input=[x])
    node.attr["Tin"].list.type.append(1)
    node.attr["Tout"].list.type.append(1)
    if kind == "StatelessIf":
        node.input.insert(0, x)
        node.attr["Tcond"].type = 1
    for attribute in FUNCTIONS.get(kind, ("f",)):
        node.attr[attribute].func.name = function
    return f"{name}:output:0"


def library(kind, levels, first):
    """y = f(x), of functions that call the one before twice; `first(message)` adds the first."""
    message = proto.GraphDef()
    node = message.node.add(name="x", op="Placeholder")
    node.attr["dtype"].type = 1
    node.attr["shape"].shape.SetInParent()
    add_call(message.node, "y", kind, "x", f"f{levels}")
    first(message)
    for i in range(1, levels + 1):
        function = body_of(message, f"f{i}")
        once = add_call(function.node_def, "once", kind, "a", f"f{i - 1}")
        function.ret["r"] = add_call(function.node_def, "twice", kind, once, f"f{i - 1}")
    return message


def identity(message):
    body_of(message, "f0").ret["r"] = "a"


def calls_last(kind, levels):
    """What adds a first function that calls the last one."""

    def add(message):
        function = body_of(message, "f0")
        function.ret["r"] = add_call(function.node_def, "again", kind, "a", f"f{levels}")

    return add


def imported(message):
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(message, name="")
    return graph


def run(graph):
    with tf.Session(graph=graph) as session:
        return session.run("y:0", {"x:0": np.float32(1)})


def differentiated(graph):
    with graph.as_default():
        return tf.gradients(graph.get_tensor_by_name("y:0"), graph.get_tensor_by_name("x:0"))


@pytest.mark.parametrize("use", [inline, run, differentiated])
@pytest.mark.parametrize("kind", KINDS)
def test_functions_that_double(kind, use):
    graph = imported(library(kind, LEVELS, identity))
    with pytest.raises(ModelError, match=r"must make at most 262144 operations, got \d{13,}$"):
        use(graph)


@pytest.mark.parametrize("use", [inline, differentiated])
@pytest.mark.parametrize("kind", KINDS)
def test_functions_that_call_themselves(kind, use):
    graph = imported(library(kind, 2, calls_last(kind, 2)))
    with pytest.raises(ModelError, match=r"themselves, got f2 -> f1 -> f0 -> f2$"):
        use(graph)


@pytest.mark.parametrize("kind", KINDS)
def test_functions_that_call_themselves_without_end(kind, monkeypatch):
    monkeypatch.setattr(call_depth, "MAX_DEPTH", 200)
    graph = imported(library(kind, 2, calls_last(kind, 2)))
    with pytest.raises(tf.errors.ResourceExhaustedError, match="at most 200 deep"):
        run(graph)


def test_functions_that_call_themselves_with_ever_new_attributes():
    message = library("f0", 1, lambda message: None)
    function = body_of(message, "f0")
    function.signature.attr.add(name="g", type="func")
    function.ret["r"] = add_call(function.node_def, "again", "f0", "a", "f0")
    inner = function.node_def[0].attr["g"].func
    inner.name = "h"
    inner.attr["g"].placeholder = "g"
    for node in message.library.function[0].node_def:
        node.attr["g"].func.name = "h"
    with pytest.raises(ModelError, match="'f0' with more than 100 sets of attributes"):
        inline(imported(message))
