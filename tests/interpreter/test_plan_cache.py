"""The plan cache: plans on disk, read by the next process."""

import os
import pickle
import subprocess
import sys
import time

import numpy as np
import pytest
from recurrent_models import SORTS
from recurrent_models import content as recurrent

from flatlite.engine.build import cache
from flatlite.engine.build import image as image_module
from flatlite.engine.plan import fusion
from flatlite.engine.run import disk_cache
from flatlite.interpreter.plan import pending_plans, plan_cache
from flatlite.interpreter.plan.planner import Planner
from flatlite.interpreter.profile import profile
from flatlite.lite import Delegate, Interpreter

f32, i32 = np.float32, np.int32
CORPUS_MODELS = ("C/lenet_k3/float.tflite", "C/lenet_k3/int8.tflite", "C/lenet_k3/dyn.tflite")


@pytest.fixture
def lazy(monkeypatch):
    """Called, it makes every preparation an error from then on."""

    def refuse(*_, **__):
        raise AssertionError("the plan was not cached")

    return lambda: monkeypatch.setattr(Planner, "add", refuse)


def written(path, content):
    path.write_bytes(content)
    return path


def files_of(folder):
    """The files in a folder of plans, when all that waits is stored."""
    pending_plans.store_all()
    return list(folder.iterdir())


def answers(interpreter, calls=2):
    interpreter.allocate_tensors()
    random = np.random.default_rng(3)
    outputs = []
    for _ in range(calls):
        for detail in interpreter.get_input_details():
            array = random.uniform(0, 3, detail["shape"]).astype(detail["dtype"])
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
        outputs += [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]
    return outputs


def described(interpreter):
    return str(
        [
            interpreter.get_input_details(),
            interpreter.get_output_details(),
            interpreter.get_signature_list(),
            interpreter.num_subgraphs(),
        ]
    )


def check_cached(path, lazy, threads=1):
    """The answers of two calls, which a cached plan and a fresh one give alike."""
    fresh = Interpreter(path, num_threads=threads)
    want = answers(fresh)
    lazy()
    cached = Interpreter(path, num_threads=threads)
    assert described(cached) == described(fresh)
    for ours, theirs in zip(answers(cached), want, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert described(cached) == described(fresh)
    assert str(cached.get_tensor_details()) == str(fresh.get_tensor_details())
    return want


def adder(builder, saved, what=1.0, shape=(2, 3)):
    b = builder()
    x, y = b.input("x", shape), b.tensor("y", shape)
    b.op("ADD", [x, b.constant("what", np.full(3, what, f32))], [y])
    return saved(b.outputs(y))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", CORPUS_MODELS)
def test_networks(name, threads, corpus, plans, lazy):
    check_cached(corpus / name, lazy, threads)


PLANNED = [sort for sort in SORTS if not sort.narrow]  # which numpy computes


@pytest.mark.parametrize("sort", PLANNED[::4], ids=lambda sort: sort.name)
def test_variables_last_from_call_to_call(sort, tmp_path, plans, lazy):
    path = written(tmp_path / "m.tflite", recurrent(sort))
    want = check_cached(path, lazy)
    cached = Interpreter(path)
    answers(cached)
    cached.reset_all_variables()
    for ours, theirs in zip(answers(cached), want, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("threads", [1, 2])
def test_fused_instructions(threads, builder, saved, tmp_path, plans, lazy, monkeypatch):
    fused, fuse = [], fusion.fused_table

    def fused_table(table, fusions, entry):
        fused.append([one.fields for one in fusions])
        return fuse(table, fusions, entry)

    monkeypatch.setattr(fusion, "fused_table", fused_table)
    b = builder()
    tensors = [b.input("x", (200, 300)), *(b.tensor(name, (200, 300)) for name in "uvy")]
    for kind, x, y in zip(("ABS", "SQUARE", "NEG"), tensors, tensors[1:], strict=False):
        b.op(kind, [x], [y])
    check_cached(written(tmp_path / "m.tflite", saved(b.outputs(tensors[-1]))), lazy, threads)
    assert len(fused) == 2
    assert fused[0] == fused[1]
    assert [fields[:2] for fields in fused[0]] == [(0, 2)]


@pytest.mark.parametrize("dtype", ["BFLOAT16", "FLOAT8_E4M3FN", "FLOAT8_E5M2"])
def test_types_that_numpy_has_not(dtype, builder, saved, tmp_path, plans):
    b = builder()
    b.op("CAST", [b.input("x", (3,))], [b.tensor("y", (3,), dtype)])
    path = written(tmp_path / "m.tflite", saved(b.outputs(1)))
    first = answers(Interpreter(path))
    files_of(plans.parent)
    assert [a.tolist() for a in answers(Interpreter(path))] == [a.tolist() for a in first]


def test_loops(builder, saved, tmp_path, plans, lazy):
    check_cached(written(tmp_path / "m.tflite", collector(builder, saved)), lazy)


def test_another_process_finds_it(corpus, plans):
    path = corpus / CORPUS_MODELS[1]
    answers(Interpreter(path))
    files_of(plans)
    code = (
        "import sys; from flatlite.lite import Interpreter; i = Interpreter(sys.argv[1]);"
        "i.allocate_tensors(); i.invoke(); found = {m.rpartition('.')[2] for m in sys.modules};"
        "print(found & {'preparation', 'registry', 'declaration', 'flatbuffer', 'families'})"
    )
    ran = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert (ran.stdout.strip(), ran.stderr) == ("set()", "")


def test_other_files_choices_and_shapes_have_plans_of_their_own(
    builder, saved, tmp_path, plans, monkeypatch
):
    path = written(tmp_path / "m.tflite", adder(builder, saved))
    first = answers(Interpreter(path))[0]
    path.unlink()
    written(path, adder(builder, saved, what=2.0))
    np.testing.assert_allclose(answers(Interpreter(path))[0], first + 1, rtol=1e-6)
    assert len(files_of(plans)) == 2
    answers(Interpreter(path, num_threads=2))
    assert len(files_of(plans)) == 3
    resized = Interpreter(path)
    resized.resize_tensor_input(0, [4, 3])
    assert answers(resized)[0].shape == (4, 3)
    resized = Interpreter(path)
    resized.allocate_tensors()
    resized.resize_tensor_input(0, [5, 3])
    assert answers(resized)[0].shape == (5, 3)
    assert len(files_of(plans)) == 3
    monkeypatch.setattr(pending_plans, "__version__", "another")
    answers(Interpreter(path))
    assert len(files_of(plans)) == 4


def test_a_change_in_place_is_seen(builder, saved, tmp_path, plans):
    path = written(tmp_path / "m.tflite", adder(builder, saved))
    first = answers(Interpreter(path))[0]
    with open(path, "r+b") as file:
        file.write(adder(builder, saved, what=2.0))
    np.testing.assert_allclose(answers(Interpreter(path))[0], first + 1, rtol=1e-6)


def test_what_a_user_asks_of_a_cached_plan(corpus, plans, lazy):
    path = corpus / CORPUS_MODELS[0]
    fresh = Interpreter(path)
    want = answers(fresh)
    times = [(t.position, t.kind, t.name) for t in profile(fresh)]
    lazy()
    cached = Interpreter(path)
    np.testing.assert_array_equal(answers(cached)[0], want[0])
    assert [(t.position, t.kind, t.name) for t in profile(cached)] == times
    np.testing.assert_array_equal(answers(cached.clone())[0], want[0])
    np.testing.assert_array_equal(cached.tensor(cached.get_output_details()[0]["index"])(), want[1])
    runner = Interpreter(path).get_signature_runner()
    random = np.random.default_rng(3)
    feeds = {
        name: random.uniform(0, 3, detail["shape"]).astype(detail["dtype"])
        for name, detail in runner.get_input_details().items()
    }
    np.testing.assert_array_equal(next(iter(runner(**feeds).values())), want[0])
    hidden = fresh._get_op_details(0)["outputs"][0]
    for wrong in (lambda i: i.get_tensor(hidden), lambda i: i.get_tensor(999)):
        errors = []
        for interpreter in (fresh, cached):
            with pytest.raises(ValueError) as raised:
                wrong(interpreter)
            errors.append(str(raised.value))
        assert errors[0] == errors[1]


def test_a_copy_by_pickle_runs(corpus, plans):
    path = corpus / CORPUS_MODELS[0]
    want = answers(Interpreter(path))[0]
    np.testing.assert_array_equal(answers(pickle.loads(pickle.dumps(Interpreter(path))))[0], want)


def collector(builder, saved):
    """x, i, n -> the sum of the elements of x from i below n, by a loop."""
    main, condition, body = builder("main"), builder("condition"), builder("body")
    kinds = (("x", (3,), "FLOAT32"), ("i", (1,), "INT32"), ("n", (1,), "INT32"))
    kinds += (("sum", (1,), "FLOAT32"),)
    inputs = [main.input(*kind) for kind in kinds]
    results = [main.tensor(f"{name}_out", shape, dtype) for name, shape, dtype in kinds]
    main.op("WHILE", inputs, results, cond_subgraph_index=1, body_subgraph_index=2)
    _, i, n, _ = [condition.input(*kind) for kind in kinds]
    condition.outputs(condition.op("LESS", [i, n], [condition.tensor("less", (1,), "BOOL")]))
    x, i, n, total = [body.input(*kind) for kind in kinds]
    following, both = body.tensor("following", (1,), "INT32"), body.tensor("both", (1,))
    body.op("ADD", [i, body.constant("one", i32([1]))], [following])
    body.op("ADD", [total, body.op("GATHER", [x, i], [body.tensor("found", (1,))], axis=0)], [both])
    return saved(main.outputs(results[3]), condition, body.outputs(x, following, n, both))


def failing(builder, saved):
    b = builder()
    x, i = b.input("x", (3,)), b.input("i", (1,), "INT32")
    less = b.op("NEG", [x], [b.tensor("less", (3,))])
    return saved(b.outputs(b.op("GATHER", [less, i], [b.tensor("y", (1,))], axis=0)))


def feed(interpreter, values):
    for index, value in enumerate(values, 1):
        interpreter.set_tensor(index, i32([value]))


@pytest.mark.parametrize(
    ("model", "wrong", "right"), [(failing, [7], [2]), (collector, [1, 9], [1, 3])]
)
def test_a_fault_names_the_operator(model, wrong, right, builder, saved, tmp_path, plans, lazy):
    path, errors = written(tmp_path / "m.tflite", model(builder, saved)), []
    for prepare in (lambda: None, lazy):
        interpreter = Interpreter(path)
        prepare()
        interpreter.allocate_tensors()
        feed(interpreter, wrong)
        with pytest.raises(RuntimeError) as raised:
            interpreter.invoke()
        errors.append(str(raised.value))
        feed(interpreter, right)
        interpreter.invoke()
    assert errors[0] == errors[1]
    assert "indices must be in [0, 3)" in errors[0] and "GATHER" in errors[0]


def test_damaged_plans_are_made_anew(corpus, plans):
    path = corpus / CORPUS_MODELS[1]
    want = answers(Interpreter(path))[0]
    (plan,) = files_of(plans)
    sound = plan.read_bytes()
    for damaged in (sound[:-1], b"", sound[:40] + b"x" + sound[41:], sound + b" "):
        plan.write_bytes(damaged)
        np.testing.assert_array_equal(answers(Interpreter(path))[0], want)
        assert [file.read_bytes() for file in files_of(plans)] == [sound]


def test_without_the_kernels_it_is_planned(corpus, plans, monkeypatch):
    path = corpus / CORPUS_MODELS[1]
    want = answers(Interpreter(path))[0]

    def gone(*_):
        raise LookupError("no such image")

    monkeypatch.setattr(plan_cache, "SerializedProgram", gone)
    np.testing.assert_array_equal(answers(Interpreter(path))[0], want)


class Nothing(Delegate):
    name = "nothing"

    def parts(self, *_):
        return [], {}

    def compile(self, *_):
        raise AssertionError


def test_what_is_not_cached(builder, saved, tmp_path, plans, monkeypatch):
    path = written(tmp_path / "m.tflite", adder(builder, saved))
    answers(Interpreter(path, experimental_preserve_all_tensors=True))
    answers(Interpreter(path, experimental_delegates=[Nothing()]))
    answers(Interpreter(model_content=path.read_bytes()))
    monkeypatch.setattr(disk_cache, "SETTLED", 10**12)
    answers(Interpreter(path))
    assert not plans.exists()
    monkeypatch.setattr(disk_cache, "SETTLED", 0)
    monkeypatch.setenv("FLATLITE_PLANS", "")
    answers(Interpreter(path))
    assert not plans.exists()


def test_a_folder_that_others_may_write_to_is_left_alone(builder, saved, tmp_path, plans):
    path = written(tmp_path / "m.tflite", adder(builder, saved))
    answers(Interpreter(path))
    (plan,) = files_of(plans)
    plans.chmod(0o777)
    plan.write_bytes(b"others wrote this")
    answers(Interpreter(path))
    assert [file.read_bytes() for file in files_of(plans)] == [b"others wrote this"]


def test_the_cache_folder_is_made_for_plans(corpus, tmp_path, lazy, monkeypatch):
    folder = tmp_path / "deep" / "cache"
    monkeypatch.setattr(disk_cache, "SETTLED", 0)
    monkeypatch.delenv("FLATLITE_PLANS")
    monkeypatch.setenv("FLATLITE_CACHE", str(folder))
    check_cached(corpus / CORPUS_MODELS[0], lazy)
    assert len(files_of(folder / "plans")) == 1
    assert [p.stat().st_mode & 0o777 for p in (folder, folder / "plans")] == [0o700, 0o700]


def test_the_oldest_are_removed(builder, saved, tmp_path, plans, monkeypatch):
    monkeypatch.setattr(disk_cache, "MOST_FILES", 2)
    for i in range(4):
        answers(Interpreter(written(tmp_path / f"{i}.tflite", adder(builder, saved, float(i)))))
    assert len(files_of(plans)) == 2


def test_only_plans_are_removed(builder, saved, tmp_path, plans, monkeypatch):
    monkeypatch.setattr(disk_cache, "MOST_FILES", 1)
    plans.mkdir(0o700)
    others = {"notes.txt", "0" * 64 + ".txt", "folder"}
    left_by_a_killed_process = plans / ("0" * 64 + ".17.tmp")
    for path in (*(plans / name for name in others - {"folder"}), left_by_a_killed_process):
        path.touch()
        os.utime(path, (1, 1))
    (plans / "folder").mkdir()
    for i in range(2):
        answers(Interpreter(written(tmp_path / f"{i}.tflite", adder(builder, saved, float(i)))))
    left = {path.name for path in files_of(plans)}
    assert not left_by_a_killed_process.exists()
    assert others < left
    assert len(left) == len(others) + 1


OPENS = """
import os, sys, time
from flatlite.engine.run import disk_cache
from flatlite.interpreter.plan import pending_plans
from flatlite.lite import Interpreter
disk_cache.SETTLED, pending_plans.DELAY = 0, float(sys.argv[2])
interpreter = Interpreter(sys.argv[1])
interpreter.allocate_tensors()
interpreter.invoke()
plans = sys.argv[3]
"""


@pytest.mark.parametrize(
    ("delay", "end"),
    [
        (3600, "assert not os.listdir(plans)"),
        (0, "while not os.listdir(plans): time.sleep(0.01)\nos._exit(0)"),
    ],
    ids=["at the end", "later"],
)
def test_plans_are_stored_after_the_first_answer(delay, end, corpus, plans):
    path = corpus / CORPUS_MODELS[0]
    plans.mkdir(mode=0o700)
    ran = [sys.executable, "-c", OPENS + end, path, str(delay), plans]
    subprocess.run(ran, check=True, capture_output=True, timeout=60)
    assert len(list(plans.iterdir())) == 1


def test_clones_share_a_plan_that_waits(corpus, plans, lazy):
    interpreter = Interpreter(corpus / CORPUS_MODELS[0])
    want = answers(interpreter)
    lazy()
    for ours, theirs in zip(answers(interpreter.clone()), want, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert len(list(plans.iterdir())) == 1


def test_a_changed_image_is_checked_again(corpus, plans, monkeypatch):
    path = corpus / CORPUS_MODELS[1]
    want = answers(Interpreter(path))[0]
    for image in image_module._images.values():
        files = {key: (path, (0, 0, 0, 0)) for key, (path, _) in image.files.items()}
        monkeypatch.setattr(image, "files", files)  # with stamps that no file has
    files_of(plans)[0].unlink()
    answers(Interpreter(path))
    monkeypatch.setattr(image_module, "_images", {})
    monkeypatch.setattr(image_module, "_checked", lambda: None)
    checked = []
    check = image_module._check
    monkeypatch.setattr(
        image_module, "_check", lambda path, data: checked.append(path) or check(path, data)
    )
    np.testing.assert_array_equal(answers(Interpreter(path))[0], want)
    assert checked


def test_sources_have_a_say(corpus, plans, tmp_path, monkeypatch):
    """Those of the modules and kernels that made a plan, as they were when the process began."""
    path, source = corpus / CORPUS_MODELS[1], written(tmp_path / "rule.py", b"one")
    answers(Interpreter(path))
    files_of(plans)[0].unlink()
    made_of = pending_plans.sources()
    monkeypatch.setattr(pending_plans, "sources", lambda: [*made_of, str(source)])
    answers(Interpreter(path))
    assert not files_of(plans)  # one was written after this process began
    monkeypatch.setattr(disk_cache, "_BEGAN", time.time_ns())
    answers(Interpreter(path))
    assert len(files_of(plans)) == 1
    assert Interpreter(path)._model.cached_plan is not None
    written(source, b"three")
    cache.stamp.cache_clear()  # as another process
    assert Interpreter(path)._model.cached_plan is None


def test_plans_know_what_made_them(corpus, plans):
    answers(Interpreter(corpus / CORPUS_MODELS[0]))
    names = {os.path.relpath(path, cache.ENGINE) for path in pending_plans.sources()}
    rooms = {"plan/program.py", "build/kernel.py", "../interpreter/plan/planner.py"}
    assert {*rooms, "../schema/reader.py", "kernels/float32/gemm_f32.py"} <= names
    assert not any("tests" in name or "converter" in name for name in names)
