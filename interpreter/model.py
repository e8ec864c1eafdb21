"""A model file as the interpreter uses it: read once, and only what is asked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..schema import files

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from ..engine.plan.shared_constants import SharedConstants
    from ..engine.run.disk_cache import CacheEntry
    from ..engine.run.limits import Limits
    from ..schema.external import ExternalBuffers
    from ..schema.flatbuffer import Record
    from .plan.folding import FoldingBudget
    from .plan.plan_cache import CachedPlan
    from .spec import SignatureSpec, SubgraphSpec, TensorSpec


class LoadedModel:
    """A verified model. The bytes of `content` stay referenced: constants are views of them.

    Attributes:
        content: the file's bytes.
        folder: where the file is; None where it came as bytes.
        cached_plan: the plan an earlier process stored for this very file, which it had verified;
            then the file is read only for what the plan does not hold.

    Args:
        content: the file's bytes.
        serialized: a plan that was stored for them, see `use_plan`.
        entry: where that was.
        share_weights: whether all processes share its packed constants.
        folder: where its file is, and the files with its external buffers; None where it has none.

    Raises:
        ModelError: it is not a model; it is damaged, unless it was verified before; or it has an
            operator, or a version of one, that is not supported.
    """

    def __init__(
        self,
        content: ReadableBuffer,
        serialized: ReadableBuffer | None = None,
        entry: CacheEntry | None = None,
        share_weights: bool = False,
        folder: str | None = None,
    ):
        self.content = content
        self.folder = folder
        self.cached_plan: CachedPlan | None = None
        if serialized is not None:
            self.use_plan(serialized, entry, share_weights)
        self._subgraphs: dict[int, SubgraphSpec] = {}
        self._giving: dict[tuple[int, tuple[int, ...]], SubgraphSpec] = {}
        plan = self.cached_plan
        if plan is None:
            from ..collection import collection_paused

            with collection_paused():  # before modules are imported, which makes much as well
                from .file_specs import check_operators

                check_operators(self._record)
        self.n_subgraphs = len(self._record.subgraphs) if plan is None else plan.n_subgraphs

    @cached_property
    def _record(self) -> Record:
        from ..collection import collection_paused
        from ..schema.flatbuffer import parse

        with collection_paused():
            return parse(self.content)

    @cached_property
    def _external(self) -> ExternalBuffers:
        from ..schema.external import ExternalBuffers

        return ExternalBuffers(self._record, self.folder)

    @cached_property
    def folding(self) -> FoldingBudget:
        """What the results take that were computed from its constants."""
        from .plan.folding import FoldingBudget

        return FoldingBudget(self._constant_bytes)

    def _constant_bytes(self) -> int:
        """Bytes of the files that constants were read from."""
        has_others = self.cached_plan is None and self._record.external_buffers
        others = self._external.n_bytes if has_others else 0
        return memoryview(self.content).nbytes + others

    @property
    def is_alone(self) -> bool:
        """Whether all of it is in its own file, so that the file's identity says what it is."""
        return self.cached_plan is not None or not self._record.external_buffers

    @cached_property
    def shared_constants(self) -> SharedConstants:
        """What the programs of all who run the model have made of its constants."""
        from ..engine.plan.shared_constants import SharedConstants

        return SharedConstants(np.frombuffer(memoryview(self.content), np.uint8))

    def subgraph(self, index: int) -> SubgraphSpec:
        """Subgraph `index`, read when it is first asked for."""
        spec = self._subgraphs.get(index)
        if spec is None:
            from .file_specs import subgraph_of

            spec = self._subgraphs[index] = subgraph_of(self._record, index, lambda: self._external)
        return spec

    def giving(self, index: int, outputs: tuple[int, ...]) -> SubgraphSpec:
        """Subgraph `index` with other tensors of it as its outputs."""
        key = index, outputs
        spec = self._giving.get(key)
        if spec is None:
            from .spec import SubgraphSpec

            whole, number = self.subgraph(index), self.n_subgraphs + len(self._giving)
            spec = SubgraphSpec(
                number, whole.name, whole.inputs, outputs, whole.tensors, whole.operators
            )
            self._giving[key] = self._subgraphs[number] = spec
        return spec

    def ends(self, subgraph: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The tensors that are inputs and outputs of a subgraph."""
        if self.cached_plan is not None and subgraph == 0:
            return self.cached_plan.inputs, self.cached_plan.outputs
        spec = self.subgraph(subgraph)
        return spec.inputs, spec.outputs

    def tensor(self, subgraph: int, index: int) -> TensorSpec:
        """One tensor of a subgraph.

        Raises ValueError when there is none.
        """
        if self.cached_plan is not None and subgraph == 0:
            known = self.cached_plan.tensors.get(index)
            if known is not None:
                return known
        if not 0 <= subgraph < self.n_subgraphs:
            raise ValueError(
                f"Invalid subgraph index {subgraph} exceeds max subgraph index {self.n_subgraphs}"
            )
        tensors = self.subgraph(subgraph).tensors
        if not 0 <= index < len(tensors):
            raise ValueError(
                f"Invalid tensor index {index} exceeds max tensor index {len(tensors)}"
            )
        return tensors[index]

    @cached_property
    def signatures(self) -> dict[str, SignatureSpec]:
        """The signatures by key, their names in alphabetical order as LiteRT lists them."""
        if self.cached_plan is not None:
            return self.cached_plan.signatures
        from .file_specs import signatures_of

        return signatures_of(self._record)

    @property
    def signature_order(self) -> list[SignatureSpec]:
        """The signatures in the file's order, their names as well."""
        from .file_specs import signatures_in_order

        return signatures_in_order(self._record)

    def use_plan(
        self, serialized: ReadableBuffer, entry: CacheEntry | None, share_weights: bool
    ) -> None:
        """Takes the plan that this process or another stored for this very file.

        With a cache entry, all who use it in this process share its packed constants;
        `share_weights` says that all processes do.
        """
        from ..engine.plan.serialized import PackedConstants, packed_constants
        from .plan.plan_cache import CachedPlan

        packed = PackedConstants() if entry is None else packed_constants(entry, share_weights)
        self.cached_plan = CachedPlan(serialized, self.content, packed)

    def check(self, limits: Limits) -> None:
        """Raises ModelError when the file has more than the limits allow."""
        from .limits import check_file, check_model

        check_file(limits, memoryview(self.content).nbytes)
        check_model(limits, self._record)

    def release(self) -> None:
        """Gives back the memory of a mapped file, of which the engine has packed what it needs."""
        files.release(self.content)
