"""Passes over the IR, in the order in which `optimize` runs them until none changes anything."""

from __future__ import annotations

from ..ir.graph import Graph
from .activation import fuse_activation, recognise_clipping
from .booleans import compare_casts
from .branches import copy_results, trim_branches
from .directions import fuse_directions
from .driver import Observer, Pass, run_once, run_until_settled
from .empty_lists import keep_a_row
from .exponentials import (
    drop_nan_guard,
    fuse_elu,
    fuse_log_softmax,
    fuse_logistic,
    fuse_negative_exponential,
    fuse_selected_branches,
    fuse_softmax,
    fuse_softplus,
)
from .extremes import compare_extremes
from .fold import (
    fold_constants,
    merge_all_but_weights,
    merge_duplicates,
    remove_dead_code,
    replace_empty_results,
    share_zeros,
)
from .formulas import fuse_gelu, fuse_hard_swish, fuse_leaky_relu, fuse_prelu
from .growing_lists import grow_from_nothing
from .hoist import hoist_invariants
from .identities import (
    divide_by_multiplying,
    merge_casts,
    merge_constants,
    merge_constants_of_sum,
    multiply_by_zero,
    order_operands,
    remove_all_but_weights,
    remove_identities,
    shrink_all_but_weights,
    shrink_constants,
    take_negation,
)
from .join import (
    cancel_split_and_join,
    drop_empty_parts,
    merge_concatenations,
    single_pack_to_reshape,
)
from .layer_norm import fuse_layer_norm
from .layout import cancel_transposes, sink_transposes, split_before_transpose
from .legalize import replace_operators, widen_types
from .linear import (
    add_missing_bias,
    drop_merging_reshapes,
    fuse_affine_after,
    fuse_affine_before,
    fuse_factors_before,
    fuse_scale_into_matmul,
    matmul_to_fully_connected,
    merge_fully_connected_reshapes,
    merge_matmul_reshape,
    move_bias_to_addend,
)
from .loop_values import copy_exchanged_values, merge_loop_values, order_exchanged_values
from .norms import (
    factor_difference,
    factor_mixture,
    fuse_l2_normalization,
    fuse_mean,
    fuse_rsqrt,
    fuse_squared_difference,
    fuse_variance,
)
from .padding import fuse_dilation, fuse_dilation_of_rows, fuse_padding
from .recurrent import fuse_recurrent_loops
from .reshape import (
    fuse_broadcast,
    fuse_keep_dims,
    join_reshapes,
    merge_reshapes,
    settle_shapes,
    sink_reshapes,
    sink_reshapes_through_pads,
)
from .reshape_regions import cancel_reshapes
from .sequences import write_states
from .shared_memory import keep_from_overwriting
from .size_vectors import join_sizes, share_sizes
from .slices import cancel_reverses, take_expanded
from .transpose import (
    fuse_transpose_after_matmul,
    fuse_transpose_into_matmul,
    merge_transposes,
    transpose_to_reshape,
)
from .trim_loops import take_last_row, trim_loops
from .unfold import unfold_batch_matmul
from .unpack import (
    split_before_reshape,
    transpose_without_unit_axis,
    unpack_before_transpose,
    unpack_slices,
)

PASSES: tuple[tuple[Pass, str], ...] = (
    (settle_shapes, "the SHAPE chains it frees are dead code for the next"),
    (remove_dead_code, "a reader that is dead would make the others hold off"),
    (fold_constants, "the others look for constants"),
    (replace_empty_results, "what reads them is often folded next"),
    (order_operands, "the others look for constants on the right"),
    (merge_duplicates, "patterns compare tensors by identity"),
    (share_sizes, "what they were computed by is dead code then"),
    (join_sizes, "of what is shared nothing is computed again"),
    (share_zeros, "what zeros are only like is dead code then"),
    (merge_casts, "what they leave may be an identity"),
    (remove_identities, "an op that does nothing hides its neighbours from each other"),
    (fuse_recurrent_loops, "first of what looks at whole layers: it frees what enters the loop"),
    (merge_loop_values, "what it leaves of them the next drops"),
    (take_last_row, "what only the last iteration's value is read of"),
    (trim_loops, "what remains of loops; fewer values to look at"),
    (trim_branches, "fewer results to look at"),
    (cancel_reverses, "layers that go backwards leave pairs of them"),
    (take_expanded, "of lists of one row, which loops leave"),
    (transpose_without_unit_axis, "of what layers put together and take apart"),
    (unpack_slices, "one op that the next two move"),
    (unpack_before_transpose, "what it leaves may be a RESHAPE before it"),
    (split_before_reshape, "before reshapes are merged and moved"),
    (drop_empty_parts, "a join of one part is an identity"),
    (multiply_by_zero, "what it gives is a constant, and adding it an identity"),
    (single_pack_to_reshape, "reshapes merge, PACK does not"),
    (cancel_split_and_join, "before joins are merged and no longer match their split"),
    (merge_concatenations, "fewer joins for the transposes to pass"),
    (fuse_squared_difference, "formulas first: fusing an ADD into a convolution would break them"),
    (fuse_l2_normalization, "before SQRT and RSQRT change places"),
    (factor_difference, "before NEG moves elsewhere"),
    (factor_mixture, "while the products are as the source has them"),
    (fuse_hard_swish, "before ADD takes the RELU6 in"),
    (fuse_gelu, "before its constants are merged with others"),
    (fuse_softmax, "before SUM and the division are taken for a MEAN"),
    (fuse_log_softmax, "with the same parts"),
    (fuse_logistic, "before NEG moves into what is before"),
    (fuse_softplus, "before RELU moves into what is before"),
    (drop_nan_guard, "of what the pass before has just written"),
    (fuse_selected_branches, "before its constants are merged with others"),
    (fuse_negative_exponential, "what no selection reads"),
    (fuse_elu, "with the pass before"),
    (fuse_leaky_relu, "before MAXIMUM is taken for a RELU"),
    (fuse_prelu, "before NEG moves into a convolution"),
    (fuse_mean, "before the number of terms is merged with other constants"),
    (fuse_variance, "after the means; gives layer_norm the form it knows"),
    (fuse_rsqrt, "after the norm, which contains it"),
    (fuse_layer_norm, "after its difference is factored and its root is an RSQRT"),
    (divide_by_multiplying, "after the formulas; multiplications merge, divisions do not"),
    (compare_extremes, "after the formulas, of which the norms subtract extremes"),
    (compare_casts, "beside it"),
    (take_negation, "after the formulas, some of which have a NEG"),
    (recognise_clipping, "gives the RELUs that are fused below"),
    (matmul_to_fully_connected, "only FULLY_CONNECTED takes a bias"),
    (transpose_to_reshape, "reshapes merge with what is around them"),
    (merge_reshapes, "one reshape between two ops is what the rules below expect"),
    (fuse_broadcast, "elementwise ops broadcast by themselves"),
    (fuse_keep_dims, "after reshapes are merged"),
    (merge_fully_connected_reshapes, "brings the bias next to the product"),
    (merge_matmul_reshape, "the same for products of two computed matrices"),
    (sink_reshapes, "brings bias and activation next to the convolution"),
    (join_reshapes, "the same for sums of what comes from two of them"),
    (cancel_reshapes, "what one at a time does not reach, as each has several readers"),
    (sink_reshapes_through_pads, "brings reshapes around a PAD together"),
    (merge_transposes, "one transpose between two ops is what the rules below expect"),
    (fuse_transpose_into_matmul, "before regions are flipped around it"),
    (fuse_transpose_after_matmul, "before regions are flipped around it"),
    (split_before_transpose, "what it brings together is one reshape in the next round"),
    (cancel_transposes, "after single transposes have found a cheaper way"),
    (sink_transposes, "brings bias and activation next to the convolution"),
    (fuse_dilation, "before the padding of its parts is looked at"),
    (fuse_dilation_of_rows, "beside it"),
    (fuse_affine_after, "batch normalisation and bias; before constants are merged for themselves"),
    (move_bias_to_addend, "what could not go into the op before, for the next round"),
    (fuse_affine_before, "what no op before could take"),
    (fuse_factors_before, "what the pass before leaves for other readers"),
    (fuse_scale_into_matmul, "after bias and scale of its own are in the op before"),
    (fuse_padding, "after an affine that must not be padded has passed"),
    (fuse_activation, "last of the fusions: an activation ends what an op can take in"),
    (merge_constants, "what no op took in"),
    (merge_constants_of_sum, "what is left of them around sums"),
    (shrink_constants, "last: the others need not know that a scalar may stand for a tensor"),
)
"""The passes in order, each with the reason for its place."""

EXCLUDED: dict[str, frozenset[Pass]] = {
    "float32": frozenset((fuse_factors_before,)),
    "float16": frozenset(),
    "integers": frozenset((fuse_factors_before, factor_mixture)),
}
"""Passes whose result loses more, by the numbers that are computed with: integers of a difference
of which a share is taken, which has twice the range of either value; integers of weights that
factors for their channels make uneven, which a float32 file may become, too.
"""

LAST: tuple[tuple[Pass, str], ...] = (
    (write_states, "once for all sequences, before each becomes an operator"),
    (fuse_directions, "with the states that both have then"),
    (hoist_invariants, "once recurrent layers are no longer looked for in bodies"),
    (compare_casts, "of what was hoisted"),
    (trim_loops, "drops what only hoisted operators read"),
    (order_exchanged_values, "before the values that remain are copied"),
    (copy_exchanged_values, "once no pass takes the copies for identities"),
    (copy_results, "with them"),
    (keep_a_row, "once no pass looks for loops that write a row in each iteration"),
    (grow_from_nothing, "once no pass takes what every iteration passes on out of a loop"),
    (replace_operators, "no pass need know what LiteRT has no kernel for"),
    (drop_merging_reshapes, "once no RESHAPE behind can bring the dimensions back"),
    (add_missing_bias, "once, when nothing more will change but types"),
    (widen_types, "what is replaced may have no kernel for its types either"),
    (merge_duplicates, "the zeros just added are often equal"),
    (remove_dead_code, "nothing unread is written"),
)

LEARNING: dict[Pass, Pass | None] = {
    merge_duplicates: merge_all_but_weights,
    remove_identities: remove_all_but_weights,
    shrink_constants: shrink_all_but_weights,
    add_missing_bias: None,
}
"""What runs in the place of passes where weights will be trained: equal ones are so only at first,
zeros and ones learn, and a layer without a bias gets none that would."""


def optimize(
    graph: Graph,
    observer: Observer | None = None,
    numbers: str = "float32",
    unfolds_matmul: bool = False,
    learns: bool = False,
) -> Graph:
    """Makes `graph`, and the graphs it calls, as short as TFLite's operators allow; in place.

    Args:
        graph: any graph; of one that is final only what nobody reads is dropped.
        observer: told of every run of a pass.
        numbers: what is computed with: "float32" (weights may be integers), "float16" weights, or
            "integers", results included.
        unfolds_matmul: whether products of computed matrices become FULLY_CONNECTED operators.
        learns: whether weights will be trained: those of the source, all of them and no others.

    Raises ConverterError naming pass and op where one of them fails.
    """
    for callee in graph.callees():
        optimize(callee, observer, numbers, unfolds_matmul, learns)
    if graph.is_final:
        run_once(graph, [remove_dead_code], observer)
        return graph
    instead = LEARNING if learns else {}
    passes, last = (
        [chosen for pass_, _ in rows if (chosen := instead.get(pass_, pass_)) is not None]
        for rows in (PASSES, LAST)
    )
    passes = [pass_ for pass_ in passes if pass_ not in EXCLUDED[numbers]]
    run_until_settled(graph, passes, observer)
    if unfolds_matmul:  # once transposes are merged with the products
        run_once(graph, [unfold_batch_matmul], observer)
        run_until_settled(graph, passes, observer)
    run_once(graph, last, observer)
    return graph


def finish(graph: Graph) -> Graph:
    """Orders `graph`, and the graphs it calls, as LiteRT's plan of memory needs it; in place, once
    nothing changes any more, which is behind quantization.
    """
    for callee in graph.callees():
        finish(callee)
    if not graph.is_final:
        run_once(graph, [keep_from_overwriting])
    return graph
