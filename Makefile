# SPDX-License-Identifier: GPL-2.0-only
# The one entry point for people. `make help` lists the targets.

KERNEL ?= 6.12
KDIR ?= /lib/modules/$(shell uname -r)/build
PREFIX ?= /usr/local
OUT := out

SHELL := /bin/bash
CC ?= gcc
DRM_CFLAGS = $(shell pkg-config --cflags libdrm 2>/dev/null)
USER_CFLAGS = -std=gnu11 -O2 -g -Wall -Wextra -Werror -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 \
	-Iuapi -Itools/lib $(DRM_CFLAGS) $(CFLAGS)
LIB_SRC := $(wildcard tools/lib/*.c)
LIB_OBJ := $(LIB_SRC:tools/lib/%.c=$(OUT)/lib/%.o)
TOOL_SRC := $(wildcard tools/vfence/*.c tools/vfence/*/*.c)
TOOL_OBJ := $(TOOL_SRC:tools/vfence/%.c=$(OUT)/tool/%.o) $(OUT)/tool/trace/perfetto.pb-c.o
TOOL_CFLAGS = -Iinclude -Itools/vfence -I$(OUT)/tool/trace \
	$(shell pkg-config --cflags json-c libtracefs libtracecmd libprotobuf-c)
TOOL_LIBS = -ldrm -ljson-c -ltracecmd -ltracefs -ltraceevent -lprotobuf-c -lncurses -lpthread -lm
HEADERS := $(wildcard uapi/drm/*.h include/*.h tools/lib/*.h tools/d3dkmt/*.h tools/vfence/*.h tools/vfence/*/*.h selftests/drm/vfence/*.h)
GUEST_TESTS := $(shell awk '!/^\#/ && NF && $$2 != "host" { print $$1 }' selftests/drm/vfence/programs)
TEST_BIN := $(GUEST_TESTS:%=$(OUT)/selftests/%)

# Modules for guests are built with any compiler of the distribution and without BTF.
GUEST_KBUILD := CC="$(if $(shell command -v ccache),ccache )$(CC)" CONFIG_DEBUG_INFO_BTF_MODULES= \
	CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT= W=1 KCFLAGS="-Werror -g0" $(if $(filter uml%,$(KERNEL)),ARCH=um)

.PHONY: all module lib tool help setup setup-check demo check quick check-all matrix matrix-build mutants mutants-tools \
	races models check-busy check-debug check-kcsan check-tree check-trixie fuzz soak run shell kernel-patch rules \
	docs lint guest-module guest-steps guest-kcov guest-programs build-only clean install \
	modules_install dist packages check-packages

all: module lib tool

help:
	@echo 'make demo            two processes, two engines, one picture: out/demo'
	@echo 'make check           the selftests, in guests on a stock kernel (KERNEL=$(KERNEL));'
	@echo '                     PARTS="behaviour demo" for some of them, FRESH=1 for those that cannot have changed, too'
	@echo 'make quick           most of them after an edit, in a kernel that is a process;'
	@echo '                     DEBUG=1: with KASAN, lockdep, kmemleak and failing allocations'
	@echo 'make shell           a guest with module, library and command, and a shell for you'
	@echo 'make run PROGRAM=P   the same for one program of yours, with what follows it: "P -x"'
	@echo 'make                 module for this kernel (KDIR=...), libvfence, the vfence command'
	@echo 'make install         library, headers, command and manual (PREFIX=$(PREFIX))'
	@echo 'make modules_install the module for this kernel (KDIR=...)'
	@echo 'make packages        packages for Debian 12 and 13: out/packages'
	@echo 'make dist            a release: out/dist'
	@echo
	@echo 'make check-all       everything on one kernel: also all mutants and all races'
	@echo 'make mutants         steps left out, one by one: all must be caught (NAME="A B")'
	@echo 'make mutants-tools   the same of library, D3DKMT calls, Python module and vfence check'
	@echo 'make races           SEEDS=100 schedules of the race lab'
	@echo 'make models          the handshakes under weak memory, exhaustively, with their mutants'
	@echo 'make check-busy      close, kill and unload on a machine that is busy, slow and stops'
	@echo 'make matrix-build    the module against every kernel that Debian 12 and 13 carry'
	@echo 'make matrix          behaviour on the oldest and newest of each series, figures on the newest'
	@echo 'make check-tree      inside a kernel tree: patch, build, kselftest'
	@echo 'make check-trixie    demo and check on an empty Debian 13'
	@echo 'make check-packages  packages, installed, used, upgraded and removed on Debian 12 and 13'
	@echo 'make check-debug     races and the fuzzer on a kernel built for it: memory, locks, leaks'
	@echo 'make check-kcsan     data races, on another'
	@echo 'make bench           what operations cost beside drm_syncobj, ntsync, eventfd, futex: out/bench'
	@echo 'make bench-profile   OP=signal: in which functions the instructions of an operation are'
	@echo 'make bench-check     has anything become slower than tools/bench says'
	@echo 'make fuzz            SECONDS=60 SEED=1: random calls on that kernel, with coverage'
	@echo 'make soak            MINUTES=10: everything at once, then the counters must balance'
	@echo 'make rules           every WDDM, VF and TDR rule: proven, planned or not applicable'
	@echo 'make lint            checkpatch, sparse, rooms, words, mutants, race points, rules, docs'
	@echo 'make docs            the pages of Documentation as HTML: out/docs/index.html'
	@echo 'make kernel-patch    driver, header, documentation and selftests as a kernel patch'
	@echo 'make setup           only install and download what the above need'
	@echo 'make clean           remove out/'
	@echo
	@echo 'All set themselves up (root or sudo for missing packages); kernels are kept in'
	@echo '$${VFENCE_CACHE:-~/.cache/vfence}.'

# ------------------------------------------------------------------ building

module:
	@tools/build-module $(KDIR) $(OUT)/module/host
	@echo "built $(OUT)/module/host/vfence.ko"

lib: $(OUT)/lib/libvfence.a $(OUT)/lib/libvfence.so $(OUT)/lib/libvfence-d3dkmt.a

tool: $(OUT)/bin/vfence

$(OUT)/lib/%.o: tools/lib/%.c $(HEADERS)
	@mkdir -p $(@D)
	$(CC) $(USER_CFLAGS) -fPIC -fvisibility=hidden -c $< -o $@

$(OUT)/lib/libvfence.a: $(LIB_OBJ)
	ar rcs $@ $^

$(OUT)/lib/libvfence.so: $(LIB_OBJ) tools/lib/libvfence.map
	$(CC) $(LDFLAGS) -shared -Wl,-soname,libvfence.so.2 \
		-Wl,--version-script,tools/lib/libvfence.map -o $@ $(LIB_OBJ) -ldrm -lpthread

# The calls of a user-mode driver of Windows, for programs that link both libraries.
$(OUT)/d3dkmt/%.o: tools/d3dkmt/%.c $(HEADERS)
	@mkdir -p $(@D)
	$(CC) $(USER_CFLAGS) -fPIC -fvisibility=hidden -c $< -o $@

$(OUT)/lib/libvfence-d3dkmt.a: $(patsubst tools/d3dkmt/%.c,$(OUT)/d3dkmt/%.o,$(wildcard tools/d3dkmt/*.c))
	ar rcs $@ $^

# Under sanitizers, as the calls get handles and lengths from anywhere.
$(OUT)/selftests/d3dkmt: selftests/d3dkmt/d3dkmt.c $(wildcard tools/d3dkmt/*.c) $(OUT)/lib/libvfence.a $(HEADERS)
	@mkdir -p $(@D)
	$(CC) $(USER_CFLAGS) -Itools/d3dkmt -fsanitize=address,undefined -fno-sanitize-recover=all -Wno-clobbered \
		-Wno-sign-compare -Wno-unused-parameter -Wno-missing-field-initializers \
		-isystem $$(tools/vm/kselftest)/include \
		$< $(wildcard tools/d3dkmt/*.c) $(OUT)/lib/libvfence.a -ldrm -lpthread -o $@

# protoc writes the code that packs the messages of a Perfetto trace.
$(OUT)/tool/trace/perfetto.pb-c.c: tools/vfence/trace/perfetto.proto
	@mkdir -p $(@D)
	protoc --c_out=$(@D) --proto_path=$(<D) $<
$(OUT)/tool/trace/perfetto.pb-c.o: $(OUT)/tool/trace/perfetto.pb-c.c
	$(CC) $(USER_CFLAGS) $(TOOL_CFLAGS) -c $< -o $@
$(OUT)/tool/trace/perfetto.o: $(OUT)/tool/trace/perfetto.pb-c.c

$(OUT)/tool/%.o: tools/vfence/%.c $(HEADERS)
	@mkdir -p $(@D)
	$(CC) $(USER_CFLAGS) $(TOOL_CFLAGS) -c $< -o $@

$(OUT)/bin/vfence: $(TOOL_OBJ) $(OUT)/lib/libvfence.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $^ -o $@ $(TOOL_LIBS)

$(OUT)/selftests/%: selftests/drm/vfence/%.c $(OUT)/lib/libvfence.a $(HEADERS)
	@mkdir -p $(@D)
	$(CC) $(USER_CFLAGS) -Wno-clobbered -Wno-sign-compare -Wno-unused-parameter -Iinclude \
		-isystem $$(tools/vm/kselftest)/include $< $(OUT)/lib/libvfence.a -ldrm -lpthread -o $@

VERSION := $(shell awk '/define VFENCE_M/ { v = v s $$3; s = "." } END { print v }' include/vfence_version.h)
LIBDIR ?= $(PREFIX)/lib
# Debian's zsh looks for what packages bring in another folder than for what users install.
ZSHDIR ?= $(PREFIX)/share/zsh/$(if $(filter /usr,$(PREFIX)),vendor-completions,site-functions)

install: lib tool
	install -D -m 644 $(OUT)/lib/libvfence.a $(DESTDIR)$(LIBDIR)/libvfence.a
	install -D -m 644 $(OUT)/lib/libvfence-d3dkmt.a $(DESTDIR)$(LIBDIR)/libvfence-d3dkmt.a
	install -D -m 644 $(OUT)/lib/libvfence.so $(DESTDIR)$(LIBDIR)/libvfence.so.2
	ln -sf libvfence.so.2 $(DESTDIR)$(LIBDIR)/libvfence.so
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig
	sed 's#@PREFIX@#$(PREFIX)#; s#@LIBDIR@#$(LIBDIR)#; s#@VERSION@#$(VERSION)#' tools/lib/libvfence.pc.in \
		>$(DESTDIR)$(LIBDIR)/pkgconfig/libvfence.pc
	install -D -m 644 tools/lib/vfence.h $(DESTDIR)$(PREFIX)/include/vfence.h
	install -D -m 644 tools/d3dkmt/d3dkmthk.h $(DESTDIR)$(PREFIX)/include/vfence/d3dkmthk.h
	install -D -m 644 uapi/drm/vfence_drm.h $(DESTDIR)$(PREFIX)/include/drm/vfence_drm.h
	install -D -m 644 uapi/drm/vfence_gpu.h $(DESTDIR)$(PREFIX)/include/drm/vfence_gpu.h
	install -D -m 755 $(OUT)/bin/vfence $(DESTDIR)$(PREFIX)/bin/vfence
	install -d $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 tools/vfence/man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	install -d $(DESTDIR)$(PREFIX)/share/vfence/scenarios
	install -m 644 scenarios/*.json $(DESTDIR)$(PREFIX)/share/vfence/scenarios/
	install -D -m 644 tools/vfence/completion/vfence $(DESTDIR)$(PREFIX)/share/bash-completion/completions/vfence
	install -D -m 644 tools/vfence/completion/_vfence $(DESTDIR)$(ZSHDIR)/_vfence
	@# The loader must find the library. With DESTDIR that is the task of the packager.
	@[ -n "$(DESTDIR)" ] || ldconfig 2>/dev/null || \
		echo 'note: run ldconfig as root, or set LD_LIBRARY_PATH=$(LIBDIR)'

modules_install: module
	$(MAKE) -C $(KDIR) M=$(abspath $(OUT)/module/host) modules_install

# What a release is: the tree of the last commit, and its checksum.
dist:
	@mkdir -p $(OUT)/dist
	git archive --prefix=vfence-$(VERSION)/ HEAD | xz -9 >$(OUT)/dist/vfence-$(VERSION).tar.xz
	cd $(OUT)/dist && sha256sum vfence-$(VERSION).tar.xz >vfence-$(VERSION).tar.xz.sha256

# Packages of this tree for Debian: out/packages.
packages: setup
	@tools/vm/packages debhelper dh-dkms dh-python dpkg-dev fakeroot
	@tools/packages

check-packages: setup-check
	@tools/vm/packages check debhelper dh-dkms dh-python dpkg-dev fakeroot lintian debootstrap
	@tools/vm/check-packages

# -------------------------------------------------------------------- guests

# The sub-make sees the packages that setup has installed, with pkg-config.
setup:
	@tools/vm/packages
	@tools/vm/kernel $(KERNEL) >/dev/null

setup-check: setup
	@tools/vm/packages check
	@tools/vm/kselftest >/dev/null

guest-module:
	@tools/build-module $$(tools/vm/kernel $(KERNEL))/build $(OUT)/module/$(KERNEL) $(GUEST_KBUILD)

guest-steps:
	@tools/build-module $$(tools/vm/kernel $(KERNEL))/build $(OUT)/module/$(KERNEL)-steps \
		$(GUEST_KBUILD) VFENCE_RACE_POINTS=y

# A selftest loads this one.
guest-test-modules:
	@tools/build-test-modules $$(tools/vm/kernel $(KERNEL))/build $(OUT)/test-modules/$(KERNEL) \
		$(GUEST_KBUILD)

# The debug kernel takes a module with coverage, with line numbers to report it by, and with the delays
# of the test build.
guest-kcov:
	@tools/build-module $$(tools/vm/kernel kasan)/build $(OUT)/module/kasan-kcov \
		$(GUEST_KBUILD) KCFLAGS="-Werror -g" KCOV_INSTRUMENT=y VFENCE_RACE_POINTS=y

# The command once more, with sanitizers for memory and undefined behaviour.
$(OUT)/sanitized/vfence: $(TOOL_SRC) $(LIB_SRC) $(HEADERS) $(OUT)/tool/trace/perfetto.pb-c.o
	@mkdir -p $(@D)
	$(CC) $(USER_CFLAGS) $(TOOL_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all \
		$(TOOL_SRC) $(LIB_SRC) $(OUT)/tool/trace/perfetto.pb-c.o -o $@ $(TOOL_LIBS)

# The rules of vfence check against traces made by hand, which needs no guest.
SANITIZED := -fsanitize=address,undefined -fno-sanitize-recover=all
CHECK_SRC := $(wildcard tools/vfence/trace/check*.c)
CHECK_OBJ := $(CHECK_SRC:tools/vfence/trace/%.c=$(OUT)/host/%.o)
$(CHECK_OBJ): $(OUT)/host/%.o: tools/vfence/trace/%.c $(HEADERS)
	@mkdir -p $(@D)
	$(CC) $(USER_CFLAGS) $(TOOL_CFLAGS) $(SANITIZED) -c $< -o $@
$(OUT)/host/test_%.o: selftests/tool/%.c $(HEADERS)
	@mkdir -p $(@D)
	$(CC) $(USER_CFLAGS) $(TOOL_CFLAGS) $(SANITIZED) -Wno-clobbered -Wno-sign-compare -Wno-unused-parameter \
		-isystem $$(tools/vm/kselftest)/include -c $< -o $@
$(OUT)/host/check: $(OUT)/host/test_check.o $(CHECK_OBJ) $(filter-out $(OUT)/tool/main.o $(OUT)/tool/trace/check%,$(TOOL_OBJ)) \
		$(OUT)/lib/libvfence.a
	$(CC) $(LDFLAGS) $(SANITIZED) $^ -o $@ $(TOOL_LIBS)

guest-programs: $(TEST_BIN) $(OUT)/selftests/d3dkmt $(OUT)/sanitized/vfence tool lib

demo: setup
	@$(MAKE) --no-print-directory -s guest-module tool KERNEL=$(KERNEL)
	@tools/vm/demo $(KERNEL)

# Build the kernel that is a process only for parts that run in it.
PARTS_OF_UML := $(if $(PARTS),$(filter full pairs process-% mutants-tools,$(PARTS)),all)
check: setup-check
	@echo '[vfence] building module and programs'
	@$(MAKE) --no-print-directory -s guest-module guest-steps guest-test-modules KERNEL=$(KERNEL)
	@$(if $(PARTS_OF_UML),tools/vm/kernel uml >/dev/null && \
		$(MAKE) --no-print-directory -s guest-module guest-steps KERNEL=uml)
	@$(MAKE) --no-print-directory -s -j$$(nproc) guest-programs $(OUT)/host/check
	@tools/vm/check $(KERNEL) $(PARTS)

# The parts whose guests take the time of the host, on a machine that has something else to do.
BUSY ?= loops realtime stops
check-busy: setup-check
	@$(MAKE) --no-print-directory -s guest-module guest-steps guest-test-modules KERNEL=$(KERNEL)
	@$(MAKE) --no-print-directory -s -j$$(nproc) guest-programs $(OUT)/host/check
	@tools/vm/busy $(BUSY) -- tools/vm/check $(KERNEL) $(if $(PARTS),$(PARTS),ends holds)

# In a kernel that is a process, on its virtual clock; DEBUG=1: one that looks at memory and locks.
QUICK_KERNEL := $(if $(DEBUG),uml-debug,uml)
quick: setup-check
	@tools/vm/kernel $(QUICK_KERNEL) >/dev/null
	@$(MAKE) --no-print-directory -s guest-module $(if $(DEBUG),guest-steps) KERNEL=$(QUICK_KERNEL)
	@$(MAKE) --no-print-directory -s -j$$(nproc) guest-programs
	@tools/vm/check $(QUICK_KERNEL) process process-functions $(if $(DEBUG),process-pairs process-fuzz)

check-all:
	@$(MAKE) --no-print-directory check PARTS=full

# Build only the module, for another kernel than the one that is booted.
build-only: setup
	@$(MAKE) --no-print-directory -s guest-module KERNEL=$(KERNEL)
	@echo "built $(OUT)/module/$(KERNEL)/vfence.ko for $$(cat $$(tools/vm/kernel $(KERNEL))/version)"

# matrix runs the behaviour tests on some kernels of each series, matrix-build compiles for all.
matrix: setup-check
	@tools/vm/matrix

matrix-build: setup-check
	@tools/vm/matrix-build

# NAME="A_NO_RESAMPLE LOG_LATE" runs only these mutants.
mutants: setup-check
	@$(MAKE) --no-print-directory -s guest-programs guest-test-modules KERNEL=$(KERNEL)
	@tools/mutants/run $(KERNEL) $(NAME)

mutants-tools: setup-check
	@tools/vm/kernel uml >/dev/null
	@$(MAKE) --no-print-directory -s guest-module KERNEL=uml
	@$(MAKE) --no-print-directory -s -j$$(nproc) guest-programs $(OUT)/host/check
	@tools/mutants/run-tools $(NAME)

# The debug kernels are built once, into the cache. What needs no second processor is in quick DEBUG=1.
check-debug: setup-check
	@$(MAKE) --no-print-directory -s guest-module guest-steps guest-kcov guest-programs KERNEL=kasan
	@tools/vm/check kasan debug-races debug-holds fuzz

check-kcsan: setup-check
	@$(MAKE) --no-print-directory -s guest-module guest-steps guest-programs KERNEL=kcsan
	@tools/vm/check kcsan kcsan kcsan-verdict

fuzz: setup-check
	@$(MAKE) --no-print-directory -s guest-kcov guest-programs
	@tools/vm/fuzz $(SECONDS) $(SEED)

soak: setup-check
	@$(MAKE) --no-print-directory -s guest-module guest-programs KERNEL=$(KERNEL)
	@tools/vm/soak $(KERNEL) $(MINUTES)

SECONDS ?= 60
SEED ?= 1
MINUTES ?= 10
SEEDS ?= 100
FIRST ?= 1
races: setup-check
	@$(MAKE) --no-print-directory -s guest-steps guest-programs KERNEL=$(KERNEL)
	@tools/vm/races $(KERNEL) $(SEEDS) $(FIRST)

# Figures on the deterministic clock, beside other primitives; and whether they still hold.
bench: setup
	@$(MAKE) --no-print-directory -s tool
	@tools/vm/bench

bench-profile: setup
	@$(MAKE) --no-print-directory -s tool
	@tools/vm/bench-profile $(OP)

bench-check: setup-check
	@$(MAKE) --no-print-directory -s tool
	@tools/vm/check 6.12 bench

models: setup-check
	@tools/models/run

# A guest for a person, with module, library and command: run starts a program, shell a shell.
run: setup
	@$(MAKE) --no-print-directory -s guest-module lib tool KERNEL=$(KERNEL)
	@tools/vm/person $(KERNEL) $(PROGRAM)

shell: setup
	@$(MAKE) --no-print-directory -s guest-module lib tool KERNEL=$(KERNEL)
	@tools/vm/person $(KERNEL)

# Make a patch for a kernel tree; check-tree applies it to a copy of one.
kernel-patch:
	@tools/kernel-patch

check-tree: setup-check
	@tools/vm/check-tree

check-trixie:
	@tools/vm/check-trixie

rules:
	@tools/rules

docs:
	@tools/vm/packages perl python3-sphinx
	@tools/docs/build

lint: setup-check
	@tools/vm/packages check reuse perl python3-sphinx
	@tools/lint

clean:
	rm -rf $(OUT)
