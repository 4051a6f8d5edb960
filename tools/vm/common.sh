# SPDX-License-Identifier: GPL-2.0-only
# Functions of the scripts of this folder: messages, the cache, commands as root.
# shellcheck shell=bash

export LC_ALL=C
VM_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$VM_DIR/../.." && pwd)
CACHE=${VFENCE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/vfence}

# Modules are compiled many times: for each kernel and for each mutant. ccache compiles only
# files that have changed, in whichever folder the source is.
export CCACHE_DIR=$CACHE/ccache CCACHE_BASEDIR=$TOP CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=2G \
	CCACHE_COMPILERCHECK=content CCACHE_SLOPPINESS=time_macros
KCC=${CC:-gcc}
! command -v ccache >/dev/null || KCC="ccache $KCC"

# The adapters that the selftests expect:
#   0  the default
#   1  no room for interrupt records, two doorbells, no user-mode queues on its
#      MM node, no fences of type INTRA_GPU, no secondary doorbells
#   2  fences with another stride and bounded addresses, mapped for the system
#      process; fewer versions; hardly any video memory, but monitored values in it
#   3  native fences switched off
#   4  as 3, but the GPU advertises native fences: must fail to probe
#   5  native fences that are experimental
#   6  native fences that do not work on this configuration
#   7  user-mode submission switched off
#   8  interrupts that name the queue, with monitored values in video memory
#   9  as 8, without room for interrupt records; engines that report when they hang
#   10 interrupts that name nothing; engines that ask for F1
#   11 engines that report when they hang; COMPUTE and MM are reset together
#   12 the GPU writes 32 bits at once
#   13 as 12, with interrupts for monitored fences
#   14 native fences that are experimental, which is allowed
# The parameters override the versions of 5 and 6; the versions stay unsupported.
# Monitored fences are signaled by packets on 0, 5, 7 to 9, 11 and 12, with interrupts on 1, 6,
# 10 and 13, and by software on 2 and 3.
# shellcheck disable=SC2034
PARAMS="adapters=15 no_64bit_atomics=0,0,0,0,0,0,0,0,0,0,0,0,1,1 \
secondary_doorbells=1,0 user_nodes=0xf,0x7 doorbells=16,2 \
irq_records=64,0,64,64,64,64,64,64,64,0 irq_form=0,0,0,0,0,0,0,0,1,1,2 \
fence_stride=64,64,128 fence_min_va=0,0,0x1fc000000 fence_max_va=0,0,0x200000000 \
map_to_system=0,0,1 native_fence_min=0,0,1,0,0,2,1 native_fence_max=0,0,2,0,0,3,3 \
native_fence=1,1,1,0,0,1,1,1 gpu_native_fence=1,1,1,1,4,2,3,1,1,1,1,1,1,1,2 \
allow_experimental=0,0,0,0,0,0,0,0,0,0,0,0,0,0,1 \
user_mode_submission=1,1,1,1,1,1,1,0 f1_idle_us=0,0,0,0,0,0,0,0,0,0,500 \
hung_us=0,0,0,0,0,0,0,0,0,20000,0,20000 \
dependent_nodes=0,0,0x1a,0,0,0,0,0,0,0,0,0xa intra_gpu_fences=1,0 monitored_signal=1,2,0,0,1,1,2,1,1,1,2,1,1,2 \
optimized_fences=0,0,1,0,0,0,0,0,1 local_pages=256,256,6 visible_pages=64,64,2"
# Adapter 0 has two virtual functions: their numbers are 16 and 17.
TWO_FUNCTIONS="vfs=2"
# Adapters of the race lab: with an interrupt ring of two records and of none, then the other forms.
# Engines say that they hang, and GFX and COPY are reset together. The last one has functions.
LAB_PARAMS="adapters=5 irq_records=2,0,2,64 irq_form=0,0,1,2 doorbells=16,2 hung_us=5,5,5,5 \
dependent_nodes=5,5,5,5"
# On two processors tests are to meet races: an engine that rests for three quarters of the time
# misses most of them.
RACE_PARAMS="cpu_percent=50$(printf ',50%.0s' {1..15})"

say() { printf '[vfence] %s\n' "$*" >&2; }
die() { printf '[vfence] error: %s\n' "$*" >&2; exit 1; }

# as_root COMMAND...: runs the command directly if we are root, and through sudo otherwise.
as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "need root (or sudo) for: $*"
	fi
}

# ends_of_series: prints the oldest and the newest release of 6.1, 6.12, 7.2, ...; a series may
# have only one release.
ends_of_series() {
	"$VM_DIR/kernel" -l | awk '{ split($1, v, "[.]"); s = v[1] "." v[2]
		if (!(s in first)) { first[s] = $1; order[++n] = s } last[s] = $1 }
		END { for (i = 1; i <= n; i++) { print first[order[i]]
			if (last[order[i]] != first[order[i]]) print last[order[i]] } }'
}
