"""Running a model by the names of one of its signatures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .display import as_html, as_text

if TYPE_CHECKING:
    from .details import TensorDetails
    from .interpreter import Interpreter


class SignatureRunner:
    """Calls one signature; made by `Interpreter.get_signature_runner`.

    Arguments and results go by the signature's names. Each call resizes the inputs to the shapes
    of the arguments and allocates when a shape changed.
    """

    def __init__(self, interpreter: Interpreter | None = None, signature_key: str | None = None):
        if not interpreter:
            raise ValueError("None interpreter provided.")
        if not signature_key:
            raise ValueError("None signature_key provided.")
        signature = interpreter._signature(signature_key)
        if signature is None:
            raise ValueError(f'Invalid signature_key provided: "{signature_key}".')
        self._interpreter = interpreter
        self._signature_key = signature_key
        self._signature = signature
        self._inputs = signature.inputs
        self._outputs = signature.outputs
        self._subgraph_index = signature.subgraph

    def __call__(
        self, *, timeout: float | np.ndarray | None = None, **kwargs: np.ndarray
    ) -> dict[str, np.ndarray]:
        """The results by name.

        Args:
            timeout: seconds after which it is given up, see `Interpreter.invoke`; where the
                signature has an input of that name, the array for it.
            **kwargs: an array for each input of the signature.

        Raises:
            ValueError: a name, type or the number of arguments is wrong.
            RuntimeError: an operator failed, or an array of `tensor()` is still alive.
            TimeoutError: it took longer than `timeout`.
        """
        if "timeout" in self._inputs and timeout is not None:
            kwargs["timeout"], timeout = np.asarray(timeout), None
        if len(kwargs) != len(self._inputs):
            raise ValueError(
                "Invalid number of inputs provided for running a SignatureDef, "
                f"expected {len(self._inputs)} vs provided {len(kwargs)}"
            )
        for name in kwargs:
            if name not in self._inputs:
                raise ValueError(f"Invalid Input name ({name}) for SignatureDef")
        values = {self._inputs[name]: value for name, value in kwargs.items()}
        outputs = self._interpreter._call(
            self._subgraph_index, values, tuple(self._outputs.values()), timeout
        )
        return dict(zip(self._outputs, outputs, strict=True))

    def reset_all_variables(self) -> None:
        """Gives the variable tensors of this signature's subgraph, and those it calls, their start.

        Those of other signatures keep their values; `Interpreter.reset_all_variables` resets all.
        """
        self._interpreter._reset_subgraph(self._subgraph_index)

    def __repr__(self) -> str:
        return as_text(self._interpreter, self._signature)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return as_html(self._interpreter, self._signature)

    def get_input_details(self) -> dict[str, TensorDetails]:
        """Input name -> the dictionary `Interpreter.get_input_details` describes."""
        return self._details(self._inputs)

    def get_output_details(self) -> dict[str, TensorDetails]:
        """Output name -> the dictionary `Interpreter.get_output_details` describes."""
        return self._details(self._outputs)

    def _details(self, names: dict[str, int]) -> dict[str, TensorDetails]:
        details = self._interpreter._get_tensor_details
        return {name: details(tensor, self._subgraph_index) for name, tensor in names.items()}
