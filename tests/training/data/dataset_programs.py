"""Datasets as expressions: `D` is tf.data.Dataset, `X` tf.data.experimental."""
# ruff: noqa: E501 - an expression is a line

from __future__ import annotations

import gzip
import os
import re

import numpy as np

MOST = 12
"""Elements that are recorded of one."""

SOURCES = """
D.range(5)
D.range(2, 11, 3)
D.range(5, 0, -2)
D.range(3, output_type=tf.float32)
D.from_tensors((1, [2., 3.]))
D.from_tensors({'b': 'text', 'a': [[1, 2]]})
D.from_tensor_slices([1.5, 2.5, 3.5])
D.from_tensor_slices(([1, 2], ['a', 'b']))
D.from_tensor_slices({'x': [[1, 2], [3, 4]], 'y': [True, False]})
D.from_tensor_slices(tf.SparseTensor([[0, 1], [2, 0]], [5, 6], [3, 2])).map(tf.sparse.to_dense)
D.from_sparse_tensor_slices(tf.SparseTensor([[0, 1], [2, 0]], [5, 6], [3, 2]))
D.from_generator(lambda: iter([1, 2, 3]), tf.int32)
D.from_generator(lambda: iter([(1, [2.]), (3, [4., 5.])]), (tf.int64, tf.float32), ([], [None]))
D.from_generator(lambda n: iter(range(n)), tf.int64, args=[4])
D.from_generator(lambda: iter(['a', 'b']), output_signature=tf.TensorSpec([], tf.string))
D.from_generator(lambda: iter([{'a': 1}]), {'a': tf.int32}).repeat(2)
D.from_generator(lambda: iter([[], [1]]), tf.int32, [None])
D.from_generator(lambda: iter([np.float64(1.5), np.array(True), 300, -1]), tf.uint8)
D.from_generator(lambda: iter([2.7]), tf.int32)
D.from_generator(lambda: iter([5]), tf.string)
D.zip((D.range(3), D.range(5, 7)))
D.zip({'a': D.range(2), 'b': (D.range(2), D.range(2))})
X.RandomDataset(4).take(3)
X.Counter(3, 2).take(4)
tf.data.TextLineDataset(F + '/lines.txt')
tf.data.TextLineDataset([F + '/lines.txt', F + '/more.txt']).skip(2)
tf.data.TextLineDataset(F + '/lines.gz', compression_type='GZIP')
tf.data.TextLineDataset(D.from_tensor_slices([F + '/more.txt', F + '/lines.txt'])).take(3)
tf.data.FixedLengthRecordDataset(F + '/bytes', 3, header_bytes=2, footer_bytes=1)
tf.data.TFRecordDataset(F + '/records').map(tf.strings.length)
X.CsvDataset(F + '/table.csv', [tf.int32, tf.constant([0.5]), tf.string], header=True).take(2)
X.CsvDataset([F + '/table.csv'], [tf.string, 'none'], header=True, select_cols=[0, 2])
X.make_csv_dataset(F + '/table.csv', 2, num_epochs=1, shuffle=False)
X.make_csv_dataset(F + '/table.csv', 2, label_name='c', select_columns=['a', 'c'], shuffle=False)
X.make_csv_dataset(F + '/table.csv', 3, shuffle_seed=3, shuffle_buffer_size=4, num_epochs=2)
X.make_batched_features_dataset(F + '/examples', 2, {'x': tf.FixedLenFeature([], tf.int64)}, label_key='x', shuffle=False, num_epochs=1)
X.make_batched_features_dataset(F + '/examples', 2, {'x': tf.VarLenFeature(tf.int64)}, shuffle=False, num_epochs=1)
D.list_files(F + '/*.txt', shuffle=False).map(lambda p: tf.strings.split([p], '/').values[-1])
D.list_files(F + '/*', seed=3).map(lambda p: tf.strings.split([p], '/').values[-1])
"""
AT_ONCE = """
D.range(20).map(lambda x: x * 2).shuffle(8, seed=3).batch(6)
D.range(20).map(lambda x: 10 // (x - 7)).batch(5).apply(X.ignore_errors())
D.range(20).map(lambda x: 10 // (x - 7)).apply(X.ignore_errors()).batch(5)
D.range(30).map(lambda x: 10 // (x - 7)).shuffle(6, seed=2).apply(X.ignore_errors()).batch(7)
D.range(30).map(lambda x: 10 // (x - 7)).shuffle(6, seed=2).batch(7).apply(X.ignore_errors())
D.range(10).map(lambda x: 10 // (x - 7)).repeat(2).batch(4).apply(X.ignore_errors())
D.range(40).filter(lambda x: tf.equal(x % 3, 1)).map(lambda x: (x, tf.one_hot(x % 4, 4))).batch(5, drop_remainder=True)
D.range(40).filter(lambda x: 6 // (x - 11) < 5).batch(8).apply(X.ignore_errors())
D.range(12).apply(X.map_and_batch(lambda x: 6 // (x - 9), 5)).apply(X.ignore_errors())
D.from_tensor_slices(['1,2', '3,4', '5,x', '7,8', '9,1']).map(lambda s: tf.decode_csv(s, [[0], [0]])).batch(2).apply(X.ignore_errors())
D.from_tensor_slices(['1,2', '3,4', '5,6', '7,8', '9,1']).map(lambda s: tf.decode_csv(s, [[0.], ['']])).batch(4)
D.from_tensor_slices(['ab', 'cd', 'ef', 'ghi', 'jk']).map(lambda s: tf.decode_raw(s, tf.uint8)).batch(5)
D.range(9).map(lambda x: tf.fill([3], x)).padded_batch(4, [5])
D.range(3).map(lambda x: (x, tf.as_string(x * 5))).cache(F + '/cache').repeat(2)
D.range(9).map(lambda x: tf.fill([x % 3], x)).padded_batch(5, [None])
D.range(20).map(lambda x: x + tf.random_uniform([], 0, 9, tf.int64, seed=5)).batch(5)
D.range(20).map(lambda x: tf.random_uniform([3], -1., 1., seed=4) * 8 // 1).batch(7)
D.range(20).map(lambda x: tf.cond(tf.random_uniform([], seed=6) < 0.5, lambda: x, lambda: -x)).batch(6).repeat(2)
D.range(9).map(lambda x: tf.random_crop(x + tf.reshape(tf.range(12, dtype=tf.int64), [3, 4]), [2, 2], seed=3)).batch(4)
D.range(9).map(lambda x: tf.image.random_flip_left_right(x + tf.reshape(tf.range(12, dtype=tf.int64), [2, 2, 3]), seed=9)).batch(5)
D.range(9).map(lambda x: tf.cond(x < 5, lambda: x, lambda: 20 // (x - 7))).batch(3).apply(X.ignore_errors())
D.range(16).map(lambda x: 20 // (x - 6 + 0 * tf.random_uniform([], 0, 9, tf.int64, seed=5))).batch(4).apply(X.ignore_errors())
D.range(16).map(lambda x: 20 // (tf.random_uniform([], 0, 9, tf.int64, seed=5) - 4)).batch(4).apply(X.ignore_errors())
D.range(9).map(lambda x: tf.cond(x > 0, lambda: 20 // x, lambda: x)).batch(9)
tf.data.TFRecordDataset(F + '/examples').map(lambda s: tf.parse_single_example(s, {'x': tf.FixedLenFeature([], tf.int64), 's': tf.FixedLenFeature([], tf.string)})).repeat(3).batch(4)
tf.data.TFRecordDataset(F + '/examples').batch(3).map(lambda t: tf.decode_raw(tf.parse_example(t, {'s': tf.FixedLenFeature([], tf.string)})['s'], tf.uint8))
"""
"""Functions that are computed for several elements at once where that gives the same."""
FUNCTIONS = """
D.range(4).map(lambda x: x * x)
D.range(4).map(lambda x: (x, tf.cast(x, tf.float32) / 2), num_parallel_calls=2)
D.range(3).map(lambda x: [x, x + 1])
D.range(3).map(lambda x: {'a': x, 'b': tf.fill([x], 1.)})
D.from_tensor_slices(([1, 2], [3, 4])).map(lambda a, b: a + b)
D.from_tensor_slices({'a': [1, 2]}).map(lambda d: d['a'])
D.range(3).map(lambda x: tf.cond(x > 1, lambda: x * 10, lambda: x))
D.range(4).map(lambda x: tf.while_loop(lambda i: i < 20, lambda i: i * 3, [x + 1]))
D.range(3).map(lambda x: tf.py_func(lambda v: v + 1, [x], tf.int64))
D.range(5).map(lambda x: 10 // (x - 2)).apply(X.ignore_errors())
D.range(9).filter(lambda x: tf.equal(x % 3, 1))
D.from_tensor_slices(([1, 2, 3], [3, 2, 1])).filter(lambda a, b: a > b)
D.range(9).apply(X.take_while(lambda x: x < 4))
D.range(4).flat_map(lambda x: D.range(x))
D.range(3).flat_map(lambda x: D.from_tensors((x, x)).repeat(2))
D.range(5).interleave(lambda x: D.from_tensors(x).repeat(3), cycle_length=2, block_length=2)
D.range(4).interleave(lambda x: D.range(10 * x, 10 * x + x), cycle_length=3)
D.range(4).interleave(lambda x: D.range(x), cycle_length=4, num_parallel_calls=2)
D.range(4).apply(X.parallel_interleave(lambda x: D.range(x, x + 3), 2, 2))
D.range(6).apply(X.scan(np.int64(1), lambda s, x: (s + x, (s, x))))
D.range(6).apply(X.group_by_window(lambda x: x % 2, lambda k, d: d.batch(2), 2))
D.range(7).apply(X.group_by_window(lambda x: x % 3, lambda k, d: d.batch(9).map(lambda b: (k, b)), window_size_func=lambda k: k + 1))
D.range(6).apply(X.group_by_reducer(lambda x: x % 2, X.Reducer(lambda k: k, lambda s, x: s + x, lambda s: s * 10)))
D.range(1, 9).map(lambda n: tf.fill([n], n)).apply(X.bucket_by_sequence_length(lambda t: tf.shape(t)[0], [3, 6], [2, 2, 1], padded_shapes=[None]))
D.range(1, 6).map(lambda n: tf.fill([n], n)).apply(X.bucket_by_sequence_length(lambda t: tf.size(t), [4, 8], [2, 2, 2], pad_to_bucket_boundary=True))
D.range(5).apply(X.map_and_batch(lambda x: (x, x * 2), 2))
D.range(5).apply(X.map_and_batch(lambda x: x, 2, drop_remainder=True))
D.from_tensors(D.range(5).reduce(np.int64(0), lambda a, x: a + x))
D.from_tensors(D.range(5).reduce((0, 1.), lambda s, x: (s[0] + 1, s[1] * 2.)))
D.from_tensors(X.get_single_element(D.range(5).skip(4)))
D.range(3).map(lambda x: tf.SparseTensor([[0, x]], [x], [1, 3])).batch(2).map(tf.sparse.to_dense)
D.range(3).map(lambda x: D.range(x)).flat_map(lambda d: d.batch(4))
"""
ORDERS = """
D.range(10).shuffle(4, seed=1)
D.range(10).shuffle(10, seed=7).repeat(2).take(20).skip(8)
D.range(5).shuffle(3, seed=2, reshuffle_each_iteration=False).repeat(2)
D.range(5).shuffle(3, seed=2, reshuffle_each_iteration=True).repeat(2)
D.range(100).shuffle(100, seed=5)
D.range(4).apply(X.shuffle_and_repeat(3, 2, seed=4))
D.range(6).repeat(2).shuffle(5, seed=9).batch(4)
D.range(3).repeat(2)
D.range(3).repeat().take(7)
D.range(0).repeat().take(7)
D.range(5).take(-1)
D.range(5).take(2).repeat(2)
D.range(5).skip(3)
D.range(5).skip(-1)
D.range(7).shard(3, 1)
D.range(3).concatenate(D.range(10, 12))
D.range(3).cache().repeat(2)
D.range(3).prefetch(1)
D.range(3).enumerate(start=5)
D.range(3).apply(X.enumerate_dataset())
D.from_tensor_slices([1, 2, 1, 3, 2]).apply(X.unique())
D.from_tensor_slices(['a', 'b', 'a']).unique()
X.sample_from_datasets([D.range(5), D.range(100, 105)], seed=1)
X.sample_from_datasets([D.range(5), D.range(100, 105), D.range(200, 202)], [.6, .3, .1], seed=3)
X.sample_from_datasets([D.range(5), D.range(100, 105)], D.from_tensors([.2, .8]).repeat(), seed=4)
D.range(60).map(lambda x: tf.cast(x % 3, tf.int32)).rejection_resample(lambda c: c, [.2, .3, .5], seed=3)
D.range(60).apply(X.rejection_resample(lambda x: tf.cast(x % 3, tf.int32), [.2, .3, .5], [.4, .4, .2], seed=5))
D.zip((D.range(60), D.range(60))).rejection_resample(lambda x, y: tf.cast(y % 2, tf.int32), [.8, .2], [.5, .5], seed=1)
D.range(20).rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [.5, .5], [.5, .5], seed=1)
D.range(40).rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [1., 0.], [.5, .5], seed=1)
X.choose_from_datasets([D.range(3), D.range(10, 13)], D.from_tensor_slices(np.int64([0, 1, 1, 0, 1, 0])))
D.range(4).with_options(tf.data.Options())
D.range(3).apply(X.assert_cardinality(3))
"""
BATCHES = """
D.range(7).batch(3)
D.range(7).batch(3, drop_remainder=True)
D.from_tensor_slices({'x': [[1, 2], [3, 4]], 'y': ['a', 'b']}).batch(2)
D.range(7).batch(2).batch(2)
D.range(4).map(lambda x: tf.fill([x], x)).padded_batch(2, [None])
D.range(4).map(lambda x: tf.fill([x], x)).padded_batch(3)
D.range(4).map(lambda x: tf.fill([x], x)).padded_batch(2, [5], padding_values=np.int64(-1))
D.range(4).map(lambda x: (x, tf.fill([x, 2], 'w'))).padded_batch(2, ([], [None, None]), (np.int64(0), '-'))
D.range(5).padded_batch(2, [], drop_remainder=True)
D.range(6).batch(3).unbatch()
D.from_tensor_slices(([[1, 2], [3, 4]], [['a', 'b'], ['c', 'd']])).unbatch()
D.range(8).batch(2).rebatch(3)
D.range(8).batch(4).rebatch([1, 2])
D.range(7).window(3).flat_map(lambda w: w.batch(3))
D.range(7).window(3, shift=1, stride=2, drop_remainder=True).flat_map(lambda w: w.batch(3))
D.range(7).window(2, shift=3).flat_map(lambda w: w.batch(2))
D.from_tensor_slices(([1, 2, 3], [4., 5., 6.])).window(2).flat_map(lambda a, b: D.zip((a.batch(2), b.batch(2))))
D.range(1, 4).map(lambda x: tf.fill([x], x)).apply(X.dense_to_sparse_batch(2, [4])).map(tf.sparse.to_dense)
D.from_tensors(X.cardinality(D.range(7).batch(3).repeat(2)))
D.from_tensors(X.cardinality(D.range(7).filter(lambda x: x > 2)))
D.from_tensors(X.cardinality(D.range(7).repeat()))
D.from_tensors(X.cardinality(D.zip((D.range(7), D.range(4).repeat())).shard(2, 0).skip(1)))
D.from_tensors(X.cardinality(D.range(7).window(3, 2, drop_remainder=True)))
D.from_tensors(X.cardinality(D.range(7).concatenate(D.range(3)).shuffle(2).prefetch(1).cache().map(lambda x: x)))
"""
ERRORS = """
D.from_tensor_slices(3)
D.from_tensor_slices(([1, 2], [1, 2, 3]))
D.range()
D.range(3).batch(0)
D.range(3).shuffle(0)
D.range(3, 9, 0)
D.range(3).shard(2, 2)
D.range(3).shard(0, 0)
D.range(3).filter(lambda x: x)
D.range(3).apply(lambda d: 3)
D.zip([D.range(3)])
D.zip((D.range(3), 4))
D.range(3).concatenate(D.from_tensors(1.))
D.range(3).map(lambda x: tf.fill([x], x)).filter(lambda t: True).batch(2)
D.range(3).map(lambda x: tf.fill([x], x)).padded_batch(2, [1])
D.range(3).padded_batch(2, [3])
D.range(3).padded_batch(2, [], padding_values=tf.constant(1.))
D.range(3).apply(X.scan(np.int64(0), lambda s, x: s))
D.range(3).apply(X.scan(np.int64(0), lambda s, x: (1., x)))
D.range(3).apply(X.group_by_window(lambda x: x, lambda k, d: k, 2))
D.range(3).apply(X.group_by_window(lambda x: 1., lambda k, d: d, 2))
D.range(3).apply(X.assert_cardinality(5))
D.range(5).apply(X.assert_cardinality(2))
D.from_generator(3, tf.int32)
D.from_generator(lambda: iter([1]))
D.from_generator(lambda: iter(['a']), tf.int32)
D.from_generator(lambda: iter([[1, 2]]), tf.int32, [])
D.from_generator(lambda: iter([(1, 2)]), tf.int32)
D.from_tensors(X.get_single_element(D.range(5)))
D.from_tensors(X.get_single_element(D.range(0)))
D.range(6).apply(X.bucket_by_sequence_length(lambda x: x, [3], [2]))
X.sample_from_datasets([D.range(3)], [.5, .5])
X.make_csv_dataset(F + '/table.csv', 2, label_name='d')
X.make_csv_dataset(F + '/table.csv', 2, column_names=['a', 'a', 'b'])
tf.data.TextLineDataset(F + '/none.txt')
tf.data.TFRecordDataset(F + '/none')
D.list_files(F + '/*.none')
len(D.range(3))
iter(D.range(3))
"""
RAGGED = """
D.range(5).map(lambda x: tf.fill([x], x)).ragged_batch(2)
D.range(5).map(lambda x: tf.fill([x], x)).ragged_batch(2, True, tf.int32)
D.range(5).map(lambda x: tf.fill([x], x)).apply(X.dense_to_ragged_batch(2, row_splits_dtype=tf.int32))
D.range(5).map(lambda x: tf.fill([x], x)).ragged_batch(2).unbatch()
D.range(5).map(lambda x: tf.fill([x], x)).ragged_batch(2).unbatch().batch(3)
D.range(5).map(lambda x: tf.fill([x], x)).ragged_batch(2).ragged_batch(2)
D.range(5).map(lambda x: (tf.fill([x], x), {'n': x, 'c': tf.constant([1, 2])})).ragged_batch(3)
D.range(4).map(lambda x: tf.as_string(tf.fill([2, x], x))).ragged_batch(3)
D.range(4).map(lambda x: tf.fill([x, x + 1], x)).ragged_batch(3)
D.range(4).map(lambda x: tf.fill([x, 2], x)).ragged_batch(3).map(lambda x: tf.reduce_sum(x, 1))
D.range(4).map(lambda x: tf.ragged.range(x + 1)).ragged_batch(3)
D.from_tensors(tf.ragged.constant([[1, 2], [3]])).repeat(3).batch(2)
D.from_tensor_slices(tf.ragged.constant([[1, 2], [3], []]))
D.from_tensor_slices((tf.ragged.constant([[1, 2], [3], []]), [1, 2, 3])).map(lambda a, b: a + b)
D.from_tensor_slices(tf.ragged.constant([[[1, 2], [3]], [], [[4]]])).batch(2).map(lambda x: x + 1)
D.range(5).map(lambda x: tf.fill([x], x)).ragged_batch(2).shuffle(2, seed=3).repeat(2).window(2).flat_map(lambda w: w)
D.from_tensors(tf.ragged.constant([[1], [2, 3]])).padded_batch(2)
D.from_tensors(1).concatenate(D.from_tensors(tf.ragged.constant([[1]])))
"""
LISTS = """
X.from_list([(1, 'a'), (2, 'b')])
X.from_list([[1], [2, 3]])
X.from_list([{'x': [1.], 'y': 2}, {'x': [3., 4.], 'y': 5}]).map(lambda e: e['x'])
X.from_list([])
X.from_list((1, 2))
X.from_list([(1, 2), 3])
D.from_tensor_slices({'a': [1, 2]}).apply(X.pad_to_cardinality(4))
D.from_tensor_slices({'a': [[1.], [2.]], 'b': ['x', 'y']}).apply(X.pad_to_cardinality(3, 'real'))
D.from_tensor_slices({'a': [1, 2]}).apply(X.pad_to_cardinality(2))
D.range(3).apply(X.pad_to_cardinality(5))
D.from_tensors(X.index_table_from_dataset(D.from_tensor_slices(['a', 'b'])).lookup(tf.constant(['b', 'c'])))
D.from_tensors(X.index_table_from_dataset(D.from_tensor_slices(['a', 'b']), 3).lookup(tf.constant(['b', 'c', 'd', 'e'])))
D.from_tensors(X.index_table_from_dataset(D.range(5, 9), 2, 4, key_dtype=tf.int64).lookup(tf.constant([6, 1, 2], tf.int64)))
D.from_tensors(X.index_table_from_dataset(D.range(5, 9), vocab_size=2, default_value=7, key_dtype=tf.int64).lookup(tf.constant([6, 7], tf.int64)))
D.from_tensors(X.index_table_from_dataset(D.range(5, 9), vocab_size=9, key_dtype=tf.int64).lookup(tf.constant([6], tf.int64)))
D.from_tensors(X.index_table_from_dataset(D.range(5, 9), vocab_size=0))
D.from_tensors(X.index_table_from_dataset(D.range(5, 9), -1))
D.from_tensors(X.table_from_dataset(D.from_tensors(('a', 1.5)), default_value=2.5).lookup(tf.constant(['a', 'b'])))
D.from_tensors(X.table_from_dataset(D.from_tensors((3, 'x')), default_value='n', key_dtype=tf.int32).size())
D.from_tensors(X.table_from_dataset(D.from_tensors((3, 'x')), key_dtype=tf.int32).size())
D.from_tensors(X.table_from_dataset(D.from_tensors((3, 4, 5))).size())
D.from_tensors(X.table_from_dataset(D.from_tensors(([3], 4)), key_dtype=tf.int32).size())
D.from_tensors(X.table_from_dataset(D.from_tensors((3, 4)), key_dtype=tf.float32).size())
D.from_tensors(tf.lookup.StaticHashTable(X.DatasetInitializer(D.from_tensors((3, 4))), 0).lookup(tf.constant([3, 4])))
D.from_tensors(tf.equal(D.range(5).fingerprint(), D.range(5).fingerprint()))
D.from_tensors(tf.equal(D.range(5).fingerprint(), D.range(6).fingerprint()))
D.from_tensors(tf.equal(D.range(5).map(lambda x: x + 1).fingerprint(), D.range(5).map(lambda x: x + 2).fingerprint()))
D.load(F + '/no_folder')
"""
GROUPS = {"sources": SOURCES, "functions": FUNCTIONS, "orders": ORDERS, "batches": BATCHES}
GROUPS |= {"at once": AT_ONCE, "errors": ERRORS, "ragged": RAGGED, "lists": LISTS}


def expressions(group: str) -> list[str]:
    """The expressions of a group."""
    return GROUPS[group].strip().splitlines()


def write_files(folder: str, tf) -> None:
    """What the expressions read; `tf` writes the records."""
    lines = b"first\r\nsecond\n\nlast"
    for name, content in (("lines.txt", lines), ("more.txt", b"x\ny\n"), ("bytes", b"hhabcdefgf")):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)
    with open(os.path.join(folder, "table.csv"), "w") as file:
        file.write('a,b,c\n1,2.5,x\n2,,"y, z"\n-3,1e3,\n4,0,w\n5,-1.5,v\n')
    with tf.python_io.TFRecordWriter(os.path.join(folder, "examples")) as writer:
        for i in range(3):
            values = tf.train.Int64List(value=[i])
            text = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"ab%d" % i]))
            feature = {"x": tf.train.Feature(int64_list=values), "s": text}
            features = tf.train.Features(feature=feature)
            writer.write(tf.train.Example(features=features).SerializeToString())
    with gzip.open(os.path.join(folder, "lines.gz"), "wb") as file:
        file.write(lines)
    with tf.python_io.TFRecordWriter(os.path.join(folder, "records")) as writer:
        for record in (b"one", b"", b"three"):
            writer.write(record)


def shown(value: object) -> object:
    """A value as JSON can hold it: types and numbers."""
    if isinstance(value, dict):
        return {key: shown(item) for key, item in value.items()}
    if hasattr(value, "nested_row_splits"):
        return [shown(part) for part in (*value.nested_row_splits, value.flat_values)]
    if hasattr(value, "dense_shape"):
        return [shown(np.asarray(item)) for item in value]
    if isinstance(value, (tuple, list)):
        return [shown(item) for item in value]
    if isinstance(value, bytes):
        return ["string", value.decode()]
    array = np.asarray(value)
    if array.dtype == object:
        decoded = [item.decode() for item in array.ravel().tolist()]
        return ["string", list(array.shape), decoded]
    return [array.dtype.name, list(array.shape), array.ravel().tolist()]


def _words(text: str) -> str:
    """The line that says what is wrong: the first, or that before the one that names the node."""
    lines = text.splitlines() or [""]
    nodes = [i for i, line in enumerate(lines) if "[[{{node" in line]
    line = lines[max(nodes[0] - 1, 0)] if nodes else lines[0]
    return re.sub(r" at 0x[0-9a-f]+", "", line)


def outcome(tf, text: str, folder: str) -> dict[str, object]:
    """What TensorFlow, or flatlite in its place, says of a dataset: spec, elements, error."""
    results: dict[str, object] = {}
    with tf.Graph().as_default(), tf.Session() as session:
        try:
            names = {"tf": tf, "D": tf.data.Dataset, "X": tf.data.experimental, "np": np}
            dataset = eval(text, {**names, "F": folder})  # the expressions above
            results["types"] = str(tf.data.get_output_types(dataset))
            results["shapes"] = str(tf.data.get_output_shapes(dataset))
            iterator = tf.data.make_initializable_iterator(dataset)
            element = iterator.get_next()
            session.run(tf.tables_initializer())
            session.run(iterator.initializer)
            listed = results["elements"] = []
            while len(listed) < MOST:
                listed.append(shown(session.run(element)))
        except Exception as error:  # whatever the library under test raises is what is compared
            results["error"] = [type(error).__name__, _words(str(error)).replace(folder, "FOLDER")]
    return results
