"""Turns a kernel's Python function into LLVM code. Imports numba.

numba types and lowers the function and the helpers it calls, and does nothing else: left to itself
it makes machine code of each, which nobody runs, and looks through the code for much that kernels
do not have. That takes longer than all the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from inspect import signature
from typing import TYPE_CHECKING, cast

import llvmlite.binding as llvm
from numba import _dynfunc  # pyright: ignore[reportPrivateUsage]  numba has no other way
from numba.core import cgutils, event, transforms, typed_passes, types, untyped_passes, utils
from numba.core import ir as numba_ir
from numba.core.base import BaseContext
from numba.core.codegen import CodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.runtime.nrt import rtsys
from numba.core.types.functions import BaseFunction, Dispatcher

if TYPE_CHECKING:
    from llvmlite import ir
    from numba.core.codegen import Codegen
    from numba.core.compiler import StateDict
    from numba.core.compiler_machinery import CompilerPass
    from numba.core.typing import Context, Signature

_NUMBERS = types.Number, types.Boolean, types.Literal
_known: dict[tuple[int, tuple[types.Type, ...]], tuple[Signature | None, BaseFunction]] = {}
_sizes: dict[str, int] = {}


@register_pass(mutates_CFG=True, analysis_only=False)
class _CodeOnly(typed_passes.NativeLowering):
    """Writes LLVM code; what callers know the function by cannot be called."""

    _name = "flatlite_lowering"

    def run_pass(self, state: StateDict) -> bool:
        super().run_pass(state)
        result = state.cr
        name = result.fndesc.qualname
        stub = _dynfunc.make_function(result.fndesc.lookup_module(), name, "", 0, result.env, ())
        state.targetctx.insert_user_function(stub, result.fndesc, [state.library])
        state.cr = result._replace(cfunc=stub)
        return True


_PASSES = (
    untyped_passes.TranslateByteCode,
    untyped_passes.FixupArgs,
    untyped_passes.IRProcessing,
    untyped_passes.RewriteSemanticConstants,
    untyped_passes.DeadBranchPrune,
    untyped_passes.GenericRewrites,
    untyped_passes.ReconstructSSA,
    typed_passes.NopythonTypeInference,
    typed_passes.PreLowerStripPhis,
    _CodeOnly,
    typed_passes.NoPythonBackend,
)


class Code(CodeLibrary):
    """The LLVM code of one function, and of those it calls."""

    def __init__(self, codegen: Codegen, name: str) -> None:
        super().__init__(codegen, name)
        self._modules: list[str] = []
        self.called: dict[CodeLibrary, None] = {}

    def add_ir_module(self, module: ir.Module) -> None:
        """Takes what numba has written."""
        self._modules.append(cgutils.normalize_ir_text(str(module)))

    def add_linking_library(self, library: CodeLibrary) -> None:
        """Notes that a function is called."""
        self.called[library] = None

    def finalize(self) -> None:
        """Nothing is left to do."""
        self._finalized = True

    def get_function(self, name: str) -> ir.Function:
        """Unused."""
        raise NotImplementedError(name)

    def get_llvm_str(self) -> str:
        """What numba has written of this function alone."""
        return "\n".join(self._modules)

    def get_asm_str(self) -> str:
        """Unused."""
        raise NotImplementedError

    def linked(self) -> llvm.ModuleRef:
        """An LLVM module of the function with all that it calls."""
        module = llvm.parse_assembly("")
        for library in _reached(self):
            for text in library._modules if isinstance(library, Code) else [_written(library)]:
                module.link_in(llvm.parse_assembly(text))
        return module


def _written(library: CodeLibrary) -> str:
    """The LLVM code of a function that belongs to numba itself."""
    return str(library._final_module)  # pyright: ignore[reportPrivateUsage]  numba tells only then


def _reached(
    library: CodeLibrary, reached: dict[CodeLibrary, None] | None = None
) -> dict[CodeLibrary, None]:
    """A library and those it needs, these first."""
    reached = {} if reached is None else reached
    if library not in reached and library is not rtsys.library:
        for other in _called_by(library):
            _reached(other, reached)
        reached[library] = None
    return reached


def _called_by(library: CodeLibrary) -> list[CodeLibrary]:
    if isinstance(library, Code):
        return [*library.called]
    return [*library._linking_libraries]  # pyright: ignore[reportPrivateUsage]  numba's own


@contextmanager
def economy() -> Generator[None, None, None]:
    """A block in which numba does nothing twice that it does for one type of numbers.

    It looks through a long list of ways to do an operator, at each use, and again when it writes
    the code. It compiles a helper once more for each number that stands in a call: as helpers
    become part of their callers, LLVM sees the number anyway. It asks LLVM anew how large a type
    is, works out which variables live where, which only generators need, and tells of each call
    of LLVM, to which nobody listens.
    """
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in _CHEAPER]
    for owner, name, function in _CHEAPER:
        setattr(owner, name, function)
    try:
        yield
    finally:
        for owner, name, function in before:
            setattr(owner, name, function)


_find, _find_helper = BaseFunction.get_call_type, Dispatcher.get_call_type
_post_process, _abi_size = PostProcessor.run, BaseContext.get_abi_sizeof


def _call_type(
    self: BaseFunction,
    context: Context,
    args: tuple[types.Type, ...],
    kws: Mapping[str, types.Type],
) -> Signature | None:
    signature = None if kws else _known.get((id(self), args), (None,))[0]
    if signature is None:
        signature = _find(self, context, args, kws)
        if not kws and all(isinstance(kind, _NUMBERS) for kind in args):
            _known[id(self), args] = signature, self  # as long as it lives, its id is its own
    return signature


def _helper_type(
    self: Dispatcher, context: Context, args: tuple[types.Type, ...], kws: Mapping[str, types.Type]
) -> Signature | None:
    return _find_helper(self, context, tuple(map(types.unliteral, args)), kws)


def _lifetimes_if_enabled(
    self: PostProcessor, emit_dels: bool = False, extend_lifetimes: bool = False
) -> None:
    """What `PostProcessor.run` does for a function that is no generator."""
    function = self.func_ir
    if emit_dels or function.is_generator:
        _post_process(self, emit_dels, extend_lifetimes)
        return
    function.blocks = transforms.canonicalize_cfg(function.blocks)
    function.variable_lifetime = VariableLifetime(function.blocks)
    function.generator_info = None


def _variables(self: numba_ir.Inst, value: object) -> list[numba_ir.Var]:
    """The variables in `value`, a part of an instruction of numba's."""
    variables: list[numba_ir.Var] = []
    pending = [value]
    while pending:
        part = pending.pop()
        kind = type(part)
        if isinstance(part, numba_ir.Var) and kind is numba_ir.Var:
            variables.append(part)
        elif kind is dict:
            pending += reversed(cast("dict[object, object]", part).values())
        elif kind is list or kind is tuple:
            pending += reversed(cast("list[object]", part))
        elif isinstance(part, numba_ir.Inst):
            variables += part.list_vars()
    return variables


def _size_of(self: BaseContext, kind: ir.Type) -> int:
    text = str(kind)
    size = _sizes.get(text)
    if size is None:
        size = _sizes[text] = _abi_size(self, kind)
    return size


def _silent(kind: str, *details: object, **more: object) -> None:
    """Tells nobody of an event."""


_CHEAPER: tuple[tuple[object, str, Callable[..., object]], ...] = (
    (BaseFunction, "get_call_type", _call_type),
    (Dispatcher, "get_call_type", _helper_type),
    (PostProcessor, "run", _lifetimes_if_enabled),
    (numba_ir.Inst, "_rec_list_vars", _variables),
    (BaseContext, "get_abi_sizeof", _size_of),
    (utils, "pysignature", lru_cache(maxsize=None)(signature)),
    (event, "start_event", _silent),
    (event, "end_event", _silent),
)
"""(owner, name, what takes its place) of what is done once, or not at all."""


class _Passes(PassManager):
    """numba's passes without what it measures and checks about each."""

    def _runPass(self, index: int, pss: CompilerPass, internal_state: StateDict) -> None:
        pss.analysis = self._analysis
        pss.run_pass(internal_state)


class Lowering(CompilerBase):
    """What numba does to a function of `engine/kernels`: an option of `njit`."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        self.state.library = Code(self.state.targetctx.codegen(), "kernel")
        self.state.flags.no_compile = True

    def define_pipelines(self) -> list[PassManager]:
        """The passes, in their order."""
        passes = _Passes("flatlite")
        for pass_ in _PASSES:
            passes.add_pass(pass_, pass_.__name__)
        passes.finalize()
        return [passes]
