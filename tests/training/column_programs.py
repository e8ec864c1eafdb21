"""Expressions of `tf.feature_column`; column_programs.json is what TensorFlow makes of them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

FEATURES = {
    "x": [[1.0], [2.5], [-3.0]],
    "y": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
    "cat": [["a"], ["zz"], ["c"]],
    "ids": np.array([[1], [4], [0]]),
    "multi": [["a", "b"], ["c", ""], ["a", "a"]],
    "age": [[5.0], [27.0], [70.0]],
    "many": np.array([[0, 2], [1, -1], [2, 2]]),
    "one": [1.0, 2.0, 3.0],
}
VOCABULARY = "a\nb\nc\n"
VALUES = [
    "fc.input_layer(f,[fc.numeric_column('x')])",
    "fc.input_layer(f,fc.numeric_column('one'))",
    "fc.input_layer(f,[fc.numeric_column('y',2),fc.numeric_column('x',normalizer_fn=lambda v:-v)])",
    "fc.input_layer(f,[fc.bucketized_column(fc.numeric_column('age'),[18.,65.])])",
    "fc.input_layer(f,[fc.bucketized_column(fc.numeric_column('y',2),[2,4.5])])",
    "fc.input_layer(f,[fc.indicator_column(fc.categorical_column_with_hash_bucket('cat',5))])",
    "fc.input_layer(f,[fc.indicator_column(fc.categorical_column_with_hash_bucket('ids',5,tf.int64))])",
    "fc.input_layer(f,[fc.indicator_column(fc.categorical_column_with_identity('ids',5))])",
    "fc.input_layer(f,[fc.indicator_column(fc.categorical_column_with_identity('ids',3,default_value=0))])",
    "fc.input_layer(f,[fc.indicator_column(fc.categorical_column_with_identity('ids',3))])",
    "fc.input_layer(f,[fc.indicator_column(fc.categorical_column_with_identity('many',4))])",
    "fc.input_layer(f,[fc.indicator_column(fc.categorical_column_with_vocabulary_list('multi',['a','b','c']))])",
    "fc.input_layer(f,[fc.indicator_column(fc.categorical_column_with_vocabulary_list('cat',['a','b'],num_oov_buckets=3))])",
    "fc.input_layer(f,[fc.indicator_column(fc.categorical_column_with_vocabulary_list('cat',['a','b'],default_value=1))])",
    "fc.input_layer(f,[fc.indicator_column(fc.categorical_column_with_vocabulary_list('ids',[4,1]))])",
    "fc.input_layer(f,[fc.indicator_column(fc.categorical_column_with_vocabulary_file('multi','FILE',3))])",
    "fc.input_layer(f,[fc.indicator_column(fc.categorical_column_with_vocabulary_file('multi','FILE',2,num_oov_buckets=2))])",
    "fc.input_layer(f,[fc.indicator_column(fc.weighted_categorical_column(fc.categorical_column_with_vocabulary_list('multi',['a','b','c']),'wm'))])",
    "fc.input_layer(f,[fc.indicator_column(fc.crossed_column(['cat','multi'],11))])",
    "fc.input_layer(f,[fc.indicator_column(fc.crossed_column([fc.categorical_column_with_vocabulary_list('multi',['a','b','c']),'cat'],7,hash_key=5))])",
    "fc.input_layer(f,[fc.indicator_column(fc.crossed_column(['cat',fc.bucketized_column(fc.numeric_column('age'),[18.,65.])],9))])",
    "fc.input_layer(f,[fc.embedding_column(fc.categorical_column_with_identity('many',5),3,initializer=ci(np.arange(15.).reshape(5,3)))])",
    "fc.input_layer(f,[fc.embedding_column(fc.categorical_column_with_identity('ids',5),3,initializer=ci(np.arange(15.).reshape(5,3)),use_safe_embedding_lookup=False)])",
    "fc.input_layer(f,[fc.embedding_column(fc.categorical_column_with_identity('many',5),3,combiner='sqrtn',max_norm=2.,initializer=ci(np.arange(15.).reshape(5,3)))])",
    "fc.input_layer(f,[fc.embedding_column(fc.weighted_categorical_column(fc.categorical_column_with_vocabulary_list('multi',['a','b','c']),'wm'),2,combiner='sum',initializer=ci(np.arange(6.).reshape(3,2)))])",
    "fc.input_layer(f,fc.shared_embedding_columns([fc.categorical_column_with_identity('many',5),fc.categorical_column_with_identity('ids',5)],2,initializer=ci(np.arange(10.).reshape(5,2))))",
    "fc.input_layer(f,fc.shared_embedding_columns([fc.categorical_column_with_identity('many',5),fc.categorical_column_with_identity('ids',5)],2,initializer=ci(np.arange(10.).reshape(5,2)),shared_embedding_collection_name='sh'))",
    "fc.input_layer(f,[fc.numeric_column('x'),fc.bucketized_column(fc.numeric_column('age'),[18.,65.]),fc.indicator_column(fc.categorical_column_with_vocabulary_list('cat',['a','b','c']))])",
    "fc.linear_model(f,[fc.numeric_column('x'),fc.numeric_column('y',2)])",
    "fc.linear_model(f,[fc.numeric_column('x'),fc.categorical_column_with_identity('many',5),fc.bucketized_column(fc.numeric_column('age'),[18.,65.])],units=2)",
    "fc.linear_model(f,[fc.crossed_column(['cat','multi'],11),fc.weighted_categorical_column(fc.categorical_column_with_vocabulary_list('multi',['a','b','c']),'wm')],sparse_combiner='mean')",
    "fc.linear_model(f,[fc.embedding_column(fc.categorical_column_with_identity('many',5),3),fc.indicator_column(fc.categorical_column_with_identity('ids',5))],sparse_combiner='sqrtn')",
]
ERRORS = [
    "fc.input_layer(f,[])",
    "fc.input_layer(f,[fc.categorical_column_with_identity('ids',5)])",
    "fc.input_layer(f,[fc.numeric_column('x'),fc.numeric_column('x')])",
    "fc.input_layer(f,[fc.numeric_column('nox')])",
    "fc.input_layer(f,{'a':fc.numeric_column('x')})",
    "fc.numeric_column('x',shape=0)",
    "fc.numeric_column('x',shape=[1.5])",
    "fc.numeric_column('x',dtype=tf.string)",
    "fc.numeric_column('x',normalizer_fn=3)",
    "fc.numeric_column('x',default_value=[1.,2.])",
    "fc.numeric_column('x',default_value='a')",
    "fc.numeric_column(3)",
    "fc.bucketized_column(fc.numeric_column('x'),[])",
    "fc.bucketized_column(fc.numeric_column('x'),[2.,1.])",
    "fc.bucketized_column(3,[1.])",
    "fc.bucketized_column(fc.numeric_column('x',[2,2]),[1.])",
    "fc.categorical_column_with_hash_bucket('x',0)",
    "fc.categorical_column_with_hash_bucket('x',3,tf.float32)",
    "fc.categorical_column_with_identity('x',0)",
    "fc.categorical_column_with_identity('x',3,5)",
    "fc.categorical_column_with_vocabulary_list('x',[])",
    "fc.categorical_column_with_vocabulary_list('x',['a','a'])",
    "fc.categorical_column_with_vocabulary_list('x',['a'],num_oov_buckets=1,default_value=0)",
    "fc.categorical_column_with_vocabulary_list('x',['a'],num_oov_buckets=-1)",
    "fc.categorical_column_with_vocabulary_list('x',[1.5])",
    "fc.categorical_column_with_vocabulary_file('x','')",
    "fc.categorical_column_with_vocabulary_file('x','FILE',0)",
    "fc.crossed_column(['a'],3)",
    "fc.crossed_column(['a','b'],0)",
    "fc.crossed_column(['a',fc.categorical_column_with_hash_bucket('b',3)],4)",
    "fc.crossed_column(['a',fc.numeric_column('x')],4)",
    "fc.embedding_column(fc.categorical_column_with_identity('ids',5),0)",
    "fc.embedding_column(fc.categorical_column_with_identity('ids',5),2,ckpt_to_load_from='x')",
    "fc.embedding_column(fc.categorical_column_with_identity('ids',5),2,initializer=3)",
    "fc.weighted_categorical_column(fc.categorical_column_with_identity('ids',5),'w',tf.string)",
    "fc.shared_embedding_columns([fc.categorical_column_with_identity('many',5),fc.categorical_column_with_identity('ids',6)],2)",
    "fc.input_layer(f,[fc.embedding_column(fc.sequence_categorical_column_with_identity('ids',5),2)])",
]


def outcome(tf, expression: str, folder) -> dict:
    """The values and variables of an expression, or its error."""
    path = folder / "vocabulary.txt"
    path.write_text(VOCABULARY)
    with tf.Graph().as_default(), tf.Session() as session:
        features = {key: tf.constant(value) for key, value in FEATURES.items()}
        places = [[0, 0], [0, 1], [1, 0], [2, 0], [2, 1]]
        features["wm"] = tf.SparseTensor(places, [1.0, 2.0, 0.5, 3.0, 4.0], [3, 2])
        names = {"fc": tf.feature_column, "f": features, "tf": tf, "np": np}
        names["ci"] = tf.constant_initializer
        try:
            result = eval(expression.replace("FILE", str(path)), names)
        except (TypeError, ValueError) as error:
            return {"error": type(error).__name__, "words": str(error)}
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        variables = tf.global_variables()
        if "linear_model" in expression:
            for i, variable in enumerate(variables, 1):
                sizes = variable.shape.as_list()
                numbers = np.arange(1, np.prod(sizes) + 1, dtype=np.float32)
                session.run(variable.assign(i * numbers.reshape(sizes)))
        return {
            "values": np.asarray(session.run(result)).tolist(),
            "variables": sorted([v.op.name, v.shape.as_list()] for v in variables),
            "model variables": len(tf.model_variables()),
        }


def outcomes(tf):
    """What each expression gives, or its error."""
    with tempfile.TemporaryDirectory() as folder:
        return {text: outcome(tf, text, Path(folder)) for text in (*VALUES, *ERRORS)}
