# SPDX-License-Identifier: GPL-2.0
# Shared by the scripts of this folder: messages, the cache, becoming root.
# shellcheck shell=bash

export LC_ALL=C
VM_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$VM_DIR/../.." && pwd)
CACHE=${VFENCE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/vfence}

# The adapters that the selftests expect: 0 is as by default; 1 has no room for
# interrupt records, two doorbells, and no user-mode queues on its last node.
# shellcheck disable=SC2034
PARAMS="adapters=2 user_nodes=0xf,0x7 doorbells=16,2 irq_records=64,0"

say() { printf '[vfence] %s\n' "$*" >&2; }
die() { printf '[vfence] error: %s\n' "$*" >&2; exit 1; }

# as_root COMMAND...: directly when we are root, through sudo otherwise.
as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "need root (or sudo) for: $*"
	fi
}
