"""Estimators of ai.onnx.ml of which the ONNX project's evaluator gets something wrong."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

MAX_ITERATIONS = 100
STEP = 0.005
MARGIN = 1e-7


def coupled(of_first: np.ndarray) -> np.ndarray:
    """The probabilities of n classes that agree best with those of their pairs, [n, n].

    The second method of Wu, Lin and Weng (2004) with libsvm's limits.
    """
    n = len(of_first)
    q = np.diag(np.square(of_first).sum(0)) - of_first * of_first.T
    p = np.full(n, 1 / n, of_first.dtype)
    for _ in range(MAX_ITERATIONS):
        slopes = q @ p
        total = p @ slopes
        if np.abs(slopes - total).max() < STEP / n:
            break
        for i in range(n):
            step = (total - slopes[i]) / q[i, i]
            p[i] += step
            total = (total + step * (step * q[i, i] + 2 * slopes[i])) / (1 + step) ** 2
            slopes = (slopes + step * q[i]) / (1 + step)
            p /= 1 + step
    return p


@cache
def corrected() -> list[type[Any]]:
    """Operators in the place of the evaluator's.

    Its SVMClassifier couples probabilities by a dot product; its LinearClassifier transforms the
    score of one class against the other; its LinearRegressor demands intercepts and transforms
    nothing; its Scaler keeps integers.
    """
    from onnx.reference.ops.aionnxml import _common_classifier as transforms
    from onnx.reference.ops.aionnxml.op_linear_classifier import LinearClassifier
    from onnx.reference.ops.aionnxml.op_linear_regressor import LinearRegressor
    from onnx.reference.ops.aionnxml.op_scaler import Scaler
    from onnx.reference.ops.aionnxml.op_svm_classifier import SVMClassifier, sigmoid_probability

    def probabilities(self: Any, scores: np.ndarray, class_count_: int) -> np.ndarray:
        factors, offsets = self._svm.atts.prob_a, self._svm.atts.prob_b
        of_first = np.zeros((class_count_, class_count_), scores.dtype)
        for pair, (i, j) in enumerate(combinations(range(class_count_), 2)):
            share = sigmoid_probability(scores[pair], factors[pair], offsets[pair])
            of_first[i, j] = np.clip(share, MARGIN, 1 - MARGIN)
            of_first[j, i] = 1 - of_first[i, j]
        return coupled(of_first)

    def classified(self: Any, x: np.ndarray, **attributes: Any) -> tuple[np.ndarray, np.ndarray]:
        n_labels = max(len(attributes[f"classlabels_{k}"] or ()) for k in ("ints", "strings"))
        is_one = len(attributes["coefficients"]) == x.shape[1] and n_labels == 2
        if not is_one or attributes["post_transform"] == "LOGISTIC":
            return LinearClassifier._run(self, x, **attributes)
        labels, scores = LinearClassifier._run(self, x, **attributes | {"post_transform": "NONE"})
        scores[:, 0] = 1 - scores[:, 1]
        return labels, scores

    def regressed(self: Any, x: np.ndarray, **attributes: Any) -> tuple[np.ndarray]:
        name, n_targets = attributes["post_transform"], attributes["targets"]
        attributes |= {"intercepts": attributes["intercepts"] or [0.0], "post_transform": "NONE"}
        (scores,) = LinearRegressor._run(self, x.astype(np.float32), **attributes)
        if name == "NONE" or (n_targets == 1 and name != "PROBIT"):
            return (scores,)
        if name == "LOGISTIC":
            return (transforms.expit(scores),)
        if name == "PROBIT":
            return (np.vectorize(transforms.compute_probit)(scores).astype(np.float32),)
        return (
            {"SOFTMAX": transforms.softmax, "SOFTMAX_ZERO": transforms.softmax_zero}[name](scores),
        )

    def scaled(self: Any, x: np.ndarray, **attributes: Any) -> tuple[np.ndarray]:
        return Scaler._run(self, x.astype(np.float32), **attributes)

    return [
        type("SVMClassifier", (SVMClassifier,), {"_probabilities": probabilities}),
        type("LinearClassifier", (LinearClassifier,), {"_run": classified}),
        type("LinearRegressor", (LinearRegressor,), {"_run": regressed}),
        type("Scaler", (Scaler,), {"_run": scaled}),
    ]
