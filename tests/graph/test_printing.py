"""`tf.Print` and `tf.print` write what TensorFlow 2.21 writes."""

import pytest

import flatlite.compat.v1 as tf

X = [-1.5, -1.0, -0.3, 0.0, 0.2, 0.25, 0.7, 1.0, 2.0]


def test_print_gives_its_input_and_writes(capfd):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(X)
        shown = tf.Print(x, [x, -1.0], "msg ", first_n=1, summarize=2)
        texts = tf.Print(x, [tf.constant([["a", "b"]]), tf.constant(True), tf.constant(1.25)])
        assert session.run(shown).tolist() == session.run(shown).tolist()
        session.run([texts, tf.gradients(shown, x)[0]])
    assert capfd.readouterr().err == "msg [-1.5 -1...][-1]\n[[a b]][1][1.25]\n"


def test_print_of_structures(capfd, tmp_path):
    path = tmp_path / "shown.txt"
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(X)
        operation = tf.print("hi", x, {"a": tf.constant(-1.0)}, [1, 2])
        assert operation.type == "PrintV2"
        session.run(operation)
        session.run(tf.print("{}", x[:2], output_stream="stdout", end="!"))
        for _ in range(2):
            session.run(tf.print(x[:2], output_stream=f"file://{path}", sep="|", end="END"))
        with pytest.raises(ValueError, match="Unsupported output stream"):
            tf.print(x, output_stream="elsewhere")
    written = capfd.readouterr()
    assert written.err == "hi [-1.5 -1 -0.3 ... 0.7 1 2] {'a': -1} [1, 2]\n"
    assert written.out == "{} [-1.5 -1]!"
    assert path.read_text() == "[-1.5 -1]END[-1.5 -1]END"
