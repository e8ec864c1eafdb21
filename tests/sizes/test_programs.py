"""Programs over shapes with the answers that TensorFlow and ONNX Runtime gave at many sizes."""

import warnings

import pytest
from programs_run import converter_of, wrong_answers
from recorded_programs import read
from stored import feeds

PROGRAMS = read()


@pytest.mark.parametrize("name", PROGRAMS)
def test_answers(name, litert):
    program = PROGRAMS[name]
    ports = program.inputs, program.n_outputs
    converter = converter_of(name.split("/")[0], program.content, *ports)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        content = converter.convert()
    assert converter.verified or any("verified" in str(w.message) for w in warned)
    rows = [(feeds(program.inputs, shapes), want) for shapes, want in program.answers]
    assert not wrong_answers(content, rows, litert)
