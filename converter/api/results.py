"""What the last `convert` of a converter told: verification, decibels, ranges."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from .settings import Settings

if TYPE_CHECKING:
    from ..passes.driver import PassStatistics
    from ..quantize.accuracy.budget import ParetoFront
    from ..quantize.islands import Island
    from ..verify.verification import Verified
    from .conversion import Conversion


class Results(Settings):
    """A converter's attributes, and what its last `convert` told."""

    def __init__(self) -> None:
        self._last: Conversion | None = None
        self._pareto_front: ParetoFront | None = None
        super().__init__()

    @property
    def verified(self) -> bool | None:
        """Whether the last `convert` compared its result with the source; None before.

        The source of a module of StableHLO is what it was expanded to, TensorFlow's operations: how
        it was read is not compared with anything.
        """
        return None if self._last is None else self._last.verified

    @property
    def verified_on(self) -> dict[str, Verified]:
        """The shapes on which the last `convert` compared, and those that the source refused.

        By signature key ("" without signatures); empty before, and without `verify`.
        """
        return {} if self._last is None else self._last.verified_on

    @property
    def pass_statistics(self) -> dict[str, PassStatistics]:
        """What the passes of the last `convert` did, by name; empty before.

        A PassStatistics has `runs`, `changes` and `seconds`.
        """
        return {} if self._last is None else self._last.pass_statistics

    @property
    def signal_to_noise(self) -> dict[str, dict[str, float]]:
        """Decibels of the last quantized model's outputs, by signature key and output name.

        20 dB is an error of a tenth of the output, 40 dB of a hundredth. Measured against the float
        model, on what `measured_on` says; empty for a model that was not quantized or not verified.
        """
        return {} if self._last is None else self._last.signal_to_noise

    @property
    def reader_signal_to_noise(self) -> dict[str, dict[str, float]]:
        """Decibels of tensors that are read in several scales, by signature and "tensor -> reader".

        Such a tensor is requantized for some of its readers, so that each sees another error.
        """
        return {} if self._last is None else self._last.reader_signal_to_noise

    @property
    def measured_on(self) -> dict[str, str]:
        """On which inputs decibels were measured, in words, by signature key.

        Random inputs, which a model without a representative dataset is measured on, look like
        noise, and flatter it; what counts is the error on real ones.
        """
        return {} if self._last is None else self._last.measured_on

    @property
    def float_operators(self) -> dict[str, int]:
        """How many operators, by kind, the last quantized model computes in float."""
        return {} if self._last is None else self._last.float_operators

    @property
    def float_islands(self) -> list[Island]:
        """What the last quantized model computes in float where integers were asked for.

        An Island has `kind`, `names`, `reason` and `share`, its part of the work.
        """
        return [] if self._last is None else self._last.float_islands

    @property
    def calibrated_ranges(self) -> dict[str, dict[str, tuple[float, float]]]:
        """What the last `convert` measured on the samples, by signature key and tensor name."""
        return {} if self._last is None else self._last.calibrated_ranges

    @property
    def pareto_front(self) -> ParetoFront | None:
        """What the last `convert` with an accuracy_budget tried; None before.

        Has `front`, `candidates`, `table()` and `svg()`.
        """
        return self._pareto_front

    def save_calibration(self, path: str | os.PathLike) -> None:
        """Writes `calibrated_ranges` to a JSON file, for `ranges` of a quantization_recipe.

        Raises ValueError when the last `convert` measured nothing.
        """
        from ...schema.files import write_file

        if not any(self.calibrated_ranges.values()):
            raise ValueError(
                "save_calibration: convert() must have measured a representative_dataset before"
            )
        write_file(path, json.dumps(self.calibrated_ranges, indent=1).encode())
