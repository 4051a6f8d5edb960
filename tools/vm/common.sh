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

# adapter_params TABLE: prints module parameters, which are lists by adapter, for a table of names.
adapter_params() {
	awk '$1 == "default" { for (i = 2; i <= NF; i++) { split($i, p, "="); if (!(p[1] in is)) name[++names] = p[1]; is[p[1]] = p[2] } next }
		/^[0-9]/ { if ($1 >= adapters) adapters = $1 + 1
			for (i = 2; i <= NF; i++) { split($i, p, "="); if (!(p[1] in is)) { print FILENAME ": no default of " p[1] >"/dev/stderr"; bad = 1; exit }
				value[$1, p[1]] = p[2] } }
		END { if (bad) exit 1
			printf "adapters=%d", adapters
			for (n = 1; n <= names; n++) for (a = 0; a < adapters; a++)
				printf "%s%s", a ? "," : " " name[n] "=", (a, name[n]) in value ? value[a, name[n]] : is[name[n]]
			print "" }' "$1"
}
# shellcheck disable=SC2034
PARAMS=$(adapter_params "$VM_DIR/adapters/tests") || exit 1
# Adapter 0 has two virtual functions: their numbers are 16 and 17.
TWO_FUNCTIONS="vfs=2"
# shellcheck disable=SC2034
LAB_PARAMS=$(adapter_params "$VM_DIR/adapters/lab") || exit 1
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

# check_config NAME FRAGMENT CONFIG: fails if the configuration of a kernel lacks a line of the
# fragment.
check_config() {
	local line missing=
	while read -r line; do
		case $line in
		'' | '#'*) ;;
		*=n) ! grep -q "^${line%=n}=" "$3" || missing+=" $line" ;;
		*) grep -qxF "$line" "$3" || missing+=" $line" ;;
		esac
	done <<<"$2"
	[ -z "$missing" ] || die "the $1 kernel refuses:$missing"
}

# mode_of KERNEL: prints the mode of guests that repeat: a kernel that is a process has a virtual
# clock.
mode_of() { case $1 in uml*) echo virtual ;; *) echo det ;; esac; }
