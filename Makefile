# Two commands on a fresh machine: make demo, make test. PYTHON chooses the interpreter, VENV the
# environment's folder, CORPUS another folder of recorded cases (`make test-all` takes the whole of
# them, ../shared/corpus, where that is there).
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
WHOLE_CORPUS := $(or $(CORPUS),$(wildcard ../shared/corpus),tests/corpus)
CORPUS ?= tests/corpus
# The Python with TensorFlow for `make bench` and `make test-tf`; without one, they make
# $(VENV)-tensorflow. BENCH: options of benchmarks/run.py.
TENSORFLOW_PYTHON ?=
BENCH ?=
TENSORFLOW := $(or $(TENSORFLOW_PYTHON),$(VENV)-tensorflow/bin/python)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# Hundreds of tests start a Python: each would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-all test-pythons test-tf test-keras fuzz operators targets support arenas stubs bitcode symbols check dev bench wheel clean

demo: $(VENV)/.core
	$(BIN)/python examples/demo.py

test: $(VENV)/.test
	$(BIN)/flatlite warmup
	$(BIN)/python -m pytest -n 2 --corpus=$(CORPUS) -m "not slow"

test-all: $(VENV)/.test
	$(BIN)/flatlite warmup
	$(BIN)/python -m pytest -n 2 --corpus=$(WHOLE_CORPUS) -m ""

# A quick suite on every Python from 3.10 to 3.14 that is found.
test-pythons:
	$(PYTHON) tests/pythons.py

# Random models and programs until the time is up; what fails is printed with the command that
# repeats it. FUZZERS: which, all without; SEEDS: A..B, all of them, without it new ones until the
# time is up; COUNT: cases of each seed; SECONDS: for each fuzzer; PROCESSES: that share the seeds.
FUZZERS ?=
SEEDS ?=
COUNT ?= 1000
SECONDS ?= 600
PROCESSES ?= 1
fuzz: $(VENV)/.test
	$(BIN)/flatlite warmup
	$(BIN)/python tests/fuzz $(FUZZERS) --seeds '$(SEEDS)' --count $(COUNT) \
		--processes $(PROCESSES) $(if $(SEEDS),,--seconds $(SECONDS))

# TensorFlow restores what flatlite has saved, and goes on training it; flatlite, in TensorFlow's
# process, converts its sessions, functions and Keras models. Both need the same version of Python.
test-tf: $(VENV)/.test $(if $(TENSORFLOW_PYTHON),,$(VENV)-tensorflow/.ready)
	rm -rf out/tensorflow
	$(BIN)/python tests/with_tensorflow/write.py out/tensorflow
	$(TENSORFLOW) tests/with_tensorflow/check.py out/tensorflow
	$(TENSORFLOW) -c "import site, runpy, sys; site.addsitedir(sys.argv[1]); \
		runpy.run_path('tests/with_tensorflow/live.py', run_name='__main__')" \
		$$($(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")

# Keras 3 models in memory, on JAX and on PyTorch, where there is no TensorFlow.
test-keras: $(VENV)-keras/.ready
	for backend in jax torch; do KERAS_BACKEND=$$backend \
		$(VENV)-keras/bin/python tests/with_keras/live.py || exit 1; done

# What editors see of modules whose names are imported on first use; which module has which row.
stubs: $(VENV)/.core
	$(BIN)/python tests/write_stubs.py
	$(BIN)/python tests/write_homes.py

# LLVM code of the kernels that have changed, into engine/bitcode: a first start on a machine goes
# without numba's work on them. The seed keeps numba's order from run to run.
bitcode: $(VENV)/.core
	PYTHONHASHSEED=0 $(BIN)/python -m flatlite.engine.build --bitcode

# Which symbols of an API description exist, and whose signatures are alike, by area. AREAS: those
# (or all) whose differences are listed.
SPEC ?= ../shared/spec/api.json
AREAS ?=
symbols: $(VENV)/.core
	$(BIN)/python tests/symbols.py $(SPEC) $(AREAS)

# What LiteRT's kernels accept, written into schema/operator_types.py; ten minutes.
operators: $(VENV)/.test
	$(BIN)/flatlite warmup
	$(BIN)/python tests/schema/record_operators.py

# What other runtimes run, written into schema/targets/types.py; needs Python 3.10 or 3.11 as PYTHON_OLD.
PYTHON_OLD = python3.11
targets: $(VENV)/.test
	$(PYTHON_OLD) -m venv .venv-micro && .venv-micro/bin/pip install -q tflite-micro
	$(PYTHON_OLD) -m venv .venv-2.14 && .venv-2.14/bin/pip install -q tflite-runtime==2.14.0 'numpy<2'
	PYTHONPATH=tests/support:tests/schema $(BIN)/python tests/schema/record_targets.py \
		MICRO .venv-micro/bin/python TF_2_14 .venv-2.14/bin/python

# TensorFlow Lite Support, whose code on metadata tests/schema/test_metadata.py is held against.
support:
	$(PYTHON_OLD) -m venv .venv-support
	.venv-support/bin/pip install -q tflite-support libusb-package
	.venv-support/bin/python tests/schema/support_child.py record

# What operators take of TensorFlow Lite Micro's arena, into tools/micro/measured.py and tests/schema/arenas.json.
arenas: $(VENV)/.test
	$(PYTHON_OLD) -m venv .venv-micro && .venv-micro/bin/pip install -q tflite-micro
	PYTHONPATH=tests/support:tests/schema $(BIN)/python tests/schema/record_arena.py .venv-micro/bin/python

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright
	$(BIN)/basedpyright -p pyrightconfig.strict.json
	$(BIN)/lint-imports

dev: $(VENV)/.dev

bench: $(VENV)/.test $(if $(TENSORFLOW_PYTHON),,$(VENV)-tensorflow/.ready)
	$(BIN)/flatlite warmup
	$(TENSORFLOW) models/build.py
	$(BIN)/python benchmarks/run.py --json build/bench.json $(BENCH)
	$(BIN)/python benchmarks/convert.py --tensorflow $(TENSORFLOW)
	$(BIN)/python benchmarks/train.py --tensorflow $(TENSORFLOW) --json build/train.json

wheel: $(VENV)/.dev
	rm -rf build/lib build/bdist.*
	PYTHONHASHSEED=0 $(BIN)/python -m flatlite.engine.build --bitcode
	$(BIN)/python -m flatlite.engine.build --package
	$(BIN)/python -m build --wheel

$(VENV)/.core: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	touch $@

$(VENV)/.test: $(VENV)/.core
	$(PIP) --editable ".[test]"
	touch $@

$(VENV)/.dev: $(VENV)/.test
	$(PIP) --editable ".[test,dev]"
	mkdir -p .typings && ln -sfn .. .typings/flatlite
	touch $@

$(VENV)-tensorflow/.ready:
	test -x $(VENV)-tensorflow/bin/python || $(PYTHON) -m venv $(VENV)-tensorflow
	$(TENSORFLOW) -m pip install --quiet --disable-pip-version-check \
		tensorflow-cpu==2.21.0 tf_keras==2.21.0
	touch $@

$(VENV)-keras/.ready:
	test -x $(VENV)-keras/bin/python || $(PYTHON) -m venv $(VENV)-keras
	$(VENV)-keras/bin/python -m pip install --quiet --disable-pip-version-check \
		"keras>=3.15" jax torch onnxscript --editable .
	touch $@

clean:
	rm -rf $(VENV) .venv-3.* .typings build dist out engine/images *.egg-info
