# The front door; CMake and Ninja do the work (CMakePresets.json).
BUILD := build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
export CTEST_PARALLEL_LEVEL ?= $(JOBS)
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(JOBS)

# GCC 12's thread sanitizer needs fewer random address bits than some kernels give.
STILL := $(shell setarch -R true 2>/dev/null && echo setarch -R)
say = @printf '\n== %s\n' "$(1)"

.PHONY: all
all: $(BUILD)/build.ninja
	@cmake --build --preset release

$(BUILD)/build.ninja: CMakePresets.json
	@cmake --preset release

.PHONY: help
help:
	@echo "make            build the program ($(BUILD)/sbps) and the library"
	@echo "make demo       simulate a table, sample its posterior, compare with the truth"
	@echo "make check      unit and property tests, digests, some command-line tests, lint"
	@echo "make test       make check, command-line, API, store, statistical, R and Python tests"
	@echo "make test-all   what make test leaves out: sanitizers, clang, clang-tidy, fault injection, R CMD check, browser,"
	@echo "                figures, MPI, statistical tests at full length; make test test-all runs everything"
	@echo "make soak       large samples, long fuzzing, everything under every sanitizer and compiler; hours"
	@echo "make test-peers tests of the Python package with ArviZ, scikit-learn, polars, pyarrow, DuckDB and mypy from pip"
	@echo "make bench      rows and seconds per effective sample against the table's size, kernels; BENCH='--seeds 10'"
	@echo "make bench-peers  the same beside RStan, importance sampling and our other samplers (BENCH likewise)"
	@echo "make figures    every experiment of the paper, run and drawn into $(BUILD)/figures; FULL=1 for its own lengths"
	@echo "make lint       formatting, folder rules, exported names, docs pages"
	@echo "make install    into PREFIX=$(PREFIX); DESTDIR is honoured"
	@echo "make install-python  the Python package, for you, or into PREFIX where that is given; PYTHON=python3"
	@echo "make install-r  the R package, for you, or into PREFIX where that is given, after make install"
	@echo "make asan       build with address and undefined sanitizers; unit and property tests"
	@echo "make tsan       the same with the thread sanitizer"
	@echo "make clang      build and test with clang"
	@echo "make coverage   build and test with counts; the share of branches taken per module"
	@echo "make packages   install the Debian packages that building needs"
	@echo "make clean      remove every build directory"

.PHONY: packages
packages:
	@scripts/install-packages.sh build
%-packages:
	@scripts/install-packages.sh $*

.PHONY: demo
demo: packages
	@$(MAKE) --no-print-directory $(BUILD)/build.ninja
	@cmake --build --preset release --target sbps
	@scripts/demo.sh $(BUILD)

# Tiers of tests: tests/CMakeLists.txt. $(call build-tests,TIER) $(call run-tests,REGEX of tiers)
build-tests = @cmake --build --preset release --target all all_verify_interface_header_sets tests-$(1)
run-tests = @ctest --preset release -L '$(1)'

.PHONY: check
check: check-packages
	@$(MAKE) --no-print-directory $(BUILD)/build.ninja
	$(call build-tests,check)
	$(call run-tests,^check$$)
	@scripts/lint.sh . $(BUILD)
	$(call say,all is well)

.PHONY: test
test: test-packages
	@$(MAKE) --no-print-directory $(BUILD)/build.ninja
	$(call build-tests,test)
	$(call run-tests,^(check|test)$$)
	@scripts/lint.sh . $(BUILD)
	$(call say,all is well; make test-all has what is left)

# Parts of make test-all; each runs by itself, too. SBPS_TEST_DEADLINE limits them: scripts/test-parts.sh.
TEST_PARTS := test-rest test-tidy test-asan test-tsan test-clang
.PHONY: test-all
test-all: all-packages
	@scripts/test-parts.sh $(TEST_PARTS)

# Under sanitizers and clang: unit and property tests, but large samples and fuzzing by clang.
.PHONY: $(TEST_PARTS)
test-rest: $(BUILD)/build.ninja
	$(call build-tests,all)
	$(call run-tests,^all$$)
	@SBPS_LENGTH=full ctest --preset release -L '^sized$$' -E '^fuzz/'
test-tidy: all
	@SBPS_TIDY=1 scripts/lint.sh . $(BUILD)
test-asan:
	@cmake --preset asan >/dev/null
	@cmake --build --preset asan
	@ctest --preset asan -LE '^(large|soak)$$' -E '^fuzz/'
	@SBPS_LENGTH=full ctest --preset asan -R '^fuzz/'
test-tsan:
	@cmake --preset tsan >/dev/null
	@cmake --build --preset tsan --target tests-threads
	@$(STILL) ctest --preset tsan -L '^threads$$'
test-clang:
	@cmake --preset clang >/dev/null
	@cmake --build --preset clang
	@ctest --preset clang -L '^(unit|property)$$' -LE '^(large|soak)$$' -E '^fuzz/'

# Packages that Debian does not have come from pip, into $(BUILD)/peers.
.PHONY: test-peers
test-peers: all
	@tests/python/peers.sh $(BUILD)

.PHONY: soak
soak: export SBPS_LENGTH := soak
soak: export SBPS_FAULT_TRIES := 200
soak: all-packages
	@$(MAKE) --no-print-directory $(BUILD)/build.ninja
	$(call build-tests,soak)
	@ctest --preset release
	@$(MAKE) --no-print-directory asan tsan clang lint
	$(call say,all is well)

.PHONY: dev asan tsan clang coverage
dev asan clang:
	@cmake --preset $@ >/dev/null
	@cmake --build --preset $@
	@ctest --preset $@
coverage:
	@cmake --preset $@ >/dev/null
	@cmake --build --preset $@
	@ctest --preset $@; failed=$$?; scripts/coverage.py build-$@; exit $$failed
tsan:
	@cmake --preset $@ >/dev/null
	@cmake --build --preset $@
	@$(STILL) ctest --preset $@

.PHONY: bench bench-peers
# Options of bench/scale.py and bench/peers.py, such as --sizes 1e3,1e4 --seeds 10; both write bench/RESULTS.md.
BENCH ?=
bench: test-packages all
	@cmake --build $(BUILD) --target bench-kernels bench-proposals bench-parse bench-banana
	@$(BUILD)/bench-parse
	@$(BUILD)/bench-banana
	@bench/scale.py --build $(BUILD) --write $(BENCH)
	@bench/referee.py --program $(BUILD)/sbps --write
bench-peers: bench-packages all
	@bench/peers.py --write $(BENCH)
	@bench/point_estimate.py --program $(BUILD)/sbps

.PHONY: figures
figures: figures-packages
	@$(MAKE) --no-print-directory $(BUILD)/build.ninja
	@cmake --build --preset release --target sbps
	@experiments/run --program $(BUILD)/sbps -o $(BUILD)/figures
	@experiments/page $(BUILD)/figures

.PHONY: lint
lint: all
	@scripts/lint.sh . $(BUILD)

.PHONY: install
install: all
	@cmake --install $(BUILD) --prefix $(PREFIX)

.PHONY: install-python
PYTHON ?= python3
install-python: all
	@scripts/install-python.sh $(BUILD) $(PYTHON) $(if $(filter file,$(origin PREFIX)),,$(PREFIX))

# The library must be installed in PREFIX before. R_LIBRARY: where R keeps packages.
.PHONY: install-r
OWN_PACKAGES = $(shell Rscript --vanilla -e 'cat(path.expand(Sys.getenv("R_LIBS_USER")))' 2>/dev/null)
R_LIBRARY ?= $(if $(filter file,$(origin PREFIX)),$(OWN_PACKAGES),$(PREFIX)/lib/R/site-library)
install-r:
	@command -v Rscript >/dev/null || { echo "Rscript is not there: install r-base-core and r-base-dev"; exit 1; }
	@mkdir -p "$(R_LIBRARY)"
	@SBPS_PREFIX=$(PREFIX) R CMD INSTALL --preclean --clean --library="$(R_LIBRARY)" bindings/R

.PHONY: clean
clean:
	@rm -rf build build-*
