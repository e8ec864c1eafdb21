"""`make_template`: a function that makes its variables once, and uses them in each call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, ParamSpec, TypeVar

from ..core.scopes import GraphKeys, get_collection
from .variable_scope import VariableScope, variable_scope

if TYPE_CHECKING:
    from .variable_scope import Getter
    from .variables import Variable

P = ParamSpec("P")
Result = TypeVar("Result")


def make_template(
    name_: str,
    func_: Callable[..., Result],
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: Getter | None = None,
    **kwargs: object,
) -> Template[..., Result]:
    """A function that does what `func_` does, with the same variables in each call.

    >>> import flatlite.compat.v1 as tf
    >>> def scale(x):
    ...     return x * tf.get_variable("w", [])
    >>> with tf.Graph().as_default():
    ...     scaled = tf.make_template("scale", scale)
    ...     scaled(1.0), scaled(2.0)
    ...     [v.name for v in tf.global_variables()]
    (<tf.Tensor 'scale/mul:0' shape=() dtype=float32>, \
<tf.Tensor 'scale_1/mul:0' shape=() dtype=float32>)
    ['scale/w:0']

    Args:
        name_: Of the variable scope, made unique.
        func_: Makes its variables by `get_variable`.
        create_scope_now_: Whether the scope lies where the template is made, not where it is
            called first.
        unique_name_: A name of the scope that is taken as it is.
        custom_getter_: As of `variable_scope`.
        **kwargs: Arguments of `func_` in each call.

    Raises ValueError for no name.
    """
    function = functools.partial(func_, **kwargs) if kwargs else func_
    return Template(name_, function, create_scope_now_, unique_name_, custom_getter_)


class Template(Generic[P, Result]):
    """What `make_template` gives.

    A call after the first one raises ValueError when it makes a trainable variable.
    """

    def __init__(
        self,
        name: str,
        func: Callable[P, Result],
        create_scope_now: bool = False,
        unique_name: str | None = None,
        custom_getter: Getter | None = None,
    ):
        if name is None:  # pyright: ignore[reportUnnecessaryComparison] - programs do
            raise ValueError("name cannot be None.")
        self._func = func
        self._name = name
        self._unique_name = unique_name
        self._custom_getter = custom_getter
        self._variables_created = False
        self._variable_scope: VariableScope | None = None
        if create_scope_now:
            with variable_scope(
                unique_name, name, custom_getter=custom_getter, auxiliary_name_scope=False
            ) as scope:
                self._variable_scope = scope

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Result:
        """What the function gives, within the template's variable scope."""
        if self._variable_scope is not None:
            with variable_scope(self._variable_scope, reuse=self._variables_created):
                return self._called(*args, **kwargs)
        with variable_scope(
            self._unique_name, self._name, custom_getter=self._custom_getter
        ) as scope:
            self._variable_scope = scope
            return self._called(*args, **kwargs)

    def _called(self, *args: P.args, **kwargs: P.kwargs) -> Result:
        trainable_before = len(get_collection(GraphKeys.TRAINABLE_VARIABLES))
        result = self._func(*args, **kwargs)
        trainable = get_collection(GraphKeys.TRAINABLE_VARIABLES)
        if self._variables_created and len(trainable) != trainable_before:
            names = [variable.name for variable in trainable[trainable_before:]]
            raise ValueError(
                "Trainable variable created when calling a template after the first time, perhaps "
                f"you used tf.Variable when you meant tf.get_variable: {names}"
            )
        self._variables_created = True
        return result

    @property
    def name(self) -> str:
        """The name that was asked for."""
        return self._name

    @property
    def func(self) -> Callable[P, Result]:
        """The function."""
        return self._func

    @property
    def variable_scope(self) -> VariableScope | None:
        """The scope of its variables; None before the first call where that makes it."""
        return self._variable_scope

    @property
    def variable_scope_name(self) -> str | None:
        """The name of that scope with a slash at its end, None like the scope."""
        if self._variable_scope is None:
            return None
        name = self._variable_scope.name
        return name if not name or name.endswith("/") else f"{name}/"

    def _within(self, key: str) -> list[Variable]:
        return get_collection(key, self.variable_scope_name) if self._variables_created else []

    @property
    def variables(self) -> list[Variable]:
        """Its global and local variables."""
        return self.global_variables + self.local_variables

    @property
    def trainable_variables(self) -> list[Variable]:
        """Its trainable variables."""
        return self._within(GraphKeys.TRAINABLE_VARIABLES)

    @property
    def non_trainable_variables(self) -> list[Variable]:
        """Its global variables that are not trained."""
        trained = {id(variable) for variable in self.trainable_variables}
        return [variable for variable in self.variables if id(variable) not in trained]

    @property
    def global_variables(self) -> list[Variable]:
        """Its global variables."""
        return self._within(GraphKeys.GLOBAL_VARIABLES)

    @property
    def local_variables(self) -> list[Variable]:
        """Its local variables."""
        return self._within(GraphKeys.LOCAL_VARIABLES)

    @property
    def weights(self) -> list[Variable]:
        """Its variables."""
        return self.variables

    @property
    def trainable_weights(self) -> list[Variable]:
        """Its trainable variables."""
        return self.trainable_variables

    @property
    def non_trainable_weights(self) -> list[Variable]:
        """Its global variables that are not trained."""
        return self.non_trainable_variables

    @property
    def var_scope(self) -> VariableScope | None:
        """The scope of its variables."""
        return self._variable_scope
