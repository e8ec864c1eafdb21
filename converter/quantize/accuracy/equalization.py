"""Factors for channels, so that no channel's range is spent on another's.

cross-layer equalization  Nagel et al. 2019, Data-Free Quantization Through Weight Equalization and
                          Bias Correction, arXiv 1906.04721
SmoothQuant               Xiao et al. 2022, Accurate and Efficient Post-Training Quantization for
                          Large Language Models, arXiv 2211.10438

Both leave the function of the float model as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...ir.graph import Graph, Tensor
from .channels import Group, groups
from .linear import WEIGHTS, is_linear

MAX_FACTOR = 1e4  # of a channel, either way: a channel that is almost 0 is left almost 0
CONVERGED = 1e-3  # relative change of factors below which sweeps are over


def equalize(graph: Graph, sweeps: int = 40) -> int:
    """Makes the weights before and behind each channel equally large; how many groups there are.

    Channel c of the weights before, W1, and behind, W2: s = sqrt(max|W1_c| / max|W2_c|),
    W1_c / s and W2_c * s (equation 11 of the paper). Sweeps go on until nothing changes, as a
    layer stands behind one other and before the next.
    """
    pairs = [group for group in groups(graph) if is_linear(group.source)]
    for _ in range(sweeps):
        changes = [scaled(group, weight_factors(group)) for group in pairs]
        if max(changes, default=0.0) < CONVERGED:
            break
    return len(pairs)


def weight_factors(group: Group) -> np.ndarray:
    """sqrt(range of the weights before / of those behind), 1 where either is 0."""
    weights = np.abs(group.source.inputs[WEIGHTS].data)
    is_depthwise = group.source.kind == "DEPTHWISE_CONV_2D"
    before = weights.reshape(-1, weights.shape[-1]).max(0) if is_depthwise else largest(weights)
    behind = np.max([sink.largest() for sink in group.sinks], 0)
    return ratio(np.sqrt(before), np.sqrt(behind))


def largest(weights: np.ndarray) -> np.ndarray:
    """The largest of the weights of each output channel, the first dimension."""
    return weights.reshape(len(weights), -1).max(1)


def smooth(
    graph: Graph, channel_maxima: Mapping[Tensor, np.ndarray], alpha: float, linear: bool
) -> int:
    """Moves the difficulty of large channels into the weights behind; how many groups there are.

    s_c = max|X_c|^alpha / max|W_c|^(1 - alpha) divides channel c of what a normalisation gives and
    multiplies the weights behind it (equation 4 of the paper).

    Args:
        graph: a float graph.
        channel_maxima: of each scaled tensor the largest absolute value of each channel.
        alpha: how much of the difficulty moves, 0 to 1.
        linear: whether also behind linear operators, not only behind normalisations.
    """
    n_groups = 0
    for group in groups(graph):
        if is_linear(group.source) and not linear:
            continue
        maxima = channel_maxima.get(group.tensor)
        if maxima is None:
            continue
        behind = np.max([sink.largest() for sink in group.sinks], 0)
        scaled(group, ratio(maxima**alpha, behind ** (1 - alpha)))
        n_groups += 1
    return n_groups


def smoothable(graph: Graph) -> list[Tensor]:
    """The tensors whose channels `smooth` may scale."""
    return [group.tensor for group in groups(graph)]


def ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """The quotients, bounded, and 1 where one of both is 0; float32."""
    is_used = (above > 0) & (below > 0)
    quotients = np.divide(above, below, out=np.ones(above.shape, np.float64), where=is_used)
    return np.clip(quotients, 1 / MAX_FACTOR, MAX_FACTOR).astype(np.float32)


def scaled(group: Group, factors: np.ndarray) -> float:
    """Scales a group; the largest relative change."""
    change = float(np.abs(factors - 1).max(initial=0.0))
    if change:
        group.scale(factors)
    return change


def channel_maxima(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """The largest absolute value of each channel, the last dimension, over some arrays."""
    return np.max([np.abs(array).reshape(-1, array.shape[-1]).max(0) for array in arrays], 0)
