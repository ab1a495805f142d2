# SPDX-License-Identifier: BSD-3-Clause
# Entry points. The build itself is CMake with presets (see CMakePresets.json); each target here
# is one script or one CMake command.

PREFIX ?= /opt/xylem

.PHONY: help demo check test mutants soak bench lint format install uninstall package clean

help:
	@echo 'make demo       run MPI programs with 64 and 1000 ranks, show the machine, a report and advice (under a minute)'
	@echo 'make check      the tests of what changed (under a minute); COMPONENT=coll for one component'
	@echo 'make test       a fixed set of every kind of check (about ten minutes on two idle cores)'
	@echo 'make soak       all tests, cases and mutants with new random numbers (hours; scripts/nightly.sh: two)'
	@echo 'make mutants    break one promise of the product at a time and see a test fail'
	@echo 'make bench      run the benchmarks (BENCH_ARGS=--quick for a short round)'
	@echo 'make lint       formatting, static analysis, sizes'
	@echo 'make format     lay out all C files with clang-format'
	@echo 'make install    install into PREFIX (now $(PREFIX)); DESTDIR is honoured'
	@echo 'make uninstall  remove what the last make install put into PREFIX'
	@echo 'make package    make build/package/xylem-*.deb, .rpm and .tar.gz (packaging/README.md)'
	@echo 'make clean      remove build/'

demo:
	@scripts/demo.sh

check:
	@scripts/check.py $(COMPONENT)

test:
	@scripts/test.sh

mutants:
	@scripts/test.sh mutants=all

soak:
	@XYLEM_SOAK=1 scripts/test.sh

bench:
	@bench/run.sh $(BENCH_ARGS)

lint:
	@scripts/lint.sh

format:
	@scripts/lint.sh reformat

install:
	@scripts/install.sh '$(PREFIX)'

uninstall:
	@scripts/install.sh --uninstall '$(PREFIX)'

package:
	@scripts/package.sh

clean:
	rm -rf build
