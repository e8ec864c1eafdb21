"""Reading and writing a file keeps its meaning; the same Model always gives the same bytes."""

from flatlite.schema.model import load, save


def test_files_survive(files):
    for name, content in files.items():
        model = load(content)
        written = save(model)
        assert load(written) == model, name
        assert save(load(written)) == written, name


def test_files_do_not_grow(files):
    before = sum(map(len, files.values()))
    after = {name: len(save(load(content))) for name, content in files.items()}
    assert sum(after.values()) <= before
    # Constants lie at multiples of 16: where exactly is luck, worth one gap at most.
    assert [name for name in files if after[name] > len(files[name]) + 16] == []


def test_litert_loads_what_it_loaded_before(files, litert):
    for name, content in files.items():
        if litert.run(content) == []:
            assert litert.run(save(load(content))) == [], name


def test_litert_computes_the_same(samples, litert):
    import numpy as np

    inputs = [np.random.default_rng(5).standard_normal((2, 8, 8, 1)).astype("f4")]
    content = save(samples["classifier"])
    (result,) = litert.run(content, [inputs])[0]
    assert result.shape == (2, 10)
    assert np.allclose(result.sum(axis=1), 1)
