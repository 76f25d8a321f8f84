# Every target does everything from nothing; only make, a C++20 compiler and Python >= 3.11 with its
# headers and venv are assumed. What is missing is said in one line: tools/doctor.sh.
#
#   make build       .venv, dependencies, the compiled core; Python files are live from src/
#   make demo        watch three machines learn a noisy stream, with a picture at the end
#   make test        Python tests and doctests, the C++ tests and the Python module under ASan + UBSan,
#                    what threads share under TSan; one by one: test-python, test-cpp,
#                    test-module-address, test-module-thread
#   make inject      every allocation, kernel call and poll made to fail once: make test takes a slice
#   make mutants     break the solvers on purpose and see a test go red for each: make mutants ARGS="--jobs 2"
#   make lint        style, types, layers, symbols
#   make format      put Python and C++ into the house style
#   make fuzz        forge saved models by the thousand: make fuzz ARGS="--count 20000 --jobs 2"
#   make bench       speed against peers, in one process
#   make reproduce   a paper's tables and figures again: make reproduce ARGS=stream
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
.PHONY: build demo test test-python test-cpp inject mutants lint format fuzz bench reproduce docs clean

# --- environment ---------------------------------------------------------------------------------

.venv/.made:
	@sh tools/doctor.sh $(PYTHON)
	$(PYTHON) -m venv .venv
	$(pip) install "scikit-build-core>=1.1" "nanobind>=3.1" "cmake>=3.26" ninja
	@touch $@

# The editable install is a path entry and the console script; the core is compiled by CMake below.
.venv/.installed: .venv/.made pyproject.toml
	$(pip) install --no-build-isolation --config-settings=wheel.cmake=false \
	    --config-settings=editable.mode=inplace -e ".[dev]"
	@touch $@

.venv/.%-extra: .venv/.installed
	$(pip) install --no-build-isolation --config-settings=wheel.cmake=false \
	    --config-settings=editable.mode=inplace -e ".[$*]"
	@touch $@

# --- the compiled core ---------------------------------------------------------------------------

configure = $(cmake) -S . -B $(1) -G Ninja --log-level=WARNING \
    -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(bin)/ninja

build/native/build.ninja: .venv/.made
	$(call configure,build/native) -DONLINESVM_INPLACE=ON -DPython_EXECUTABLE=$(CURDIR)/$(python)

build/sanitize/build.ninja: .venv/.made
	@sh tools/doctor.sh $(PYTHON) sanitizers
	$(call configure,build/sanitize) -DONLINESVM_PYTHON=OFF -DONLINESVM_TESTS=ON \
	    -DCMAKE_BUILD_TYPE=Debug

# The Python module under the sanitizers of one kind.
build/module-address/build.ninja: sanitizers := address,undefined
build/module-thread/build.ninja: sanitizers := thread
build/module-%/build.ninja: .venv/.made
	@sh tools/doctor.sh $(PYTHON) sanitizers
	$(call configure,build/module-$*) -DPython_EXECUTABLE=$(CURDIR)/$(python) \
	    -DONLINESVM_SANITIZE=$(sanitizers) -DCMAKE_BUILD_TYPE=Debug

build: .venv/.installed build/native/build.ninja
	@$(cmake) --build build/native -j $(JOBS) -- --quiet

# --- everyday ------------------------------------------------------------------------------------

demo: build
	$(bin)/onlinesvm demo $(ARGS)

test: test-python test-cpp $(if $(FAST),,test-module-address test-module-thread)
	@echo "make test: all of $^ passed"

test-python: build
	$(python) -m pytest -q -n $(JOBS) $(if $(FAST),-m "not slow") $(ARGS)

test-cpp: build/sanitize/build.ninja
	@$(cmake) --build build/sanitize -j $(JOBS) -- --quiet
	$(bin)/ctest --test-dir build/sanitize -j $(JOBS) --output-on-failure --no-tests=error

inject: build build/sanitize/build.ninja
	@$(cmake) --build build/sanitize -j $(JOBS) -- --quiet
	@for program in build/sanitize/test_inject_*; do ONLINESVM_INJECT=1 $$program || exit 1; done
	ONLINESVM_INJECT=1 $(python) -m pytest -q -n $(JOBS) tests/bind/test_inject.py

# What hands memory to and fro, under ASan + UBSan; what threads share, under TSan.
test-module-%: .venv/.installed build/module-%/build.ninja
	@$(cmake) --build build/module-$* -j $(JOBS) -- --quiet
	$(python) tools/sanitized.py $* $(ARGS)

mutants: .venv/.installed
	$(python) tools/mutants.py $(ARGS)

lint: build
	$(bin)/ruff check .
	$(bin)/ruff format --check .
	$(bin)/clang-format --dry-run -Werror $(cpp)
	$(bin)/mypy
	$(bin)/lint-imports --no-logo
	$(python) tools/check_symbols.py build/native
	@echo "make lint: clean"

format: .venv/.installed
	$(bin)/ruff check --fix .
	$(bin)/ruff format .
	$(bin)/clang-format -i $(cpp)

fuzz: build
	$(python) tools/fuzz_models.py $(ARGS)

bench: build .venv/.bench-extra
	$(python) -m bench $(ARGS)

reproduce: build .venv/.bench-extra
	$(python) -m reproduce $(ARGS)

docs: build .venv/.docs-extra
	NO_MKDOCS_2_WARNING=1 $(bin)/mkdocs build --strict --site-dir build/docs $(ARGS)

clean:
	rm -rf .venv build dist src/onlinesvm/_core*.so .pytest_cache .mypy_cache .ruff_cache \
	    .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
