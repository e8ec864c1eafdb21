"""Programs with tf.saved_model that TensorFlow and flatlite both run."""

import os

import numpy as np


def outcome(function):
    """[type, first line] of the error that a call raises; ["", ""] without one."""
    try:
        function()
    except Exception as error:  # recorded: what TensorFlow raises is the question
        text = error.args[0] if isinstance(error, KeyError) else str(error)
        return [type(error).__name__, text.split("\n")[0]]
    return ["", ""]


def signatures(tf):
    """Text of signature messages, and what is said of wrong ones."""
    with tf.Graph().as_default():
        examples = tf.placeholder(tf.string, [None], name="examples")
        scores = tf.placeholder(tf.float32, [None, 3], name="scores")
        classes = tf.placeholder(tf.string, None, name="classes")
        numbers = tf.placeholder(tf.int32, [], name="numbers")
        sparse = tf.sparse_placeholder(tf.float32, name="sparse")
        named, resource = (
            tf.get_variable(name, initializer=[1.0, 2.0], use_resource=name == "resource")
            for name in ("named", "resource")
        )
        save = tf.saved_model
        makers = {
            "predict": lambda: save.predict_signature_def(
                {"a": scores, "s": sparse}, {"b": named, "c": resource, "d": classes}
            ),
            "regress": lambda: save.regression_signature_def(examples, scores),
            "classify": lambda: save.classification_signature_def(examples, classes, scores),
            "scores": lambda: save.classification_signature_def(examples, None, scores),
            "empty": lambda: save.build_signature_def(None, None, None),
            "method": lambda: save.build_signature_def(
                {"x": save.build_tensor_info(numbers)}, {}, "some/method"
            ),
            "no inputs": lambda: save.predict_signature_def({}, {"b": scores}),
            "no outputs": lambda: save.predict_signature_def({"a": scores}, None),
            "no examples": lambda: save.regression_signature_def(None, scores),
            "array examples": lambda: save.regression_signature_def(np.zeros(2), scores),
            "float examples": lambda: save.regression_signature_def(scores, scores),
            "no predictions": lambda: save.regression_signature_def(examples, None),
            "int predictions": lambda: save.regression_signature_def(examples, numbers),
            "nothing": lambda: save.classification_signature_def(examples, None, None),
            "classify none": lambda: save.classification_signature_def(None, classes, scores),
            "float classes": lambda: save.classification_signature_def(examples, scores, None),
            "string scores": lambda: save.classification_signature_def(examples, None, classes),
        }
        results = {}
        for name, make in makers.items():
            kind, text = outcome(make)
            if kind:
                results[name] = [kind, text]
            else:
                message = make()
                results[name] = [
                    message.SerializeToString(deterministic=True).hex(),
                    save.is_valid_signature(message),
                ]
        return results


def wrong_uses(tf, folder):
    """What is said of wrong uses of a builder."""
    results = {}
    count = iter(range(100))

    def builder():
        return tf.saved_model.Builder(os.path.join(folder, str(next(count))))

    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=1.0)
        session.run(v.initializer)
        info = tf.saved_model.build_tensor_info(v)
        nameless = tf.saved_model.build_tensor_info(v)
        nameless.name = ""
        nameless.ClearField("name")
        typeless = tf.saved_model.build_tensor_info(v)
        typeless.dtype = 0
        build = tf.saved_model.build_signature_def

        def add(to, **arguments):
            to.add_meta_graph_and_variables(session, ["t"], **arguments)

        uses = {
            "graph first": lambda: builder().add_meta_graph(["t"]),
            "full folder": lambda: tf.saved_model.Builder(folder),
            "main op": lambda: add(builder(), main_op="v/Assign"),
            "reserved": lambda: add(
                builder(), signature_def_map={"__saved_model_init_op": build({"x": info})}
            ),
            "reserved for training": lambda: add(
                builder(), signature_def_map={"__saved_model_train_op": build({"x": info})}
            ),
            "no encoding": lambda: add(builder(), signature_def_map={"s": build({"x": nameless})}),
            "no dtype": lambda: add(builder(), signature_def_map={"s": build({}, {"y": typeless})}),
            "asset of a number": lambda: add(builder(), assets_collection=[tf.constant(1)]),
            "asset of an op": lambda: add(
                builder(), assets_collection=[tf.placeholder(tf.string, [])]
            ),
            "asset of several": lambda: add(builder(), assets_collection=[tf.constant(["a", "b"])]),
            "asset of text": lambda: add(builder(), assets_collection=["a"]),
        }
        for name, use in uses.items():
            results[name] = outcome(use)
        twice = builder()
        add(twice)
        results["twice"] = outcome(lambda: add(twice))
        first = builder()
        add(first, main_op=tf.no_op())
        results["second main op"] = outcome(lambda: first.add_meta_graph(["u"], main_op=tf.no_op()))
        first.save()
        exported = os.path.join(folder, str(next(count) - 1))
        results["other tags"] = outcome(lambda: tf.saved_model.load(session, ["t", "u"], exported))
        results["no model"] = outcome(
            lambda: tf.saved_model.load(session, ["t"], os.path.join(folder, "none"))
        )
    return {k: [kind, text.replace(folder, "")] for k, (kind, text) in results.items()}


def network(tf, use_resource):
    """A small net on named tensors, with a variable that a main op changes."""
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    with tf.variable_scope("net", use_resource=use_resource):
        w = tf.get_variable("w", initializer=np.float32([[1, 2], [3, 4], [5, 6]]))
        b = tf.get_variable("b", initializer=np.float32([0.5, -0.5]))
        local = tf.get_local_variable("local", initializer=np.float32(7.0))
    y = tf.nn.relu(tf.matmul(x, w) + b, name="y")
    return x, y, w, local


X = np.float32([[1, -2, 3], [0.5, 0.25, -1]])
