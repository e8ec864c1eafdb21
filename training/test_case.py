"""Tests of programs: `tf.test.TestCase`, Python's and absl's test case with a graph and arrays."""

from __future__ import annotations

import contextlib
import random
import re
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from absl.testing import absltest

from ..errors import InvalidArgumentError, OpError
from ..graph.core.composite.ragged_dispatch import has_ragged
from ..graph.core.composite.ragged_tensor import RaggedTensor
from ..graph.core.composite.ragged_value import RaggedTensorValue
from ..graph.core.device_spec import DeviceSpec
from ..graph.core.dtype import as_dtype
from ..graph.core.graph import Graph, Tensor
from ..graph.core.scopes import get_default_session, reset_default_graph, set_random_seed
from ..graph.session.session import Session
from ..graph.variables.variables import Variable
from .testing import get_temp_dir

SEED = 87654321
"""TensorFlow's, for every test."""
MAX_SHOWN = 10  # elements that an error names
TOLERANCES = {"float32": "float", "complex64": "float", "float16": "half", "bfloat16": "bfloat16"}


class TestCase(absltest.TestCase):
    """A test with a default graph of its own, seeded, and comparisons of arrays and tensors.

    Tensors and variables are evaluated in the default session, else in `cached_session()`.
    """

    def __init__(self, methodName: str = "runTest") -> None:
        super().__init__(methodName)
        self._session: Session | None = None
        self._folder: str | None = None

    def setUp(self) -> None:
        """Resets the default graph and all seeds."""
        super().setUp()
        self._close()
        random.seed(SEED)
        np.random.seed(SEED)  # noqa: NPY002 (which is what the programs draw from)
        reset_default_graph()
        set_random_seed(SEED)

    def tearDown(self) -> None:
        """Closes the session of `cached_session`."""
        self._close()
        super().tearDown()

    def _close(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def get_temp_dir(self) -> str:
        """A folder for this test."""
        if self._folder is None:
            self._folder = tempfile.mkdtemp(dir=get_temp_dir())
        return self._folder

    @contextlib.contextmanager
    def session(
        self,
        graph: Graph | None = None,
        config: Any = None,
        use_gpu: bool = True,
        force_gpu: bool = False,
    ) -> Iterator[Session]:
        """A session, the default one within, its graph too; closed afterwards."""
        del use_gpu, force_gpu
        with Session(graph=graph, config=config) as session, session.graph.as_default():
            yield session

    @contextlib.contextmanager
    def cached_session(
        self,
        graph: Graph | None = None,
        config: Any = None,
        use_gpu: bool = True,
        force_gpu: bool = False,
    ) -> Iterator[Session]:
        """As `session`; the same one for the whole test.

        Raises:
            ValueError: the graph is another than before.
        """
        del use_gpu, force_gpu
        if self._session is None:
            self._session = Session(graph=graph, config=config)
        elif graph is not None and graph is not self._session.graph:
            raise ValueError(
                "The graph used to get the cached session is different than the one that was used "
                "to create the session. Maybe create a new session with self.session()"
            )
        with self._session.graph.as_default(), self._session.as_default():
            yield self._session

    def test_session(
        self,
        graph: Graph | None = None,
        config: Any = None,
        use_gpu: bool = True,
        force_gpu: bool = False,
    ) -> contextlib.AbstractContextManager[Session]:
        """`cached_session`, or `session` for a graph."""
        if self.id().endswith(".test_session"):  # its name is a test's
            self.skipTest("Not a test.")
        make = self.cached_session if graph is None else self.session
        return make(graph, config, use_gpu, force_gpu)

    def evaluate(self, tensors: Any) -> Any:
        """The values of a nest of tensors, arrays and numbers."""
        if (session := get_default_session()) is not None:
            return session.run(tensors)
        with self.test_session() as session:
            return session.run(tensors)

    def checkedThread(
        self,
        target: Callable[..., object],
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> CheckedThread:
        """A thread whose exception fails the test when it is joined."""
        return CheckedThread(self, target, args, kwargs)

    def _array(self, value: Any) -> np.ndarray:
        if isinstance(value, (Tensor, Variable)):
            value = self.evaluate(value)
        return np.asarray(value)

    def _lists(self, value: Any) -> Any:
        """A ragged tensor, or what is compared with one, as nested lists."""
        if isinstance(value, (RaggedTensor, Tensor, Variable)):
            value = self.evaluate(value)
        if isinstance(value, RaggedTensorValue):
            return value.to_list()
        return value.tolist() if isinstance(value, np.ndarray) else value

    def _fail_at(self, wrong: np.ndarray, a: np.ndarray, words: str, msg: str | None) -> None:
        """Fails when `wrong` holds anywhere, naming the elements of `a`."""
        if not np.any(wrong):
            return
        where = [tuple(map(int, index)) for index in np.argwhere(np.atleast_1d(wrong))]
        values = np.atleast_1d(a)
        shown = ", ".join(f"{values[index]} at {index}" for index in where[:MAX_SHOWN])
        more = f", and {len(where) - MAX_SHOWN} more" if len(where) > MAX_SHOWN else ""
        words = f"{shown}{more}: {words}; {len(where)} of {values.size} elements"
        self.fail(self._formatMessage(msg, words))

    def _same_shape(self, a: np.ndarray, b: np.ndarray, msg: str | None) -> None:
        words = f"Shape mismatch: expected {a.shape}, got {b.shape}."
        self.assertEqual(a.shape, b.shape, self._formatMessage(msg, words))

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Arrays, or ragged tensors, are equal in shape and elements; NaN equals NaN."""
        if has_ragged(a, b):
            return self.assertEqual(self._lists(a), self._lists(b), msg)
        x, y = self._array(a), self._array(b)
        self._same_shape(x, y, msg)
        equal = np.asarray(x == y)
        if x.dtype.kind in "fcV" and y.dtype.kind in "fcV":
            equal |= np.isnan(x) & np.isnan(y)
        return self._fail_at(~equal, x, f"not equal to {_short(y)}", msg)

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """`assertAllEqual` would fail."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        self.fail(self._formatMessage(msg, "The two values are equal at all elements."))

    def assertAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Nests of arrays agree: |a - b| <= atol + rtol |b| everywhere; NaN equals NaN."""
        a, b = (x._asdict() if hasattr(x, "_asdict") else x for x in (a, b))
        if has_ragged(a, b):
            a, b = self._lists(a), self._lists(b)
        if isinstance(a, Mapping) != isinstance(b, Mapping):
            raise ValueError(f"Can't compare dict to non-dict, {a} vs {b}. {msg or ''}")
        if isinstance(a, Mapping):
            self.assertCountEqual(a, b, msg)
            for key in a:
                self.assertAllClose(a[key], b[key], rtol, atol, msg)
        elif isinstance(a, (list, tuple)) and not (_is_array(a) and _is_array(b)):
            self.assertEqual(len(a), len(b), msg)
            for x, y in zip(a, b, strict=True):
                self.assertAllClose(x, y, rtol, atol, msg)
        else:
            x, y = _widened(self._array(a)), _widened(self._array(b))
            self._same_shape(x, y, msg)
            close = np.asarray(np.isclose(x, y, rtol, atol, equal_nan=True))
            words = f"not within rtol = {rtol}, atol = {atol} of {_short(y)}"
            self._fail_at(~close, x, words, msg)

    def assertAllCloseAccordingToType(
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: str | None = None,
    ) -> None:
        """`assertAllClose` with the tolerance of the least precise of both types."""
        x, y = self._array(a), self._array(b)
        by_kind = {
            "float": (float_rtol, float_atol),
            "half": (half_rtol, half_atol),
            "bfloat16": (bfloat16_rtol, bfloat16_atol),
        }
        kinds = [TOLERANCES[z.dtype.name] for z in (x, y) if z.dtype.name in TOLERANCES]
        bounds = [(rtol, atol), *(by_kind[kind] for kind in kinds)]
        self.assertAllClose(x, y, max(r for r, _ in bounds), max(t for _, t in bounds), msg)

    def assertNotAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """`assertAllClose` would fail."""
        try:
            self.assertAllClose(a, b, rtol, atol)
        except AssertionError:
            return
        self.fail(self._formatMessage(msg, "The two values are close at all elements."))

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """Every element is greater."""
        x = self._array(a)
        self._fail_at(~(x > comparison_target), x, f"not > {comparison_target}", None)

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """Every element is greater or equal."""
        x = self._array(a)
        self._fail_at(~(x >= comparison_target), x, f"not >= {comparison_target}", None)

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """Every element is less."""
        x = self._array(a)
        self._fail_at(~(x < comparison_target), x, f"not < {comparison_target}", None)

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """Every element is less or equal."""
        x = self._array(a)
        self._fail_at(~(x <= comparison_target), x, f"not <= {comparison_target}", None)

    def assertAllInRange(
        self,
        target: Any,
        lower_bound: Any,
        upper_bound: Any,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Every element lies between the bounds, or between and not at them."""
        x = self._array(target)
        above = x > lower_bound if open_lower_bound else x >= lower_bound
        below = x < upper_bound if open_upper_bound else x <= upper_bound
        ends = "(["[not open_lower_bound], ")]"[not open_upper_bound]
        words = f"not in {ends[0]}{lower_bound}, {upper_bound}{ends[1]}"
        self._fail_at(~(above & below), x, words, None)

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """Every element is one of a set."""
        x = self._array(target)
        known = np.vectorize(lambda item: item in expected_set, otypes=[bool])
        self._fail_at(~known(x) if x.size else np.zeros(0, bool), x, f"not in {expected_set}", None)

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        """Two numbers differ by `err` at most."""
        words = f"{f1} != {f2} +/- {err}"
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, self._formatMessage(msg, words))

    def assertArrayNear(
        self, farray1: Any, farray2: Any, err: float, msg: str | None = None
    ) -> None:
        """The numbers of two vectors differ by `err` at most."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for x, y in zip(farray1, farray2, strict=True):
            self.assertNear(float(x), float(y), err, msg)

    def assertNDArrayNear(
        self, ndarray1: Any, ndarray2: Any, err: float, msg: str | None = None
    ) -> None:
        """The norm of the difference of two arrays is less than `err`."""
        distance = float(np.linalg.norm(np.ravel(_widened(ndarray1) - _widened(ndarray2))))
        self.assertLess(distance, err, msg)

    def assertShapeEqual(self, input_a: Any, input_b: Any, msg: str | None = None) -> None:
        """Two arrays or tensors have the same shape."""
        self.assertEqual(_shape(input_a), _shape(input_b), msg)

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """An array or tensor has a dtype."""
        dtype = target.dtype if hasattr(target, "dtype") else self._array(target).dtype
        self.assertEqual(as_dtype(dtype), as_dtype(expected_dtype))

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: str | None = None) -> None:
        """Two names of devices, or device specifications, mean the same."""
        x, y = (
            DeviceSpec.from_string(str(device or "")).to_string() for device in (device1, device2)
        )
        self.assertEqual(x, y, self._formatMessage(msg, f"Devices {device1} and {device2} differ"))

    def assertProtoEquals(
        self,
        expected_message_maybe_ascii: Any,
        validate_message: Any,
        msg: str | None = None,
        relative_tolerance: float | None = None,
    ) -> None:
        """A message equals another one, or its text."""
        expected = expected_message_maybe_ascii
        if isinstance(expected, (str, bytes)):
            from google.protobuf import text_format

            expected = text_format.Parse(expected, type(validate_message)())
        if relative_tolerance is None:
            return self.assertEqual(expected, validate_message, msg)
        return self._proto_close(expected, validate_message, relative_tolerance, msg)

    def _proto_close(self, a: Any, b: Any, rtol: float, msg: str | None) -> None:
        """Messages are alike but for rounding of their floating-point fields."""
        self.assertCountEqual(
            [f.name for f, _ in a.ListFields()], [f.name for f, _ in b.ListFields()]
        )
        for field, value in a.ListFields():
            other = getattr(b, field.name)
            if isinstance(value, float) or (
                field.cpp_type in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE)
            ):
                self.assertAllClose(value, other, rtol, 0.0, msg)
            elif hasattr(value, "ListFields"):
                self._proto_close(value, other, rtol, msg)
            elif field.cpp_type == field.CPPTYPE_MESSAGE and not hasattr(value, "keys"):
                self.assertEqual(len(value), len(other), msg)
                for x, y in zip(value, other, strict=True):
                    self._proto_close(x, y, rtol, msg)
            else:
                self.assertEqual(value, other, msg)

    def assertRaisesWithPredicateMatch(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, exception_type: Any, expected_err_re_or_predicate: Any
    ) -> contextlib.AbstractContextManager[None]:
        """The block raises, and the text, or the exception, matches."""
        return self._raises(exception_type, expected_err_re_or_predicate)

    def assertRaisesOpError(
        self, expected_err_re_or_predicate: Any
    ) -> contextlib.AbstractContextManager[None]:
        """The block raises a `tf.errors.OpError` whose text, or itself, matches."""
        return self._raises(OpError, expected_err_re_or_predicate)

    def assertRaisesIncompatibleShapesError(
        self, exception_type: Any = InvalidArgumentError
    ) -> contextlib.AbstractContextManager[None]:
        """The block raises an error about shapes that do not go together."""
        words = r"Incompatible shapes|Dimensions must be equal|required broadcastable shapes"
        return self._raises(exception_type, words)

    @contextlib.contextmanager
    def _raises(self, exception_type: Any, expected: Any) -> Iterator[None]:
        try:
            yield
        except exception_type as error:
            matches = expected(error) if callable(expected) else re.search(expected, str(error))
            if not matches:
                raise AssertionError(
                    f"Exception of type {type(error)}: {error} does not match '{expected}'"
                ) from error
        else:
            self.fail(f"{getattr(exception_type, '__name__', exception_type)} not raised")


class CheckedThread:
    """A thread of a test; what it raises is a failure of the test when it is joined."""

    def __init__(
        self,
        testcase: TestCase,
        target: Callable[..., object],
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        self._testcase = testcase
        self._call = lambda: target(*(args or ()), **(kwargs or {}))
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._error: BaseException | None = None

    def _run(self) -> None:
        try:
            self._call()
        except BaseException as error:  # of the test's own code
            self._error = error

    def start(self) -> None:
        """Starts it."""
        self._thread.start()

    def join(self) -> None:
        """Waits for its end, and fails the test when it has raised."""
        self._thread.join()
        if self._error is not None:
            self._testcase.fail(f"Error in checkedThread: {self._error}")

    def is_alive(self) -> bool:
        """Whether it runs."""
        return self._thread.is_alive()


def _short(array: np.ndarray) -> str:
    return np.array2string(array, threshold=MAX_SHOWN, edgeitems=3)


def _is_array(value: Any) -> bool:
    """Whether a nest of sequences is an array of numbers."""
    if any(isinstance(item, (Tensor, Variable, Mapping)) for item in value):
        return False
    try:
        return np.asarray(value).dtype != object
    except ValueError:
        return False


def _widened(value: Any) -> np.ndarray:
    """An array, of a type in which numpy compares."""
    array = np.asarray(value)
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def _shape(value: Any) -> list[int | None]:
    if hasattr(value, "get_shape"):
        return value.get_shape().as_list()
    return list(np.shape(value))
