"""Expressions of `tf.nn`."""

LABELS = "tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [2, 2, 1], [2, 2])"
LOGITS = "tf.stack([m[:, 0], m[:, 1], spd[:, 0], spd[:, 1], m[:, 2]])"
WIDE = f"tf.concat([{LOGITS}, {LOGITS} * .7 + .1], 2)"
LONG = "tf.SparseTensor([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1]], [2, 2, 4, 1, 0], [2, 3])"
DENSE = "[[1, 1, 2], [2, 0, 0]]"
IMAGE = "tf.reshape(tf.concat([a, p], 0), [1, 4, 6, 1])"
CLASSES = "tf.constant([[1, 3], [0, 9], [4, 1]], tf.int64)"
TABLES = "[tf.concat([a, p], 0), tf.concat([p, a], 0)]"


def sampler(kind, more="range_max=12"):
    return f"tf.random.{kind}_candidate_sampler({CLASSES}, 2, 5, True, {more}, seed=3)"


EXPRESSIONS = [
    f"tf.nn.ctc_loss({LONG}, {WIDE}, [5, 5], ctc_merge_repeated=False)",
    f"tf.nn.ctc_loss({LONG}, {WIDE}, [5, 4], preprocess_collapse_repeated=True)",
    f"tf.nn.ctc_loss({LONG}, {WIDE}, [2, 0], ignore_longer_outputs_than_inputs=True)",
    f"tf.nn.ctc_greedy_decoder({WIDE}, [5, 3])",
    f"tf.nn.ctc_greedy_decoder({WIDE}, [5, 3], merge_repeated=False, blank_index=0)",
    f"tf.nn.ctc_beam_search_decoder({WIDE}, [5, 3], top_paths=3)",
    f"tf.nn.ctc_beam_search_decoder({WIDE}, [5, 3], beam_width=4, top_paths=2)",
    f"tf.nn.ctc_beam_search_decoder_v2({WIDE}, [5, 4], top_paths=2)",
    "tf.nn.ctc_unique_labels([[3, 4, 4, 3], [1, 2, 1, 1]])",
    "tf.nn.collapse_repeated([[1, 1, 2, 2, 3], [4, 4, 4, 5, 5]], [5, 3])",
    (
        "tf.nn.compute_accidental_hits(tf.constant([[1, 2], [3, 3]], tf.int64), "
        "tf.constant([3, 5, 1], tf.int64), 2)"
    ),
    sampler("uniform"),
    sampler("uniform", "range_max=16"),
    sampler("log_uniform"),
    f"tf.random.log_uniform_candidate_sampler({CLASSES}, 2, 7, False, 1000, seed=5)",
    sampler("learned_unigram"),
    sampler("fixed_unigram", "range_max=12, unigrams=list(range(1, 13)), distortion=.75"),
    sampler(
        "fixed_unigram",
        "range_max=12, unigrams=list(range(21)), num_reserved_ids=3, num_shards=2, shard=1",
    ),
    "tf.random.all_candidate_sampler(tf.constant([[1, 3]], tf.int64), 2, 5, True, seed=3)",
    f"tf.nn.fractional_max_pool({IMAGE}, [1., 1.3, 1.4, 1.], deterministic=True, seed=2)",
    f"tf.nn.fractional_max_pool({IMAGE}, [1., 1.3, 1.4, 1.], True, True, True, seed=7, seed2=1)",
    f"tf.nn.fractional_avg_pool({IMAGE}, [1., 1.33, 1.5, 1.], deterministic=True, seed=2)",
    f"tf.nn.fractional_avg_pool({IMAGE}, [1., 1.3, 1.4, 1.], True, True, True, 5, 6)",
]
GRADIENTS = [
    f"tf.nn.ctc_loss({LONG}, {WIDE}, [5, 5])",
    f"tf.nn.ctc_loss({LONG}, tf.transpose({WIDE}, [1, 0, 2]), [5, 4], time_major=False)",
    f"tf.nn.ctc_loss_v2({LONG}, {WIDE}, None, [5, 5], blank_index=3)",
    f"tf.nn.ctc_loss_v2({DENSE}, {WIDE}, [3, 1], [5, 4])",
    f"tf.nn.ctc_loss_v2({DENSE}, {WIDE}, [2, 0], [4, 5], blank_index=-1)",
    f"tf.nn.ctc_loss_v2({DENSE}, tf.transpose({WIDE}, [1, 0, 2]), [3, 1], [5, 5], False)",
    (
        f"tf.nn.nce_loss({TABLES}, [a[:, 0], p[:, 0], a[:, 1], p[:, 2]], {CLASSES}, p, 4, 12, 2, "
        f"{sampler('log_uniform')})"
    ),
    f"tf.nn.sampled_softmax_loss({TABLES}, tf.range(12.), {CLASSES}, p, 4, 12, 2, seed=4)",
    (
        f"tf.nn.sampled_softmax_loss({TABLES}, tf.range(12.), {CLASSES}, p, 4, 12, 2, "
        f"{sampler('uniform')}, False, 'div')"
    ),
    f"tf.nn.fractional_max_pool({IMAGE}, [1., 1.3, 1.4, 1.], False, True, True, 2)[0]",
    f"tf.nn.fractional_avg_pool({IMAGE}, [1., 1.3, 1.4, 1.], False, True, True, 2)[0]",
    f"tf.nn.fractional_avg_pool({IMAGE}, [1., 1.3, 1.4, 1.], deterministic=True, seed=2)[0]",
    (
        f"tf.nn.dilation2d({IMAGE}, tf.reshape(p[:2, :2], [2, 2, 1]), [1, 2, 1, 1], [1, 1, 2, 1], "
        "'SAME')"
    ),
    (
        f"tf.nn.erosion2d({IMAGE}, tf.reshape(p[:2, :2], [2, 2, 1]), [1, 1, 1, 1], [1, 1, 1, 1], "
        "'VALID')"
    ),
    f"tf.nn.max_pool_with_argmax({IMAGE}, [1, 2, 2, 1], [1, 1, 2, 1], 'SAME')[0]",
    (
        f"tf.nn.max_pool_with_argmax(tf.concat([{IMAGE}, -{IMAGE}], 0), [1, 2, 2, 1], "
        "[1, 1, 2, 1], 'VALID', include_batch_in_index=True)[0]"
    ),
    "tf.nn.local_response_normalization(tf.reshape(tf.concat([a, p], 0), [1, 2, 2, 6]), 2, .5, .3)",
    "tf.nn.max_pool3d(tf.reshape(tf.concat([a, p], 0), [1, 2, 3, 4, 1]), 2, 1, 'SAME')",
    "tf.nn.avg_pool3d(tf.reshape(tf.concat([a, p], 0), [1, 2, 3, 4, 1]), 2, 1, 'SAME')",
    (
        "tf.nn.conv3d_transpose(tf.reshape(a, [1, 2, 3, 2, 1]), tf.reshape(p, [1, 2, 2, 3, 1]),"
        " [1, 2, 6, 4, 3], [1, 1, 2, 2, 1])"
    ),
]
