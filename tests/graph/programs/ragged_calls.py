"""Calls of functions of ragged tensors, and how what they give is written down."""

from __future__ import annotations

import numpy as np

CALLS = [
    "C([[], []], ragged_rank=0)",
    "C([[[1,2]],[[3,4]]], ragged_rank=0).shape",
    "C([], ragged_rank=3).shape",
    "C([[],[[]]]).shape",
    "C([], inner_shape=(0,)).shape",
    "C([1,2,3], ragged_rank=0, inner_shape=()).shape",
    "C(np.zeros([2,0,3]),ragged_rank=1).shape",
    "tf.gather(C([[1,2],[3]]), 5)",
    "tf.concat([[[1,2]],[[3,4,5]]], 0)",
    "tf.concat([], 0)",
    "tf.ragged.stack([5,6]).shape",
    "tf.ragged.stack([[1,2],[3,4]])",
    "tf.ragged.stack([[1,2]])",
    "tf.ragged.stack([[[1,2]]], axis=1)",
    "tf.ragged.boolean_mask([[[1,2],[3,4]]], [[True,False]])",
    "tf.ragged.boolean_mask(C([[1,2],[3]]), [True])",
    "tf.ragged.boolean_mask(C([[1,2],[3]]), [[True,False],[True,False]])",
    "tf.gather_nd(C([[7,8],[9]]), [[0,1]], bad_indices_policy='IGNORE')",
    "tf.gather_nd([1,2], [[5]], bad_indices_policy='IGNORE')",
    "tf.gather_nd([[1,2]], [[0,-1]], bad_indices_policy='IGNORE')",
    "True & C([[True,False]])",
    "C([[1]]) & C([[1]])",
    "tf.ragged.map_flat_values(tf.concat, [C([[1,2],[3]]), C([[4,5],[6]])], axis=0)",
    "tf.ragged.map_flat_values(tf.stack, [C([[1,2],[3]]), C([[4,5],[6]])], axis=1)",
    "tf.ragged.map_flat_values(lambda x: x[:1], C([[1,2],[3]]))",
    "tf.ragged.map_flat_values(tf.add, C([[1,2],[3]]), C([[1],[2,3]]))",
    "tf.ragged.map_flat_values(tf.add, C([[1,2],[3]]), C([[[1],[2]],[[3]]]))",
    "tf.ragged.map_flat_values(tf.add, C([[1,2],[3]]), 3)",
    "C([[1,2],[3]]).row_lengths(axis=3)",
    "C([[1,2],[3]]).row_lengths(axis=[1])",
    "C([[1,2],[3]]).to_sparse().indices.shape",
    "C([[1,2],[3]]).to_tensor([1,2])",
    "C([[1,2],[3]]).to_tensor(shape=[1,2,3])",
    "C([[[1,2]],[[3,4]]],ragged_rank=1).to_tensor(shape=[1,2,3])",
    "C([[[1,2]],[[3,4]]],ragged_rank=1).to_tensor(default_value=[1,2,3])",
    "C([],ragged_rank=1,dtype=tf.int32).to_tensor(default_value=3,shape=[2,2])",
    "tf.where(C([[True]]), C([[1]]))",
    "tf.where(C([[True]]), C([[1,2]]), C([[1]]))",
    "tf.where(C([[True],[False]]), C([[1,2]]), C([[1]]))",
    "tf.where_v2(C([[True,False],[True]]), C([[1],[2,3]]), 1)",
    "tf.where_v2(C([[True,False],[True]]), 1, [2])",
    "tf.ragged.row_splits_to_segment_ids([])",
    "tf.ragged.row_splits_to_segment_ids([0., 2.])",
    "tf.ragged.segment_ids_to_row_splits([0.5])",
    "tf.ragged.segment_ids_to_row_splits([2,0,1])",
    "tf.RaggedTensor.from_tensor([[1,2],[3,4]], lengths=1.)",
    "tf.RaggedTensor.from_tensor([[1,2],[3,4]], lengths=[1.,2.])",
    "tf.repeat([1,2], [1.,2.])",
    "tf.reduce_mean(C([[1e300,1e300]],dtype=tf.float64), axis=1)",
    "tf.math.reduce_variance(C([[1.,2.],[3.]]), axis=1)",
    "tf.ragged.cross([C([['a'],['b']]), C([['a']])])",
    "tf.ragged.cross([C([['a'],['b']]), [['a']]])",
    "tf.batch_gather(C([[1,2],[3]]), C([[0]]))",
    "tf.batch_gather([1,2], C([[0]]))",
    "tf.batch_gather(C([[1,2],[3]]), tf.constant(0))",
    "tf.bitcast(C([[1,2],[3]]), tf.int8)",
    "tf.bitcast(C([[1,2],[3]], dtype=tf.int8), tf.int32)",
    "tf.strings.format('{} {}', (C([[1,2],[3]]), C([['a']])))",
    "tf.strings.format('{}', C([[[1,2]],[],[[3]]]), summarize=1)",
    "tf.strings.format('{}', C([[1.5]]))",
    "tf.strings.format('{}', [C([[1.5]])])",
    "tf.as_string(C([[1.5]]))",
    "tf.squeeze(C([[1],[2]]), 1)",
    "tf.squeeze(C([[1],[2]]))",
    "tf.size(C([[1],[2]]))",
    "tf.rank(C([[1],[2]]))",
    "tf.reverse(C([[1,2],[3]]), [1])",
    "tf.reverse(C([[1,2],[3]]), [0,1])",
    "tf.split(C([[1,2],[3]]), 2)",
    "tf.split(C([[1,2],[3]]), [1,1])",
    "tf.one_hot(C([[1,2],[3]]), 4)",
    "tf.tile(C([[1,2],[3]]), [2,1])",
    "tf.expand_dims(C([[1,2],[3]]), 1)",
    "tf.zeros_like(C([[1,2],[3]]))",
    "tf.identity(C([[1,2],[3]]))",
    "tf.cast(C([[1,2],[3]]), tf.float32)",
    "tf.clip_by_value(C([[1,2],[3]]), 1, 2)",
    "tf.sort(C([[2,1],[3]]))",
    "tf.argsort(C([[2,1],[3]]))",
    "tf.argmax(C([[2,1],[3]]), 1)",
    "tf.add_n([C([[2,1],[3]]), C([[2,1],[3]])])",
    "tf.nn.dropout(C([[2.,1.],[3.]]), 1.)",
    "tf.nn.relu(C([[2.,-1.],[3.]]))",
    "tf.nn.embedding_lookup([[1.],[2.]], C([[0,1],[1]]))",
    "tf.nn.bias_add(C([[2.,-1.],[3.,4.]]), [1.,2.])",
    "tf.strings.length(C([['a','bb'],['ccc']]))",
    "tf.strings.join([C([['a','bb'],['ccc']]), 'x'])",
    "tf.strings.join([C([['a','bb'],['ccc']]), C([['a','bb'],['ccc']])], '-')",
    "tf.strings.reduce_join(C([['a','bb'],['ccc']]), axis=1)",
    "tf.strings.reduce_join(C([['a','bb'],['ccc']]), axis=0)",
    "tf.strings.split(C([['a b','bb'],['c c c']]), result_type='RaggedTensor')",
    "tf.strings.split(['a b','bb'], result_type='RaggedTensor')",
    "tf.string_split(['a b','bb'])",
    "tf.strings.substr(C([['abc','bb'],['c c c']]), 0, 1)",
    "tf.strings.regex_replace(C([['abc','bb'],['c c c']]), 'b', 'x')",
    "tf.strings.to_number(C([['1','2'],['3']]))",
    "tf.strings.bytes_split(C([['ab','c'],['']]))",
    "tf.strings.unicode_decode(C([['ab','c'],['']]), 'UTF-8')",
    "tf.strings.ngrams(C([['ab','c'],['']]), 2)",
    "tf.strings.unsorted_segment_join(C([['ab','c'],['']]), C([[0,1],[0]]), 2)",
    "tf.map_fn(tf.reduce_sum, C([[1,2],[3]]))",
    "tf.map_fn(lambda x: x+1, C([[1,2],[3]]), dtype=Spec(None, tf.int32, 0))",
    "tf.map_fn(lambda x: tf.RaggedTensor.from_tensor([[1]]), [1,2], dtype=Spec(None, tf.int32, 1))",
    "tf.map_fn(lambda x: tf.ragged.range(x), C([[1,2],[3]]), dtype=Spec(None, tf.int32, 1))",
    "tf.map_fn(lambda x: x[:1], C([[1,2],[3]]), dtype=Spec([None], tf.int32, 0))",
    "tf.ragged.constant([[1,2],[3]]) == tf.ragged.constant([[1,2],[4]])",
    "tf.equal(C([[1,2],[3]]), C([[1,2],[4]]))",
    "tf.stack([C([[1,2],[3]]), C([[1]])])",
    "tf.unstack(C([[1,2],[3]]))",
    "tf.reshape(C([[1,2],[3]]), [3])",
    "tf.transpose(C([[1,2],[3]]))",
    "tf.shape(C([[1,2],[3]]))",
    "tf.pad(C([[1,2],[3]]), [[0,0],[1,1]])",
    "tf.math.top_k(C([[1,2],[3]]))",
    "tf.slice(C([[1,2],[3]]), [0,0], [1,1])",
    "tf.strided_slice(C([[1,2],[3]]), [0], [1])",
    "tf.boolean_mask(C([[1,2],[3]]), [True,False])",
    "tf.dynamic_partition(C([[1,2],[3]]), [0,1], 2)",
    "tf.broadcast_to(C([[1],[3]]), [2,2])",
    "tf.math.segment_sum(C([[1,2],[3]]), [0,0])",
    "tf.math.unsorted_segment_sum(C([[1,2],[3]]), [0,0], 1)",
    "C([[1,2],[3]])[0]",
    "C([[1,2],[3]])[:,0]",
    "C([[1,2],[3]])[:,:1]",
    "C([[1,2],[3]])[1,0]",
    "C([[1,2],[3]])[5]",
    "C([[1,2],[3]])[..., tf.newaxis].shape",
    "C([[1,2],[3]])[::-1]",
    "C([[1,2],[3]])['a']",
    "C([[1,2],[3]])[0.5]",
    "len(C([[1,2],[3]]))",
    "bool(C([[1,2],[3]]))",
    "C([[1,2],[3]])[0,0,0]",
    "tf.RaggedTensor.from_row_splits([1,2,3],[0,5])",
    "tf.RaggedTensor.from_row_splits([1,2,3],[0,2.])",
    "tf.RaggedTensor.from_row_splits([1,2,3],[])",
    "tf.RaggedTensor.from_row_splits([1,2,3],0)",
    "tf.RaggedTensor.from_row_splits(5,[0,1])",
    "tf.RaggedTensor.from_row_lengths([1,2,3],[1,1])",
    "tf.RaggedTensor.from_value_rowids([1,2,3],[0,1,0])",
    "tf.RaggedTensor.from_value_rowids([1,2,3],[0,1,2],nrows=-1)",
    "tf.RaggedTensor.from_value_rowids([1,2,3],[0,1,2],nrows=1)",
    "tf.RaggedTensor.from_uniform_row_length([1,2,3],2)",
    "tf.RaggedTensor.from_uniform_row_length([1,2,3,4],2).uniform_row_length",
    "tf.RaggedTensor.from_nested_row_splits([1,2,3],tf.constant([0,3]))",
    "C([[1,2],[3]]).with_values([1,2])",
    "C([[1,2],[3]]).with_flat_values([[1,2],[3,4],[5,6]])",
    "C([[1,2],[3]]).with_row_splits_dtype(tf.float32)",
    "C([[1,2],[3]]).merge_dims(0,1)",
    "C([[1,2],[3]]).merge_dims(1,0)",
    "C([[[1,2]],[[3]]]).merge_dims(1,2)",
    "C([[1,2],[3]]).bounding_shape(axis=1)",
    "C([[1,2],[3]]).bounding_shape(axis=[0,1])",
    "C([[1,2],[3]]).nrows(tf.int32)",
    "tf.ragged.range([1,2],[3,5],[1,0])",
    "tf.ragged.range([1.,2.])",
    "tf.ragged.placeholder(tf.int32, 1, [2]).shape",
    "tf.ragged.stack_dynamic_partitions(C([[1,2],[3]]), [1,0], 2)",
    "tf.ragged.stack_dynamic_partitions(C([[1,2],[3]]), C([[1,0],[1]]), 2)",
    "tf.ragged.stack_dynamic_partitions([1,2], [1,5], 2)",
    "tf.ragged.stack_dynamic_partitions([1,2], [1,-5], 2)",
    "tf.ragged.stack_dynamic_partitions([1,2], [1], 2)",
    "tf.matmul(C([[1,2],[3,4]]), C([[1],[2]]))",
    "tf.matmul(C([[1,2],[3]]), C([[1],[2]]))",
    "tf.matmul(C([[1.,2],[3,4]]), C([[1],[2]]))",
    "tf.nn.softmax(C([[1.,2],[3]]))",
    "tf.cumsum(C([[1,2],[3]]), axis=1)",
    "tf.cumsum(C([[1,2],[3]]), axis=1, exclusive=True, reverse=True)",
    "tf.math.bincount(C([[1,2],[3]]))",
    "tf.sparse.bincount(C([[1,2],[3]]), axis=-1)",
    "tf.debugging.assert_equal(C([[1,2],[3]]), C([[1,2],[4]]))",
    "tf.gather(C([[1,2],[3]]), [[0],[0]], batch_dims=1)",
    "tf.gather(C([[1,2],[3]]), [0,1], axis=1)",
    "tf.gather([[1,2],[3,4]], C([[0],[1,0]]))",
    "tf.nn.sigmoid_cross_entropy_with_logits(labels=C([[1.,0],[1]]), logits=C([[1.,2],[3]]))",
    "tf.py_func(lambda x: x, [C([[1,2],[3]])], tf.int32)",
    "tf.convert_to_tensor(C([[1,2],[3]]))",
    "tf.constant(C([[1,2],[3]]))",
    "tf.Variable(C([[1,2],[3]]))",
    "tf.gradients(tf.reduce_sum(C([[1.,2],[3]])*2.), C([[1.,2.]]))",
    "tf.cond(tf.constant(True), lambda: C([[1,2],[3]]), lambda: C([[1],[3]]))",
    "tf.while_loop(lambda i, r: i<2, lambda i, r: [i+1, r+1], [tf.constant(0), C([[1,2],[3]])])",
    "tf.case([(tf.constant(True), lambda: C([[1,2],[3]]))])",
    "tf.identity_n([C([[1,2],[3]])])",
    "tf.stop_gradient(C([[1.,2],[3]]))",
    "tf.ensure_shape(C([[1.,2],[3]]),[2,None])",
    "tf.is_tensor(C([[1.,2],[3]]))",
    "tf.nn.l2_normalize(C([[1.,2],[3]]),1)",
    "tf.nn.crelu(C([[1.,2],[3]]))",
    "tf.nn.log_softmax(C([[1.,2],[3]]))",
    "tf.sparse.from_dense(C([[1,2],[3]]))",
    "tf.searchsorted(C([[1,2],[3]]),C([[1,2],[3]]))",
    "tf.unique(C([[1,2],[3]]))",
    "tf.setdiff1d(C([[1,2],[3]]),[1])",
    "tf.math.count_nonzero(C([[1,2],[0]]))",
    "tf.math.argmax(C([[1,2],[0]]))",
    "tf.math.accumulate_n([C([[1,2],[0]])])",
    "tf.nest.flatten(C([[1,2],[0]]))",
    "tf.nest.flatten(C([[1,2],[0]]), expand_composites=True)",
    "tf.nn.moments(C([[1.,2],[0]]),[0])",
    "tf.repeat(np.zeros([0,2],np.int32),[],axis=0)",
    "tf.repeat([[1,2],[3,4]],np.zeros([0],np.int32))",
    (
        "tf.ragged.boolean_mask(C([[[1,2],[3,4]],[[5,6]]],ragged_rank=1),"
        "C([[[True,False],[True,True]],[[False,True]]],ragged_rank=1))"
    ),
    "tf.gather(C([[1,2],[3,4]]),1,axis=1)",
    "tf.gather(C([[[1,2],[3,4]],[[5,6]]]),0,axis=1)",
    "C([[1,2],[3]],row_splits_dtype=tf.int32)+[[1],[2]]",
    "C([[1,2],[3]]).to_tensor(shape=tf.constant([2,2,2]))",
    "tf.math.cumsum(C([[[1,2],[3]],[[4]]]),axis=0)",
    "tf.matmul(C([[[1,2]],[[3,4],[5,6]]]), C([[[1],[2]],[[3],[4]]]))",
    "tf.matmul(C([[[1],[2]],[[3]]]), C([[[1],[2]],[[3]]]), transpose_a=True)",
    "tf.matmul(C([[[1.,2]],[[3,4],[5,6]]], ragged_rank=1), [[[1.],[2]],[[3],[4]]])",
]
OTHERWISE = {
    "C([1,2,3], ragged_rank=0, inner_shape=()).shape": "the error is that of tf.constant here",
    "C([[1,2],[3]]).to_tensor(shape=[1,2,3])": "the error shows the shape that was asked for",
    "tf.bitcast(C([[1,2],[3]], dtype=tf.int8), tf.int32)": "the error is that of bitcast",
    "tf.strings.to_number(C([['1','2'],['3']]))": "takes ragged tensors",
    "tf.map_fn(tf.reduce_sum, C([[1,2],[3]]))": "the error comes from slicing the result",
    "tf.shape(C([[1,2],[3]]))": "there is no DynamicRaggedShape; see bounding_shape",
    "C([[1,2],[3]])[0,0,0]": "an IndexError that counts the dimensions",
    "tf.RaggedTensor.from_row_splits(5,[0,1])": "the error says which rank there must be",
    "tf.RaggedTensor.from_uniform_row_length([1,2,3],2)": "one error for all wrong partitions",
    "tf.nn.softmax(C([[1.,2],[3]]))": "takes ragged tensors, as TensorFlow 2's",
    "tf.gather(C([[1,2],[3]]), [[0],[0]], batch_dims=1)": "the axis is batch_dims by default",
    "tf.gather(C([[1,2],[3]]), [0,1], axis=1)": "the error is about rows, not flat values",
    (
        "tf.nn.sigmoid_cross_entropy_with_logits(labels=C([[1.,0],[1]]), logits=C([[1.,2],[3]]))"
    ): "takes ragged tensors, as TensorFlow 2's",
    "tf.math.accumulate_n([C([[1,2],[0]])])": "takes ragged tensors, as add_n",
    "tf.nn.moments(C([[1.,2],[0]]),[0])": "refused when the graph is built",
}
"""Calls for which flatlite does otherwise on purpose, and why."""


def outcome(tf, call: str) -> object:
    """What a call gives, or the name of its error with the first words."""
    with tf.Graph().as_default(), tf.Session() as session:
        try:
            names = {"tf": tf, "np": np, "C": tf.ragged.constant, "Spec": tf.RaggedTensorSpec}
            value = eval(call, names)
            if isinstance(value, tf.TensorShape):
                return ["shape", value.as_list()]
            if isinstance(value, (str, bool, int, tf.Variable)):
                return ["python", str(value)]
            return _listed(tf, session.run(value))
        except Exception as error:
            return ["raises", type(error).__name__, _words(str(error))]


def _words(text: str) -> str:
    """The first words of an error, without where it happened and the tensors that it names."""
    lines = text.splitlines() or [""]
    if "Graph execution error" in text:
        nodes = [i for i, line in enumerate(lines) if line.startswith("Node:")]
        lines = lines[nodes[-1] + 1 :] if nodes else lines
    return lines[0].removeprefix("assertion failed: [")[:32]


def _listed(tf, value: object) -> object:
    if isinstance(value, tf.ragged.RaggedTensorValue):
        splits = [str(part.dtype) for part in value.nested_row_splits]
        return ["ragged", _texts(value.to_list()), str(value.flat_values.dtype), splits]
    if isinstance(value, tf.SparseTensorValue):
        return ["sparse", *(_listed(tf, np.asarray(part)) for part in value)]
    if isinstance(value, (list, tuple)):
        return [_listed(tf, item) for item in value]
    array = np.asarray(value)
    return [str(array.dtype), _texts(array.tolist())]


def _texts(value: object) -> object:
    if isinstance(value, list):
        return [_texts(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.5g}")
    return value.decode() if isinstance(value, bytes) else value


def outcomes(tf):
    """What each call gives."""
    return {call: outcome(tf, call) for call in CALLS}
