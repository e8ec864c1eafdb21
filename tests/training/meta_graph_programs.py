"""Programs that export a name scope of a graph; TensorFlow and flatlite both run them."""

import numpy as np


def network(tf, use_resource=False):
    """Two layers in scopes of their own, the second one reads two tensors of the first."""
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    with tf.variable_scope("one", use_resource=use_resource):
        w = tf.get_variable("w", initializer=np.float32([[1, 2], [3, 4]]))
        a, b = tf.split(tf.matmul(x, w), 2, axis=1, name="parts")
    with tf.variable_scope("two", use_resource=use_resource):
        w = tf.get_variable("w", initializer=np.float32([10, 20]))
        y = tf.add(a * w, b, name="y")
        tf.add_to_collection("outputs", y)
    tf.add_to_collection("outputs", x)
    tf.add_to_collection("texts", "text")
    with tf.name_scope("other"):
        tf.identity(y, name="aside")
    return x, y


def described(message):
    """Nodes with their inputs, colocations and collections of a MetaGraphDef message."""
    nodes = {}
    for node in message.graph_def.node:
        places = (
            [text.decode() for text in node.attr["_class"].list.s] if "_class" in node.attr else []
        )
        nodes[node.name] = [node.op, list(node.input), places]
    collections = {}
    for key, collection in message.collection_def.items():
        kind = collection.WhichOneof("kind")
        collections[key] = [
            value if isinstance(value, str) else value.hex()
            for value in getattr(collection, kind).value
        ]
    return {"nodes": nodes, "collections": collections, "saver": str(message.saver_def)}


def exports(tf):
    """What is exported of `network`, by kind of variables and scope."""
    results = {}
    for use_resource in (False, True):
        for scope in ("one", "two/"):
            with tf.Graph().as_default():
                network(tf, use_resource)
                results[f"{scope} {use_resource}"] = described(
                    tf.train.export_meta_graph(export_scope=scope)
                )
    with tf.Graph().as_default():
        network(tf)
        savers = [tf.train.Saver() for _ in range(3)]
        message = savers[1].export_meta_graph(clear_extraneous_savers=True)
        results["second saver"] = described(message)
    with tf.Graph().as_default():
        network(tf)
        with tf.name_scope("two/"):
            saver = tf.train.Saver(tf.get_collection("variables", "two"))
        results["saver within"] = described(saver.export_meta_graph(export_scope="two"))
    return results


def imported(tf):
    """What the second layer gives on other inputs, and what is said without them."""
    with tf.Graph().as_default():
        network(tf)
        message = tf.train.export_meta_graph(export_scope="two")
    with tf.Graph().as_default(), tf.Session() as session:
        names = [
            value.decode() for value in message.collection_def["unbound_inputs"].bytes_list.value
        ]
        try:
            tf.train.import_meta_graph(message, import_scope="again")
        except ValueError as error:
            refusal = str(error)
        a, b = tf.constant([[2.0], [3.0]]), tf.constant([[0.5], [0.25]])
        tf.train.import_meta_graph(
            message, import_scope="new", input_map=dict(zip(names, (a, b), strict=True))
        )
        session.run(tf.global_variables_initializer())
        return {
            "names": names,
            "refusal": refusal,
            "y": session.run("new/y:0").tolist(),
            "variables": [v.name for v in tf.global_variables()],
            "outputs": [tensor.name for tensor in tf.get_collection("outputs")],
            "types": sorted({op.type for op in session.graph.get_operations()}),
        }


def outcomes(tf):
    """What is exported, and what a part gives that is imported."""
    return {"exports": exports(tf), "imported": imported(tf)}
