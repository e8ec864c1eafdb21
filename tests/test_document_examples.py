"""The examples of the documents run, and print what the documents say."""

import json
from pathlib import Path

import document_examples
import pytest

import flatlite.compat.v1 as tf

EXAMPLES = document_examples.examples()
NOT_RUN = document_examples.not_run()
DOCUMENTS = Path(__file__).parents[2] / "shared/spec/examples.json"


@pytest.mark.filterwarnings("ignore")  # of what is deprecated: the documents use it
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.id)
def test_example(example, tmp_path):
    assert example.run(tf, tmp_path) == example.printed


def test_each_example_is_there_once():
    numbers = [number for example in EXAMPLES for number in example.numbers]
    assert len(set(numbers)) == len(numbers)
    assert not set(numbers) & set(NOT_RUN)


@pytest.mark.slow  # needs the documents' own list
@pytest.mark.skipif(not DOCUMENTS.exists(), reason="the list of examples is not in this checkout")
def test_examples_are_those_of_the_documents():
    rows = json.loads(DOCUMENTS.read_text())
    written = {number: example for example in EXAMPLES for number in example.numbers}
    assert sorted([*written, *NOT_RUN]) == [
        number for number, row in enumerate(rows) if row["kind"] == "example"
    ]
    for number, example in written.items():
        lines = {line.strip().removeprefix("# document: ") for line in example.program.splitlines()}
        document = {line.strip() for line in rows[number]["code"].splitlines()}
        assert document - lines <= {""}, example.id
