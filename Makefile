# SPDX-License-Identifier: GPL-2.0
#
# Everything that is made goes to build/, and each step redoes only what changed.
# Steps install the packages they miss; see tools/series/deps.

# Each script decides by itself how to use the machine; kbuild and the native
# harness would take our flags and variables for their own.
unexport MAKEFLAGS KSRC

QEMU := tools/testing/qemu

ifeq ($(BASE),newest)
GOALS := $(or $(MAKECMDGOALS),help)
.PHONY: $(GOALS)
$(GOALS):
	@tools/series/newest $@ $(MAKEOVERRIDES)
else

.PHONY: help prepare kernel run shell torture debug clients test test-long test-arch kunit mutants litmus bench bench-guest patches check check-fast fresh clean
.DEFAULT_GOAL := help

help:
	@echo 'A ring buffer for ftrace, as a patch series for Linux 6.12.'
	@echo
	@echo '  make run          build the patched kernel, boot it in QEMU and show tracing at work; draws'
	@echo '                    build/run/demo/trace.svg and session.svg, tasks.svg of trace.dat, which the'
	@echo '                    kernel wrote, and crash.svg of a panic; the pictures of the README are'
	@echo '                    copies: cp build/run/demo/trace.svg Documentation/trace/ring-buffer-trace.svg;'
	@echo '                    cp build/run/demo/session.svg Documentation/trace/ring-buffer-channels.svg;'
	@echo '                    $(QEMU)/picture-kernelshark build/run/demo/trace.dat'
	@echo '                    Documentation/trace/ring-buffer-kernelshark.png'
	@echo '  make test         run the tests: in user space, in a user-mode kernel, in the guest'
	@echo '  make test-long    those that take hours or seldom fail: under sanitizers, broken on purpose in 40'
	@echo '                    places at random (SEED=N: these again), with weaker memory order, on 32 bits, and'
	@echo '                    in kernels that check themselves'
	@echo
	@echo '  make test-arch    the tests on another kind of machine, emulated: ARCH=arm, arm64 or s390 (big-endian)'
	@echo '  make bench        measure the ring buffer beside the base'\''s and others: a table, and in'
	@echo '                    build/bench/ bench.json, bench.svg, figures.md and figures.rst; the table of the README'
	@echo '                    is a copy of figures.md, those of Documentation/trace/ring-buffer-bench.rst of'
	@echo '                    figures.rst, and the chart is one of bench.svg of the same run:'
	@echo '                    cp build/bench/bench.svg Documentation/trace/ring-buffer-bench.svg'
	@echo '  make bench-guest  the same for kernels in the guest, counted in instructions (an hour)'
	@echo '  make kunit        the unit tests, in a user-mode kernel'
	@echo '  make mutants      break the ring buffer, and what is built on it, in one place: a test must fail;'
	@echo '                    N=40 SEED=1 takes so many at random, all of them take hours'
	@echo '  make shell        a shell in the guest, with trace-cmd, perf, ftrace2perf, python3 and less'
	@echo '  make torture      everything at once, at random, in the guest; each record accounted for;'
	@echo '                    MINUTES=10, CPUS=4 and SEED=0 (0: at the time) can be set'
	@echo '  make debug        our tests in the guest, in a kernel with KASAN, lockdep, kmemleak and failing'
	@echo '                    allocations, in one with KCSAN, and in a real-time one; by hand, they take hours'
	@echo '  make clients      the newest libtracefs, of Debian sid, on this kernel and the unpatched one; by hand'
	@echo '  make litmus       litmus tests, and models of the ring buffer in small, explored completely'
	@echo '  make prepare      build/linux: the kernel source with the series on it'
	@echo '  make kernel       build/kernel: the kernel built from that'
	@echo '  make patches      build/patches: a folder for each series, ready to mail: the ring buffer first,'
	@echo '                    then snapshots, instances, stops, perf events, and /proc/PID/trace'
	@echo '  make check        style, documentation, warnings, sparse and each prefix of the series'
	@echo '  make check-fast   those of them that take only seconds'
	@echo '  make fresh        make run and make test in a bare Debian 12 of their own; by hand, as root,'
	@echo '                    an hour and a half; tools/testing/fresh-machine -h says how to try parts'
	@echo '  make clean        remove build/'
	@echo
	@echo '  KSRC=PATH         take that Linux 6.12.y source, not Debian'\''s linux-source-6.12'
	@echo '  BASE=newest       work on the newest kernel of Debian sid, or with KSRC=PATH that one of 7.2 or later;'
	@echo '                    all output is in build/newest/build'
	@echo '  DEPS=skip         do not look for missing packages'

prepare:
	@KSRC='$(KSRC)' tools/series/base
	@tools/series/lay build/base build/linux

kernel: prepare
	@$(QEMU)/build-kernel build/linux build/kernel

run: kernel
	@$(QEMU)/run-demo

shell: kernel
	@$(QEMU)/shell

MINUTES ?= 10
CPUS ?= 4
SEED ?= 0
torture: kernel
	@$(QEMU)/run-torture -t $$((60 * $(MINUTES))) -c $(CPUS) -s $(SEED)

debug: prepare
	@$(QEMU)/run-debug

clients: prepare
	@$(QEMU)/clients-new

# No prerequisite but the sources: a kernel that does not build fails the guest's
# ring and no other.
test: prepare
	@tools/series/test

test-long: kernel
	@SEED='$(filter-out 0,$(SEED))' tools/series/test long

test-arch: prepare
	@tools/series/test arch '$(ARCH)'

litmus:
	@KSRC='$(KSRC)' tools/series/base
	@tools/testing/ring-buffer/run-litmus

bench: prepare
	@tools/testing/ring-buffer/run-bench -o build/bench

bench-guest: prepare
	@$(QEMU)/run-bench

kunit: prepare
	@tools/testing/ring-buffer/run-kunit

mutants: kernel
	@tools/testing/ring-buffer/run-mutants $(if $(N),-n $(N)) $(addprefix -s ,$(filter-out 0,$(SEED)))

patches:
	@KSRC='$(KSRC)' tools/series/base
	@tools/series/patches

check: prepare
	@tools/series/check

check-fast: prepare
	@tools/series/check fast

fresh:
	@tools/testing/fresh-machine

clean:
	rm -rf build

endif
