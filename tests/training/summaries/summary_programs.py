"""Summaries as programs: `x` are the operations a Session runs, `tf` TensorFlow or flatlite."""

import numpy as np

RANDOM = np.random.RandomState(5)
VALUES = RANDOM.randn(7, 9) * 10.0 ** RANDOM.randint(-14, 9, (7, 9))
IMAGES = RANDOM.rand(4, 5, 3, 3).astype("f4")
NEGATIVE = (RANDOM.randn(2, 4, 6, 1) * 3).astype("f4")
BAD = NEGATIVE.copy()
BAD[0, 1, 2] = np.nan
BAD[1] = np.inf
CLIPS = (RANDOM.randn(3, 20, 2) * 0.6).astype("f4")
EDGES = np.array([[0.5, -0.5, 1, -1, 2, -2, 1.5 / 32768, 2.5 / 32768, -2.5 / 32768, 0]], "f4")

SUMMARIES = {
    "scalar": "tf.summary.scalar('loss', 2.5)",
    "scalar of int": "tf.summary.scalar('n', tf.constant(7))",
    "scalar of double": "tf.summary.scalar('d', tf.constant(1/3, tf.float64))",
    "scalar nan": "tf.summary.scalar('nan', float('nan'))",
    "tags are cleaned": "tf.summary.scalar('/my tag: %', 1.)",
    "tags in scopes": "in_scope(lambda: tf.summary.scalar('a', 1.))",
    "second of a name": "[tf.summary.scalar('a', 1.), tf.summary.scalar('a', 2.)][1]",
    "family": "in_scope(lambda: tf.summary.scalar('a', 1., family='f'))",
    "histogram": "tf.summary.histogram('h', VALUES)",
    "histogram of ints": "tf.summary.histogram('h', tf.constant([[3, -4], [0, 3]]))",
    "histogram of nothing": "tf.summary.histogram('h', tf.zeros([0]))",
    "histogram of zeros": "tf.summary.histogram('h', tf.zeros([4]), family='g')",
    "histogram of extremes": "tf.summary.histogram('h', tf.constant([3e38, -3e38, 1e-30]))",
    "images": "tf.summary.image('i', IMAGES)",
    "one image": "tf.summary.image('i', IMAGES, max_outputs=1)",
    "negative images": "tf.summary.image('i', NEGATIVE)",
    "images with nan": "tf.summary.image('i', BAD)",
    "half images": "tf.summary.image('i', IMAGES.astype('f2'), 2, family='f')",
    "double images": "tf.summary.image('i', NEGATIVE.astype('f8'))",
    "uint8 images": "tf.summary.image('i', (IMAGES * 255).astype('u1'))",
    "dark image": "tf.summary.image('i', IMAGES * 1e-8, max_outputs=1)",
    "four channels": "tf.summary.image('i', np.tile(NEGATIVE, 4))",
    "audio": "tf.summary.audio('a', CLIPS, 44100)",
    "audio of edges": "tf.summary.audio('a', EDGES, 8000.5, max_outputs=1)",
    "audio of low rate": "tf.summary.audio('a', EDGES, .25)",
    "text": "tf.summary.text('t', tf.constant(['a', '*b*']))",
    "one text": "tf.summary.text('t', tf.constant('# head'))",
    "tensor": "tf.summary.tensor_summary('x', NEGATIVE, 'of what', display_name='shown')",
    "tensor of bool": "tf.summary.tensor_summary('x', tf.constant([True, False]), family='f')",
    "merged": (
        "tf.summary.merge([tf.summary.scalar('a', 1.), tf.summary.text('t', tf.constant('x'))])"
    ),
    "merge all": "all_of('a', 'b')",
    "merge all of scope": "all_of('a', 'b', scope='inner')",
    "of GraphDef": "by_name()",
    "audio of old": "node('AudioSummary', 'tag', CLIPS, sample_rate=8000.)",
    "tensor of old": "node('TensorSummary', CLIPS, T=1)",
    "strings of old": "node('TensorSummary', ['a', 'b'], T=7)",
}
"""Name -> an expression of one summary."""

NAMES = {
    "default names": (
        "tf.summary.scalar('a', 1.).name, tf.summary.merge([]).name if 0 else '',"
        "tf.summary.merge([tf.summary.scalar('b', 1.)]).name,"
        "tf.summary.merge([tf.summary.scalar('b', 1.)], name='m').name,"
        "tf.summary.histogram('h', [1.]).name, tf.summary.audio('s', EDGES, 5).op.inputs[2].name,"
        "in_scope(lambda: tf.summary.image('i', IMAGES, family='q')).op.name"
    ),
    "collections": (
        "tf.summary.scalar('a', 1., collections=['mine']), tf.summary.scalar('b', 1.),"
        "tf.summary.merge([tf.constant('')], ['mine']),"
        "[len(tf.get_collection(k)) for k in ('mine', 'summaries')]"
    ),
    "nothing to merge": "tf.summary.merge_all()",
}
"""Name -> an expression whose text is compared."""

REFUSALS = {
    "tags and values": "tf.summary.scalar('a', tf.constant([1., 2.]))",
    "nan": "tf.summary.histogram('a', [1., float('nan')])",
    "inf": "tf.summary.histogram('a', [1., float('inf')])",
    "channels": "tf.summary.image('a', tf.placeholder_with_default(IMAGES[..., :2], None))",
    "no pixels": "tf.summary.image('a', tf.placeholder_with_default(IMAGES[:, :0], None))",
    "audio rank": "tf.summary.audio('a', tf.placeholder_with_default(IMAGES, None), 1.)",
    "audio rate": "tf.summary.audio('a', CLIPS, 0.)",
    "audio rates": "tf.summary.audio('a', CLIPS, tf.placeholder_with_default([1., 2.], None))",
    "same tags": "tf.summary.merge([tf.summary.scalar('a', 1.), tf.summary.merge_all()])",
    "no summary": "tf.summary.merge([tf.constant('what')])",
    "text of numbers": "tf.summary.text('a', tf.constant(1.))",
    "image rank": "tf.summary.image('a', tf.zeros([2, 3]))",
}
"""Name -> an expression that raises when it is built or run."""


def names_for(tf) -> dict:
    """What the expressions may use."""

    def in_scope(make):
        with tf.name_scope("outer"):
            return make()

    def all_of(*names, scope=None):
        for name in names:
            tf.summary.scalar(name, 1.0)
        with tf.name_scope("inner"):
            tf.summary.scalar("c", 3.0)
        return tf.summary.merge_all(scope=scope)

    def by_name():
        with tf.Graph().as_default() as graph:
            tf.summary.image("i", NEGATIVE, 2)
            definition = graph.as_graph_def()
        tf.import_graph_def(definition, name="again")
        return tf.get_default_graph().get_tensor_by_name("again/i:0")

    def node(kind, *inputs, **attrs):
        """An operation that Python's functions make no more."""
        definition = tf.GraphDef()
        node_def = definition.node.add(name="n", op=kind)
        node_def.input.extend(f"x{i}" for i in range(len(inputs)))
        for name, value in attrs.items():
            setattr(node_def.attr[name], "type" if name == "T" else "f", value)
        inputs = {f"x{i}": tf.constant(value) for i, value in enumerate(inputs)}
        return tf.import_graph_def(definition, inputs, ["n:0"], name="old")[0]

    functions = (in_scope, all_of, by_name, node)
    return {**globals(), "tf": tf, **{function.__name__: function for function in functions}}


def build(tf, expression: str):
    """What an expression gives, in the default graph."""
    return eval(expression, names_for(tf))


def refusal(tf, expression: str) -> tuple[str, str]:
    """Type and words of what an expression raises, without the operation they end with."""
    try:
        with tf.Session() as session:
            session.run(build(tf, expression))
    except Exception as error:
        lines = str(getattr(error, "message", "") or error).splitlines()
        nodes = [i for i, line in enumerate(lines) if line.strip().startswith("[[")]
        return type(error).__name__, lines[nodes[0] - 1 if nodes else 0]
    return "", ""
