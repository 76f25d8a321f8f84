# Every target does everything from nothing; only make, a C++20 compiler and Python >= 3.11 with its
# headers and venv are assumed. What is missing is said in one line: tools/doctor.sh.
#
#   make help        these lines; make alone prints them, too
#   make build       .venv, dependencies, the compiled core; Python files are live from src/
#   make demo        watch three models learn a noisy stream, with a picture at the end
#   make test        a covering set of the Python tests, and the C++ tests: minutes; one by one:
#                    test-python, test-cpp
#   make test-all    that, and all that is left: test-rest, the other Python tests, those of Spark among
#                    them; test-address, the C++ tests and the Python module under ASan + UBSan;
#                    test-thread, what threads share under TSan
#   make test-night  what takes hours: inject, fuzz, kills and schedules in volume, mutants, coverage, test-spark,
#                    property tests with 2,000 examples; make -k test-night goes on after a failure
#   make test-spark  all Spark tests on two real executors, some of which are killed; needs Java
#   make inject      every allocation, kernel call and poll made to fail once: test-all takes a slice
#   make mutants     break the solvers on purpose and see a test go red for each: make mutants ARGS="--jobs 2"
#   make coverage    which lines the tests run: Python, C++; pages under build/coverage; or one of
#                    coverage-python, coverage-cpp
#   make lint        style, types, layers, symbols, clang-tidy; alone: make tidy
#   make format      put Python and C++ into the house style
#   make fuzz        forge saved models by the thousand: make fuzz ARGS="--count 20000 --jobs 2"
#   make kills       kill runs at random moments and see that nothing is lost: make kills ARGS="--points"
#   make bench       speed against peers, in one process
#   make reproduce   a paper's tables and figures again: make reproduce ARGS="ramp table_1"
#   make wheel       sdist and wheels into dist/, for the Pythons of this machine, repaired and checked
#   make test-wheel  each of them in an empty environment of every Python that is found here
#   make test-aarch64  the C++ tests for 64-bit ARM, by a cross compiler and qemu
#   make docs        the documentation as a site under build/docs
#   make clean       forget everything that was built
#
# ARGS="..." goes to the program a target runs: make test-python ARGS="-k ramp", make demo ARGS=--help.

PYTHON ?= python3
JOBS   ?= 2
ARGS   ?=

# Real data for tests and benchmarks: a folder shared/data beside the checkout, where there is one.
ifndef ONLINESVM_DATA
ifneq ($(wildcard ../shared/data),)
export ONLINESVM_DATA := $(abspath ../shared/data)
endif
endif

bin    := .venv/bin
python := $(bin)/python
pip    := $(python) -m pip --disable-pip-version-check -qq install --no-compile
cmake  := $(bin)/cmake
cpp     = $(wildcard cpp/*/*.[ch]pp cpp/*/*.inl cpp/include/onlinesvm/*/*.hpp cpp/include/onlinesvm/*/*/*.hpp)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help build demo test test-python test-cpp test-all test-rest test-address test-thread \
    test-night test-spark inject mutants coverage coverage-python coverage-cpp lint tidy format fuzz \
    kills bench reproduce wheel test-wheel test-aarch64 docs clean

help:
	@sed -n '/^#   make /,/^$$/{s/^# \{0,3\}//p}' Makefile

# --- environment ---------------------------------------------------------------------------------

.venv/.made:
	@sh tools/doctor.sh $(PYTHON)
	@$(PYTHON) -m venv .venv
	@echo "fetching the build tools into .venv: seconds"
	@$(pip) "scikit-build-core>=1.1" "nanobind>=3.1" "cmake>=3.26" ninja setuptools wheel
	@touch $@

# The editable install is a path entry and the console script; the core is compiled by CMake below.
editable = $(pip) --no-build-isolation --config-settings=wheel.cmake=false \
    --config-settings=wheel.py-api=py3 --config-settings=editable.mode=inplace -e
# Another version is another CITATION.cff.
.venv/.installed: .venv/.made pyproject.toml CITATION.cff
	@echo "fetching numpy, scipy, scikit-learn and matplotlib (110 MB): about 20 s"
	@$(editable) ".[cli,report]"
	@touch $@

.venv/.%-extra: .venv/.installed
	@echo "fetching what $* needs $(size_of_$*)"
	@$(editable) ".[$*]"
	@touch $@

# Fetched when it is first asked for.
size_of_test  := (600 MB): a minute
size_of_lint  := (200 MB): half a minute
size_of_spark := (450 MB): a minute
testing  := .venv/.test-extra
linting  := .venv/.lint-extra
clusters := .venv/.spark-extra .venv/.dask-extra

# --- the compiled core ---------------------------------------------------------------------------

configure = $(cmake) -S . -B $(1) -G Ninja --log-level=WARNING \
    -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(bin)/ninja

# The modules as developers need them: with the windows that tests and benchmarks look through.
modules := -DONLINESVM_PROBES=ON -DPython_EXECUTABLE=$(CURDIR)/$(python)

build/native/build.ninja: .venv/.made Makefile
	@echo "compiling the core, where a compiler cache does not know it: 4 minutes of one core"
	@$(call configure,build/native) $(modules) -DONLINESVM_INPLACE=ON -DONLINESVM_TESTS=ON
	@touch $@

build/tidy/compile_commands.json: .venv/.made Makefile CMakeLists.txt cmake/algorithms.cmake \
    cpp/bind/algorithms.txt
	$(call configure,build/tidy) $(modules) -DONLINESVM_TESTS=ON -DCMAKE_UNITY_BUILD=OFF
	@touch $@

build/coverage/cpp/build.ninja: .venv/.made
	$(call configure,build/coverage/cpp) -DONLINESVM_PYTHON=OFF -DONLINESVM_TESTS=ON \
	    -DONLINESVM_COVERAGE=ON -DCMAKE_BUILD_TYPE=Debug

# The C++ tests and the Python module under the sanitizers of one kind.
build/address/build.ninja: sanitizers := address,undefined
build/thread/build.ninja: sanitizers := thread
build/address/build.ninja build/thread/build.ninja: .venv/.made Makefile
	@sh tools/doctor.sh $(PYTHON) sanitizers
	$(call configure,$(@D)) $(modules) -DONLINESVM_SANITIZE=$(sanitizers) -DONLINESVM_TESTS=ON \
	    -DCMAKE_BUILD_TYPE=Debug
	@touch $@

compile = @$(cmake) --build build/$(1) -j $(JOBS) --target $(2) -- --quiet

build: .venv/.installed build/native/build.ninja
	@NINJA_STATUS="compiling %f of %t after %e s: " $(cmake) --build build/native -j $(JOBS)

# --- everyday ------------------------------------------------------------------------------------

demo: build
	$(python) examples/demo.py $(ARGS)

pytest = $(python) -m pytest -q -n $(JOBS)
ctest  = $(bin)/ctest --test-dir $(1) -j $(JOBS) --output-on-failure --no-tests=error

# What belongs to which tier: tests/tiers.py.
test: test-cpp test-python
	@echo "make test: passed; make test-all runs the rest"

test-python: build $(testing)
	$(pytest) --tier=quick --durations=10 --durations-min=5 $(ARGS)

test-cpp: build/native/build.ninja
	$(call compile,native,tests)
	$(call ctest,build/native)

test-all: test test-address test-thread test-rest
	@echo "make test-all: passed"

test-rest: build $(testing) $(linting) $(clusters)
	$(pytest) --tier=rest $(ARGS)

# What hands memory to and fro, under ASan + UBSan; what threads share, under TSan.
test-address: $(testing) build/address/build.ninja
	$(call compile,address,all tests)
	$(call ctest,build/address)
	$(python) tools/sanitized.py address $(ARGS)

test-thread: $(testing) build/thread/build.ninja
	$(call compile,thread,all)
	$(python) tools/sanitized.py thread $(ARGS)

test-night: inject mutants coverage test-spark
	@$(MAKE) --no-print-directory test-address test-thread ARGS=--tier=all
	$(python) tools/fuzz_models.py --count 20000 --jobs $(JOBS)
	$(python) tools/fuzz_runs.py --count 20000 --jobs $(JOBS)
	$(python) tools/label_schedules.py --count 10000
	$(python) tools/kill_runs.py --kills 500
	$(python) tools/kill_runs.py --points
	HYPOTHESIS_PROFILE=explore $(pytest) -m "not slow" -k property
	@echo "make test-night: passed"

test-spark: build $(testing) $(clusters)
	ONLINESVM_SPARK_MASTER="local-cluster[2,1,1024]" $(python) -m pytest -q tests/cluster/spark $(ARGS)
	$(python) tools/kill_executors.py --kills 6

inject: build $(testing) build/address/build.ninja
	$(call compile,address,tests)
	@for program in build/address/test_inject_*; do ONLINESVM_INJECT=1 $$program || exit 1; done
	ONLINESVM_INJECT=1 $(pytest) tests/bind/test_inject.py

coverage: coverage-python coverage-cpp

coverage-python: build $(testing) $(clusters) .venv/.coverage-extra
	@mkdir -p build/coverage
	$(pytest) --cov --cov-report=html --cov-report=term:skip-covered $(ARGS)

# What the C++ tests run of the core.
coverage-cpp: .venv/.coverage-extra build/coverage/cpp/build.ninja
	$(call compile,coverage/cpp,tests)
	@find build/coverage/cpp -name "*.gcda" -delete
	$(call ctest,build/coverage/cpp)
	@mkdir -p build/coverage/html-cpp
	$(bin)/gcovr -j $(JOBS) --root . --filter cpp/include/ --filter cpp/lib/ --filter cpp/isa/ \
	    --merge-mode-functions=separate --merge-lines \
	    --gcov-ignore-parse-errors=negative_hits.warn_once_per_file \
	    --html-nested build/coverage/html-cpp/index.html --print-summary \
	    build/coverage/cpp

mutants: $(testing)
	$(python) tools/mutants.py $(ARGS)

lint: build $(testing) $(linting) $(clusters)
	$(bin)/ruff check .
	$(bin)/ruff format --check .
	$(bin)/clang-format --dry-run -Werror $(cpp)
	$(bin)/mypy
	$(bin)/lint-imports --no-logo
	$(python) tools/check_symbols.py build/native
	$(python) tools/prose.py
	$(python) tools/size.py
	@$(MAKE) --no-print-directory -j $(JOBS) tidy
	@echo "make lint: clean"

# What is compiled, and what includes the rest of cpp/include; a file that passed is asked again when
# any C++ file has changed. Headers of others are none of our business, nor worth the time.
tidied := $(wildcard cpp/bind/*.cpp cpp/lib/*.cpp cpp/probes/*.cpp) cpp/isa/dispatch.cpp \
    cpp/tests/test_store.cpp cpp/tests/test_inject_exact.cpp
others  = $(shell $(python) -m nanobind --include_dir) \
    $(shell $(python) -c "import sysconfig; print(sysconfig.get_path('include'))")

# One source per family, and one for POKER: cmake/algorithms.cmake.
methods := $(shell sed -n -e 's,^exact/poker .*,exact_poker,p' -e t \
    -e 's,^\([a-z]*\)/.*,\1,p' cpp/bind/algorithms.txt | sort -u)

tidy: $(tidied:%.cpp=build/tidy/%.ok) $(methods:%=build/tidy/methods/%.ok)

define ask_tidy
@mkdir -p $(@D)
@echo "clang-tidy $<"
@$(bin)/clang-tidy --quiet -p build/tidy $(others:%=--extra-arg=-isystem%) $<
@touch $@
endef
asked := $(cpp) .clang-tidy $(linting) build/tidy/compile_commands.json

build/tidy/cpp/%.ok: cpp/%.cpp $(asked)
	$(ask_tidy)

build/tidy/methods/%.ok: build/tidy/methods/%.cpp $(asked)
	$(ask_tidy)

.PRECIOUS: build/tidy/methods/%.cpp
build/tidy/methods/%.cpp: build/tidy/compile_commands.json ;

format: $(linting)
	$(bin)/ruff check --fix .
	$(bin)/ruff format .
	$(bin)/clang-format -i $(cpp)

fuzz: build $(testing)
	$(python) tools/fuzz_models.py $(ARGS)

kills: build $(testing)
	$(python) tools/kill_runs.py $(ARGS)

bench: build $(testing) .venv/.bench-extra
	$(python) -m bench $(ARGS)

reproduce: build $(testing) .venv/.bench-extra
	$(python) -m reproduce $(ARGS)

# --- releases ------------------------------------------------------------------------------------

wheel: .venv/.release-extra
	$(python) tools/wheels.py build

test-wheel: .venv/.release-extra
	$(python) tools/wheels.py test $(ARGS)

# What the hot loops are where the processor is another one; PROGRAMS="test_isa test_store" for some.
PROGRAMS ?= tests
build/aarch64/build.ninja: .venv/.made
	$(call configure,build/aarch64) -DONLINESVM_PYTHON=OFF -DONLINESVM_TESTS=ON \
	    -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
	    -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ \
	    -DCMAKE_CROSSCOMPILING_EMULATOR="qemu-aarch64-static;-L;/usr/aarch64-linux-gnu"

test-aarch64: build/aarch64/build.ninja
	$(call compile,aarch64,$(PROGRAMS))
	$(call ctest,build/aarch64) $(ARGS)

docs: build .venv/.docs-extra
	$(bin)/sphinx-build -W --keep-going -q -j $(JOBS) -d build/doctrees docs build/docs $(ARGS)
	@echo "written: build/docs/index.html"

clean:
	rm -rf .venv build dist src/onlinesvm/_*.so .pytest_cache .mypy_cache .ruff_cache \
	    .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
