"""Sessions, functions and Keras models of a running TensorFlow convert: `python live.py`.

Needs an environment with TensorFlow and flatlite. What TensorFlow computes of the same objects is
the expected value; ends with an error when one differs.
"""

import tempfile
import warnings

import numpy as np
import tensorflow as tf

import flatlite.lite
from flatlite.lite import Interpreter, TFLiteConverter

X = np.float32([[1, -2], [3, 4], [0.5, 6]])
TOLERANCE = {"rtol": 1e-5, "atol": 1e-6}


class Scaled(tf.Module):
    """A variable that is read, one that is written, a table, and a captured constant."""

    def __init__(self):
        super().__init__()
        self.w = tf.Variable([2.0, 3.0])
        self.total = tf.Variable(0.0)
        keys, values = tf.constant([1, 2], tf.int64), tf.constant([10, 20], tf.int64)
        initializer = tf.lookup.KeyValueTensorInitializer(keys, values)
        self.table = tf.lookup.StaticHashTable(initializer, -1)
        self.offset = tf.constant([0.5, -0.5])

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, "x")])
    def scale(self, x):
        return x * self.w + self.offset

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32, "x")])
    def count(self, x):
        self.total.assign_add(x)
        return self.total.read_value() * 1.0

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64, "x")])
    def find(self, x):
        return self.table.lookup(x)


def outputs_of(content, *inputs):
    """What a file without signatures gives for one set of inputs after another."""
    interpreter = Interpreter(model_content=content)
    (detail,), (out,) = interpreter.get_input_details(), interpreter.get_output_details()
    results = []
    for x in inputs:
        interpreter.resize_tensor_input(detail["index"], np.shape(x))
        interpreter.allocate_tensors()
        interpreter.set_tensor(detail["index"], x)
        interpreter.invoke()
        results.append(interpreter.get_tensor(out["index"]))
    return results


def refusal(function, *arguments):
    """The text of the ValueError that a call raises."""
    try:
        function(*arguments)
    except ValueError as error:
        return "\n".join([str(error), *getattr(error, "__notes__", ())])
    raise AssertionError(f"{function.__name__} takes {arguments}")


def check_frozen_function():
    module = Scaled()
    function = module.scale.get_concrete_function()
    content = TFLiteConverter.from_concrete_functions([function]).convert()
    assert not Interpreter(model_content=content).get_signature_list()
    for x in (X, X[:1]):
        (got,) = outputs_of(content, x)
        np.testing.assert_allclose(got, module.scale(x).numpy(), **TOLERANCE)
    module.w.assign([0.0, 0.0])  # what is converted keeps the values of its time
    np.testing.assert_allclose(outputs_of(content, X)[0], X * [2, 3] + [0.5, -0.5], **TOLERANCE)


def check_signatures():
    module = Scaled()
    names = ("scale", "count", "find")
    functions = [getattr(module, name).get_concrete_function() for name in names]
    content = TFLiteConverter.from_concrete_functions(functions, module).convert()
    interpreter = Interpreter(model_content=content)
    assert set(interpreter.get_signature_list()) == set(names)
    runners = {name: interpreter.get_signature_runner(name) for name in names}
    np.testing.assert_allclose(
        runners["scale"](x=X)["output_0"], module.scale(X).numpy(), **TOLERANCE
    )
    keys = np.int64([2, 7, 1])
    np.testing.assert_array_equal(runners["find"](x=keys)["output_0"], module.find(keys).numpy())
    for step in np.float32([1, 2, 3]):
        got = runners["count"](x=step)["output_0"]
        np.testing.assert_allclose(got, module.count(step).numpy(), **TOLERANCE)


def check_one_signature():
    module = Scaled()
    function = module.scale.get_concrete_function()
    content = TFLiteConverter.from_concrete_functions([function], module).convert()
    assert list(Interpreter(model_content=content).get_signature_list()) == ["serving_default"]


def check_refusals():
    module = Scaled()
    scale, find = (f.get_concrete_function() for f in (module.scale, module.find))
    for arguments, words in (
        (([scale, find],), "can only convert a single ConcreteFunction"),
        (([find],), "must capture only variables and constants"),
        (([scale, find], tf.Module()), "TensorFlow cannot save the functions"),
        (([scale, scale], module), "must have distinct names"),
        (([module.scale],), "call get_concrete_function"),
    ):
        text = refusal(TFLiteConverter.from_concrete_functions, *arguments)
        assert words in text, text
        assert len(text.splitlines()) <= 15, text


def check_constructor():
    module = Scaled()
    function = module.scale.get_concrete_function()
    for converter in (
        TFLiteConverter([function], module),
        TFLiteConverter([function], trackable_obj=module),
    ):
        assert list(Interpreter(model_content=converter.convert()).get_signature_list()) == [
            "serving_default"
        ]
    assert not Interpreter(model_content=TFLiteConverter([function]).convert()).get_signature_list()


class Subclassed(tf.keras.Model):
    """A model that only its own code describes."""

    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(3)

    def call(self, inputs):
        return self.dense(inputs)


def check_frozen_instead_of_saved():
    """experimental_lower_to_saved_model = False: names as TensorFlow 2.21 gives them."""
    module = Scaled()
    functions = [getattr(module, name).get_concrete_function() for name in ("scale", "find")]
    subclassed = Subclassed()
    subclassed(X)
    for converter, names in (
        (TFLiteConverter.from_concrete_functions(functions[:1], module), ["x"]),
        (TFLiteConverter(functions[:1], module), ["x"]),
        (TFLiteConverter.from_keras_model(subclassed), ["args_0"]),
    ):
        (expected,) = outputs_of(converter.convert(), X)
        converter.experimental_lower_to_saved_model = False
        assert converter.get_input_arrays() == names
        content = converter.convert()
        interpreter = Interpreter(model_content=content)
        assert not interpreter.get_signature_list()
        assert [detail["name"] for detail in interpreter.get_input_details()] == names
        assert [detail["name"] for detail in interpreter.get_output_details()] == ["Identity"]
        np.testing.assert_array_equal(outputs_of(content, X)[0], expected)
    for chosen, words in ((functions, "single ConcreteFunction"), (functions[1:], "capture only")):
        converter = TFLiteConverter.from_concrete_functions(chosen, module)
        converter.experimental_lower_to_saved_model = False
        text = refusal(converter.convert)
        assert words in text and "experimental_lower_to_saved_model = False" in text, text


def check_an_owner_that_cannot_save():
    module = Scaled()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function = module.scale.get_concrete_function()
        content = TFLiteConverter.from_concrete_functions([function], tf.Module()).convert()
    assert any("it is frozen, as without trackable_obj" in str(row.message) for row in caught)
    assert not Interpreter(model_content=content).get_signature_list()
    np.testing.assert_allclose(outputs_of(content, X)[0], module.scale(X).numpy(), **TOLERANCE)


def check_session():
    v1 = tf.compat.v1
    with v1.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 2], "x")
        for use_resource in (False, True):
            with v1.variable_scope(f"net{use_resource}", use_resource=use_resource):
                w = v1.get_variable("w", [2, 3])
            y = tf.nn.relu(tf.matmul(x, w), name=f"y{use_resource}")
            session.run(v1.global_variables_initializer())
            content = TFLiteConverter.from_session(session, [x], [y]).convert()
            expected = session.run(y, {x: X})
            np.testing.assert_allclose(outputs_of(content, X)[0], expected, **TOLERANCE)
        other = v1.Graph()
        with other.as_default():
            foreign = v1.placeholder(tf.float32, [2], "z")
        assert "is of another" in refusal(TFLiteConverter.from_session, session, [foreign], [y])


def keras_model(keras, is_subclass):
    """Two layers and a function of TensorFlow, which a configuration alone does not describe."""
    x = keras.Input([2])
    y = keras.layers.Dense(3, activation="tanh")(x)
    model = keras.Model(x, y)
    if not is_subclass:
        return model

    class Wrapped(keras.Model):
        def call(self, x):
            return tf.nn.relu(model(x))

    wrapped = Wrapped()
    wrapped(X)
    return wrapped


def check_keras_models():
    import keras
    import tf_keras

    for library in (keras, tf_keras):
        for is_subclass in (False, True):
            model = keras_model(library, is_subclass)
            content = TFLiteConverter.from_keras_model(model).convert()
            np.testing.assert_allclose(outputs_of(content, X)[0], model(X).numpy(), **TOLERANCE)


def check_layers_of_the_program():
    """Classes of tf_keras that only their `call` describes, and the names of their outputs."""
    import tf_keras

    class Halved(tf_keras.layers.Layer):
        def call(self, x):
            return tf.cumsum(x, axis=1) * 0.5

    x = tf_keras.Input([2])
    model = tf_keras.Model(x, Halved(name="halves")(tf_keras.layers.Dense(3)(x)))
    content = TFLiteConverter.from_keras_model(model).convert()
    (signature,) = Interpreter(model_content=content).get_signature_list().values()
    assert signature["outputs"] == ["halves"]
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/model.h5"
        model.save(path)
        objects = {"Halved": Halved}
        converter = TFLiteConverter.from_keras_model_file(path, custom_objects=objects)
        got = outputs_of(converter.convert(), X)[0]
        np.testing.assert_allclose(got, model(X).numpy(), **TOLERANCE)


def check_a_model_that_is_not_built():
    import tf_keras

    class Shifted(tf_keras.Model):
        def __init__(self):
            super().__init__()
            self.bias = tf.Variable([2.0, 1.0])

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
        def call(self, x):
            return x + self.bias

    content = TFLiteConverter.from_keras_model(Shifted()).convert()
    np.testing.assert_allclose(outputs_of(content, X)[0], X + [2, 1], **TOLERANCE)


def check_authoring():
    compatible = flatlite.lite.experimental.authoring.compatible

    @compatible
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        return tf.cosh(x)

    np.testing.assert_allclose(f(tf.constant([0.0])).numpy(), [1.0])
    assert f.get_compatibility_log() == []
    assert f.__name__ == "f"

    @compatible
    @tf.function
    def data():
        return tf.data.Dataset.range(3).shuffle(3, reshuffle_each_iteration=True)

    data()
    words, *places = data.get_compatibility_log()
    assert "op 'tf.DummySeedGenerator, tf.RangeDataset, tf.ShuffleDatasetV3' is(are) not" in words
    assert len(places) == 3
    assert all("live.py:" in place for place in places), places


def check_saved_afterwards():
    """A conversion leaves the module as it was: TensorFlow can save and run it."""
    module = Scaled()
    TFLiteConverter.from_concrete_functions([module.count.get_concrete_function()], module)
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module, folder)
    assert module.count(2.0).numpy() == 2


CHECKS = (
    check_frozen_function,
    check_signatures,
    check_one_signature,
    check_constructor,
    check_frozen_instead_of_saved,
    check_an_owner_that_cannot_save,
    check_refusals,
    check_session,
    check_keras_models,
    check_layers_of_the_program,
    check_a_model_that_is_not_built,
    check_authoring,
    check_saved_afterwards,
)

if __name__ == "__main__":
    for check in CHECKS:
        check()
        print(f"{check.__name__}: ok")
