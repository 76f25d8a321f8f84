# Every target does everything from nothing; only make, a C++20 compiler and Python >= 3.11 with its
# headers and venv are assumed. What is missing is said in one line: tools/doctor.sh.
#
#   make build       .venv, dependencies, the compiled core; Python files are live from src/
#   make demo        watch three machines learn a noisy stream, with a picture at the end
#   make test        Python tests and doctests, the C++ tests and the Python module under ASan + UBSan,
#                    what threads share under TSan; one by one: test-python, test-cpp,
#                    test-module-address, test-module-thread
#   make test-spark  all Spark tests on two real executors, some of which are killed; needs Java
#   make inject      every allocation, kernel call and poll made to fail once: make test takes a slice
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
# ARGS="..." goes to the program a target runs: make test ARGS="-k ramp", make demo ARGS=--help.

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
pip    := PIP_NO_COMPILE=1 $(python) -m pip --disable-pip-version-check -qq
cmake  := $(bin)/cmake
cpp     = $(wildcard cpp/*/*.[ch]pp cpp/*/*.inl cpp/include/onlinesvm/*/*.hpp)

.DEFAULT_GOAL := build
.DELETE_ON_ERROR:
.PHONY: build demo test test-python test-cpp coverage coverage-python coverage-cpp inject mutants \
    test-spark lint tidy format fuzz kills bench reproduce wheel test-wheel test-aarch64 docs clean

# --- environment ---------------------------------------------------------------------------------

.venv/.made:
	@sh tools/doctor.sh $(PYTHON)
	$(PYTHON) -m venv .venv
	$(pip) install "scikit-build-core>=1.1" "nanobind>=3.1" "cmake>=3.26" ninja
	@touch $@

# The editable install is a path entry and the console script; the core is compiled by CMake below.
editable = $(pip) install --config-settings=wheel.cmake=false \
    --config-settings=wheel.py-api=py3 --config-settings=editable.mode=inplace -e
# Another version is another CITATION.cff.
.venv/.installed: .venv/.made pyproject.toml CITATION.cff
	$(editable) ".[dev]"
	@touch $@

.venv/.%-extra: .venv/.installed
	$(editable) ".[$*]"
	@touch $@

# Half a gigabyte that only tests and type checks need: a demo does not wait for it.
clusters := .venv/.spark-extra .venv/.dask-extra

# --- the compiled core ---------------------------------------------------------------------------

configure = $(cmake) -S . -B $(1) -G Ninja --log-level=WARNING \
    -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(bin)/ninja

# The modules as developers need them: with the windows that tests and benchmarks look through.
modules := -DONLINESVM_PROBES=ON -DPython_EXECUTABLE=$(CURDIR)/$(python)

build/native/build.ninja: .venv/.made Makefile
	$(call configure,build/native) $(modules) -DONLINESVM_INPLACE=ON
	@touch $@

build/tidy/compile_commands.json: .venv/.made Makefile CMakeLists.txt cmake/algorithms.cmake \
    cpp/bind/algorithms.txt
	$(call configure,build/tidy) $(modules) -DONLINESVM_TESTS=ON
	@touch $@

build/sanitize/build.ninja: .venv/.made
	@sh tools/doctor.sh $(PYTHON) sanitizers
	$(call configure,build/sanitize) -DONLINESVM_PYTHON=OFF -DONLINESVM_TESTS=ON \
	    -DCMAKE_BUILD_TYPE=Debug

build/coverage/cpp/build.ninja: .venv/.made
	$(call configure,build/coverage/cpp) -DONLINESVM_PYTHON=OFF -DONLINESVM_TESTS=ON \
	    -DONLINESVM_COVERAGE=ON -DCMAKE_BUILD_TYPE=Debug

# The Python module under the sanitizers of one kind.
build/module-address/build.ninja: sanitizers := address,undefined
build/module-thread/build.ninja: sanitizers := thread
build/module-%/build.ninja: .venv/.made Makefile
	@sh tools/doctor.sh $(PYTHON) sanitizers
	$(call configure,build/module-$*) $(modules) -DONLINESVM_SANITIZE=$(sanitizers) \
	    -DCMAKE_BUILD_TYPE=Debug
	@touch $@

build: .venv/.installed build/native/build.ninja
	@$(cmake) --build build/native -j $(JOBS) -- --quiet

# --- everyday ------------------------------------------------------------------------------------

demo: build
	$(bin)/onlinesvm demo $(ARGS)

test: test-python test-cpp $(if $(FAST),,test-module-address test-module-thread)
	@echo "make test: all of $^ passed"

pytest = $(python) -m pytest -q -n $(JOBS) $(if $(FAST),-m "not slow")
ctest  = $(bin)/ctest --test-dir $(1) -j $(JOBS) --output-on-failure --no-tests=error

test-python: build $(clusters)
	$(pytest) $(ARGS)

test-cpp: build/sanitize/build.ninja
	@$(cmake) --build build/sanitize -j $(JOBS) -- --quiet
	$(call ctest,build/sanitize)

test-spark: build $(clusters)
	ONLINESVM_SPARK_MASTER="local-cluster[2,1,1024]" $(python) -m pytest -q tests/spark $(ARGS)
	$(python) tools/kill_executors.py --kills 6

inject: build build/sanitize/build.ninja
	@$(cmake) --build build/sanitize -j $(JOBS) -- --quiet
	@for program in build/sanitize/test_inject_*; do ONLINESVM_INJECT=1 $$program || exit 1; done
	ONLINESVM_INJECT=1 $(python) -m pytest -q -n $(JOBS) tests/bind/test_inject.py

# What hands memory to and fro, under ASan + UBSan; what threads share, under TSan.
test-module-%: .venv/.installed build/module-%/build.ninja
	@$(cmake) --build build/module-$* -j $(JOBS) -- --quiet
	$(python) tools/sanitized.py $* $(ARGS)

coverage: coverage-python coverage-cpp

coverage-python: build $(clusters)
	@mkdir -p build/coverage
	$(pytest) --cov --cov-report=html --cov-report=json $(ARGS)
	$(python) tools/coverage_table.py build/coverage/python.json src/onlinesvm

# What the C++ tests run of the core.
coverage-cpp: .venv/.installed build/coverage/cpp/build.ninja
	@$(cmake) --build build/coverage/cpp -j $(JOBS) -- --quiet
	@find build/coverage/cpp -name "*.gcda" -delete
	$(call ctest,build/coverage/cpp)
	@mkdir -p build/coverage/html-cpp
	$(bin)/gcovr -j $(JOBS) --root . --filter cpp/include/ --filter cpp/isa/ \
	    --merge-mode-functions=separate --merge-lines \
	    --gcov-ignore-parse-errors=negative_hits.warn_once_per_file \
	    --html-nested build/coverage/html-cpp/index.html --json-summary build/coverage/cpp.json \
	    build/coverage/cpp
	$(python) tools/coverage_table.py build/coverage/cpp.json cpp

mutants: .venv/.installed
	$(python) tools/mutants.py $(ARGS)

lint: build $(clusters)
	$(bin)/ruff check .
	$(bin)/ruff format --check .
	$(bin)/clang-format --dry-run -Werror $(cpp)
	$(bin)/mypy
	$(bin)/lint-imports --no-logo
	$(python) tools/check_symbols.py build/native
	@$(MAKE) --no-print-directory -j $(JOBS) tidy
	@echo "make lint: clean"

# What is compiled, and what includes the rest of cpp/include; a file that passed is asked again when
# any C++ file has changed. Headers of others are none of our business, nor worth the time.
tidied := $(wildcard cpp/bind/*.cpp cpp/probes/*.cpp) cpp/isa/dispatch.cpp \
    cpp/tests/test_store.cpp cpp/tests/test_inject_exact.cpp
others  = $(shell $(python) -m nanobind --include_dir) \
    $(shell $(python) -c "import sysconfig; print(sysconfig.get_path('include'))")

families := $(shell sed -n 's,^\([a-z]*\)/.*,\1,p' cpp/bind/algorithms.txt | sort -u)

tidy: $(tidied:%.cpp=build/tidy/%.ok) $(families:%=build/tidy/bind/%.ok)

define ask_tidy
@mkdir -p $(@D)
@echo "clang-tidy $<"
@$(bin)/clang-tidy --quiet -p build/tidy $(others:%=--extra-arg=-isystem%) $<
@touch $@
endef
asked := $(cpp) .clang-tidy .venv/.installed build/tidy/compile_commands.json

build/tidy/cpp/%.ok: cpp/%.cpp $(asked)
	$(ask_tidy)

build/tidy/bind/%.ok: build/tidy/bind/%.cpp $(asked)
	$(ask_tidy)

.PRECIOUS: build/tidy/bind/%.cpp
build/tidy/bind/%.cpp: build/tidy/compile_commands.json ;

format: .venv/.installed
	$(bin)/ruff check --fix .
	$(bin)/ruff format .
	$(bin)/clang-format -i $(cpp)

fuzz: build
	$(python) tools/fuzz_models.py $(ARGS)

kills: build
	$(python) tools/kill_runs.py $(ARGS)

bench: build .venv/.bench-extra
	$(python) -m bench $(ARGS)

reproduce: build .venv/.bench-extra
	$(python) -m reproduce $(ARGS)

# --- releases ------------------------------------------------------------------------------------

wheel: .venv/.release-extra
	$(python) tools/wheels.py build

test-wheel: .venv/.release-extra
	$(python) tools/wheels.py test $(ARGS)

# What the hot loops are where the processor is another one; PROGRAMS="test_isa test_store" for some.
PROGRAMS ?= all
build/aarch64/build.ninja: .venv/.made
	$(call configure,build/aarch64) -DONLINESVM_PYTHON=OFF -DONLINESVM_TESTS=ON \
	    -DONLINESVM_SANITIZE=OFF -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
	    -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ \
	    -DCMAKE_CROSSCOMPILING_EMULATOR="qemu-aarch64-static;-L;/usr/aarch64-linux-gnu"

test-aarch64: build/aarch64/build.ninja
	@$(cmake) --build build/aarch64 -j $(JOBS) -- --quiet $(PROGRAMS)
	$(call ctest,build/aarch64) $(ARGS)

docs: build .venv/.docs-extra
	NO_MKDOCS_2_WARNING=1 $(bin)/mkdocs build --strict --site-dir build/docs $(ARGS)

clean:
	rm -rf .venv build dist src/onlinesvm/_*.so .pytest_cache .mypy_cache .ruff_cache \
	    .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
