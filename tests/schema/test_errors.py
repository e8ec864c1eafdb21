"""The exceptions: what they are, and that they travel between processes."""

import pickle

import pytest

from flatlite.schema import errors

CODES = {
    "CancelledError": 1,
    "UnknownError": 2,
    "InvalidArgumentError": 3,
    "DeadlineExceededError": 4,
    "NotFoundError": 5,
    "AlreadyExistsError": 6,
    "PermissionDeniedError": 7,
    "ResourceExhaustedError": 8,
    "FailedPreconditionError": 9,
    "AbortedError": 10,
    "OutOfRangeError": 11,
    "UnimplementedError": 12,
    "InternalError": 13,
    "UnavailableError": 14,
    "DataLossError": 15,
    "UnauthenticatedError": 16,
}


@pytest.mark.parametrize("name", CODES)
def test_operation_errors(name):
    error = getattr(errors, name)("node", "op", "what went wrong")
    assert isinstance(error, errors.OpError)
    assert (error.node_def, error.op, error.message) == ("node", "op", "what went wrong")
    assert error.error_code == CODES[name]
    assert str(error) == "what went wrong"


def test_an_operation_error_with_its_own_code():
    assert errors.OpError(None, None, "m", errors.ABORTED).error_code == 10


def test_errors_are_pickled():
    error = pickle.loads(pickle.dumps(errors.NotFoundError("node", "op", "missing")))
    assert type(error) is errors.NotFoundError
    assert (str(error), error.op, error.error_code) == ("missing", None, 5)


def test_families():
    assert issubclass(errors.ModelError, ValueError)
    assert issubclass(errors.UnsupportedOps, errors.ConverterError)
    assert issubclass(errors.CalibrationError, ValueError)
