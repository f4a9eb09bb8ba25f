# SPDX-License-Identifier: Apache-2.0
# Thin over meson and ninja: every target installs the packages it misses (tools/packages.txt), says what
# it is doing, and keeps the details in build/logs.
#
#   make             build; every program is in build/bin and runs from there
#   make demo        a virtual GPU cluster and a multi-node job on it, from nothing
#   make test        everything; the last line is "N passed, N failed"
#   make asan-test   the unit, simulation and system tests under ASan and UBSan
#   make bench       how fast it is on this machine, as a table and in build/bench.json
#   make install PREFIX=/usr/local [DESTDIR=]
#   make clean

PREFIX ?= /usr/local
# A python or meson of the user's own may come first in PATH; the build uses the distribution's.
export PATH := /usr/bin:/bin:$(PATH)
export PYTHONDONTWRITEBYTECODE := 1
STEP := tools/step

.PHONY: all demo test asan-test bench install clean build-packages test-packages build-asan
all: build-packages
	@$(STEP) build "building (gcc, build/bin)" tools/build build gcc

demo: all
	@demo/demo.sh

test: test-packages
	@tools/test gcc asan

asan-test: test-packages
	@tools/test asan

bench: all
	@/usr/bin/python3 test/bench/bench.py --json build/bench.json

install: all
	@$(STEP) install "installing into $(DESTDIR)$(PREFIX)" tools/install "$(PREFIX)" "$(DESTDIR)"

clean:
	rm -rf build build-asan

build-packages:
	@tools/install-packages build

test-packages:
	@tools/install-packages build test
