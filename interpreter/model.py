"""A model file as the interpreter uses it: read once, and only what is asked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ..schema import files

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from ..schema.flatbuffer import Record
    from .plan_cache import CachedPlan
    from .spec import SignatureSpec, SubgraphSpec, TensorSpec


class LoadedModel:
    """A verified model. The bytes of `content` stay referenced: constants are views of them.

    Args:
        content: the file's bytes.
        cached_plan: the plan an earlier process stored for this very file, which it had verified;
            then the file is read only for what the plan does not hold.

    Raises:
        ModelError: it is no model, or damaged.
    """

    def __init__(self, content: ReadableBuffer, cached_plan: CachedPlan | None = None):
        self.content = content
        self.cached_plan = cached_plan
        self._subgraphs: dict[int, SubgraphSpec] = {}
        if cached_plan is None:
            self.n_subgraphs = len(self._record.subgraphs)
        else:
            self.n_subgraphs = cached_plan.n_subgraphs

    @cached_property
    def _record(self) -> Record:
        from ..schema.flatbuffer import parse

        return parse(self.content)

    def subgraph(self, index: int) -> SubgraphSpec:
        """Subgraph `index`, read when it is first asked for."""
        spec = self._subgraphs.get(index)
        if spec is None:
            from .file_specs import subgraph_of

            spec = self._subgraphs[index] = subgraph_of(self._record, index)
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

    def release(self) -> None:
        """Gives back the memory of a mapped file, of which the engine has packed what it needs."""
        files.release(self.content)
