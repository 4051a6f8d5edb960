# SPDX-License-Identifier: GPL-2.0-only
# An empty Debian in a folder, to which the checks change root. Needs root and debootstrap.
# shellcheck shell=bash
. "$VM_DIR/apt.sh"

debian_mounted=()

# debian_base SUITE: makes the system once, in the cache, and prints its archive.
debian_base() {
	local suite=$1 base=$CACHE/$1.tar new=$CACHE/$1.new main
	if [ ! -e "$base" ]; then
		private_apt
		main=$(awk -v s="$suite" '$4 == s { print $3 } $3 == s { print $2 }' "$apt_dir/sources.list" | head -n 1)
		say "making a Debian, $suite (once)"
		rm -rf "$new"
		debootstrap --variant=minbase --include=make,git,ca-certificates "$suite" "$new" "$main" >"$CACHE/debootstrap.log" 2>&1 ||
			{ tail -n 20 "$CACHE/debootstrap.log" >&2; die "debootstrap failed"; }
		# Use the sources, proxies and credentials of the host.
		grep -E " $suite(-[a-z]+)? " "$apt_dir/sources.list" | sed 's#\[[^]]*\] ##' >"$new/etc/apt/sources.list"
		cp -a /etc/apt/apt.conf.d/. "$new/etc/apt/apt.conf.d/" 2>/dev/null
		[ ! -e /etc/apt/auth.conf ] || cp -a /etc/apt/auth.conf "$new/etc/apt/"
		cp -a /etc/apt/auth.conf.d/. "$new/etc/apt/auth.conf.d/" 2>/dev/null
		# Delete the package lists: an empty machine has none.
		rm -rf "$new"/var/lib/apt/lists/* "$new"/var/cache/apt/archives/*.deb
		tar -cf "$base.new" -C "$new" . && mv "$base.new" "$base" && rm -rf "$new"
	fi
	echo "$base"
}

# debian_enter SUITE FOLDER: unpacks the system, unless it is there, and mounts what programs need.
debian_enter() {
	local root=$2 base m
	base=$(debian_base "$1") || exit 71
	[ -e "$root/etc/debian_version" ] || { mkdir -p "$root" && tar -xf "$base" -C "$root"; }
	cp -L /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null
	cp -a /usr/local/share/ca-certificates/. "$root/usr/local/share/ca-certificates/" 2>/dev/null
	cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt" 2>/dev/null
	for m in proc sys dev; do
		mount --rbind "/$m" "$root/$m" && mount --make-rslave "$root/$m" && debian_mounted+=("$root/$m")
	done
}

debian_leave() {
	local m
	for m in "${debian_mounted[@]}"; do umount -l "$m" 2>/dev/null; done
	debian_mounted=()
}

# debian_run FOLDER COMMAND
debian_run() { chroot "$1" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin CI="${CI:-}" TERM=dumb DEBIAN_FRONTEND=noninteractive bash -c "$2"; }
