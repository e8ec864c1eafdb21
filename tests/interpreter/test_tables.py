"""Hash tables and groups of words, against LiteRT."""

import copy

import numpy as np
import pytest
from cases import OPTIMIZED
from declared import constant, handle, lookup
from running import answers

from flatlite.lite import Interpreter

WORDS = np.array([b"ask", b"", b"tell", b"wo\0rd"], object)
NUMBERS = np.array([7, 0, -1, 2**40], np.int64)
PAIRS = [("STRING", WORDS, "INT64", NUMBERS), ("INT64", NUMBERS, "STRING", WORDS)]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair[0]}_to_{pair[2]}")
def test_find(pair, litert):
    key_type, keys, value_type, values = pair
    default = np.array([b"?" if value_type == "STRING" else -5], values.dtype)
    content = lookup(*pair, default)
    expected = np.array([[keys[2], keys[3]], [keys[1], keys[0]]], keys.dtype)
    expected[1, 1] = b"asks" if key_type == "STRING" else 8
    interpreter = Interpreter(model_content=content)
    for _ in range(2):
        y, n = answers(interpreter, expected)
        assert y.tolist() == [[values[2], values[3]], [values[1], default[0]]]
        assert n.tolist() == [4]
    theirs = litert.run(content, [[expected]], OPTIMIZED)
    assert not isinstance(theirs, str), theirs
    assert [x.tolist() for x in theirs[0]] == [y.tolist(), n.tolist()]
    copied = copy.deepcopy(interpreter)
    assert answers(copied, expected)[0].tolist() == y.tolist()


def test_a_table_that_has_entries_keeps_them(builder, saved):
    main = builder("main")
    x = main.input("x", (1,), "INT64")
    table = handle(main, "INT64", "INT64")
    values = [constant(main, f"values{i}", np.array([i], np.int64)) for i in range(2)]
    for value in values:
        main.op("HASHTABLE_IMPORT", [table, x, value], [])
    y = main.tensor("y", (1,), "INT64")
    main.op("HASHTABLE_FIND", [table, x, constant(main, "default", np.array([9], np.int64))], [y])
    interpreter = Interpreter(model_content=saved(main.outputs(y)))
    assert answers(interpreter, np.array([4], np.int64))[0].tolist() == [0]


def test_the_handle_of_a_variable_is_no_table(builder, saved):
    main = builder("main")
    variable, n = main.tensor("variable", (1,), "RESOURCE"), main.tensor("n", (1,), "INT64")
    main.op("VAR_HANDLE", [], [variable], shared_name="v")
    main.op("HASHTABLE_SIZE", [variable], [n])
    interpreter = Interpreter(model_content=saved(main.outputs(n)))
    interpreter.allocate_tensors()
    with pytest.raises(RuntimeError, match="HASHTABLE_SIZE 'n': the handle is none of a hash"):
        interpreter.invoke()


TEXTS = [
    b"The quick\t brown fox! jumps over",
    b"",
    b"one",
    b" first is hidden",
    b"twice  two ",
    b"a",
]
GROUPS = [(2, 0, False), (3, 2, True), (3, 1, False), (1, 5, True)]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(("size", "skip", "every"), GROUPS)
def test_skip_gram(text, size, skip, every, builder, saved, litert):
    main = builder("main")
    x, y = main.input("x", (1,), "STRING"), main.tensor("y", (0,), "STRING")
    options = {"ngram_size": size, "max_skip_size": skip, "include_all_ngrams": every}
    main.op("SKIP_GRAM", [x], [y], **options)
    content, texts = saved(main.outputs(y)), np.array([text], object)
    (ours,) = answers(Interpreter(model_content=content), texts)
    (theirs,) = litert.run(content, [[texts]])[0]
    assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("counts", [(0, 2), (2, 0), (3, 2)], ids=str)
def test_the_first_import_counts(counts, builder, saved, litert):
    """Even one of nothing; of a key that comes twice its first value does."""
    main = builder("main")
    x, table = main.input("x", (2,), "INT64"), handle(main, "INT64", "STRING")
    for start, count in zip((0, 10), counts, strict=True):
        keys = np.array([5, 6, 5][:count], np.int64)
        values = np.array([b"%d" % (start + i) for i in range(count)], object)
        operands = [constant(main, "keys", keys), constant(main, "values", values)]
        main.op("HASHTABLE_IMPORT", [table, *operands], [])
    y, n = main.tensor("y", (2,), "STRING"), main.tensor("n", (1,), "INT64")
    default = constant(main, "default", np.array([b"?"], object))
    main.op("HASHTABLE_FIND", [table, x, default], [y])
    main.op("HASHTABLE_SIZE", [table], [n])
    file, x = saved(main.outputs(y, n)), np.array([5, 6], np.int64)
    theirs = litert.run(file, [[x]], OPTIMIZED)
    assert not isinstance(theirs, str), theirs
    interpreter = Interpreter(model_content=file)
    for copied in (interpreter, copy.deepcopy(interpreter)):
        assert [a.tolist() for a in answers(copied, x)] == [a.tolist() for a in theirs[0]]


def test_a_table_that_was_never_filled_is_not_asked(builder, saved, litert):
    main = builder("main")
    x, table = main.input("x", (1,), "INT64"), handle(main, "INT64", "STRING")
    y = main.tensor("y", (1,), "STRING")
    main.op("HASHTABLE_FIND", [table, x, constant(main, "d", np.array([b"?"], object))], [y])
    file, text = saved(main.outputs(y)), "hashtable need to be initialized before using"
    assert text in litert.run(file, [[np.array([4], np.int64)]], OPTIMIZED)
    with pytest.raises(RuntimeError, match=text):
        answers(Interpreter(model_content=file), np.array([4], np.int64))
