# SPDX-License-Identifier: GPL-2.0-only
# A private apt configuration: other suites than the host's, without touching
# its package state. Mirrors, proxies and credentials are the host's own.
# shellcheck shell=bash

apt_dir=$CACHE/apt
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# mirror PATTERN: the address of the host's own mirror for a matching suite, whether its
# lists have been read or not.
mirror() {
	apt-get --print-uris update 2>/dev/null | sed -n "s#^'\(.*\)/dists/\([^/]*\)/.*#\1 \2#p" |
		awk -v p="$1" '$2 ~ p { print $1; exit }'
}

private_apt() {
	local main security sources=$apt_dir/sources.list
	main=$(mirror '^(bookworm|trixie|forky|stable|testing|oldstable|sid)$')
	[ -n "$main" ] || die "no Debian mirror in this machine's apt configuration"
	security=$(mirror '-security$')
	mkdir -p "$apt_dir"/{lists/partial,cache/archives/partial,deb}
	{
		for suite in bookworm trixie trixie-backports; do
			echo "deb [signed-by=$keyring arch=amd64] $main $suite main"
		done
		# Old suites move to an archive; what the mirror does not have is left out.
		for suite in bookworm-updates bookworm-backports trixie-updates; do
			! carries "$main" $suite ||
				echo "deb [signed-by=$keyring arch=amd64] $main $suite main"
		done
		[ -z "$security" ] || for suite in bookworm-security trixie-security; do
			echo "deb [signed-by=$keyring arch=amd64] $security $suite main"
		done
	} >"$sources.new"
	# Lists of other sources are of no use.
	cmp -s "$sources.new" "$sources" || rm -f "$apt_dir"/lists/*Packages*
	mv "$sources.new" "$sources"
}

# carries MIRROR SUITE: asked once in a while, as lists are.
carries() {
	local seen=$apt_dir/suite-$2
	if [ -z "$(find "$seen" -mmin -10080 2>/dev/null)" ]; then
		if /usr/lib/apt/apt-helper download-file "$1/dists/$2/InRelease" "$seen.tmp" >/dev/null 2>&1; then
			echo yes >"$seen"
		else
			echo no >"$seen"
		fi
		rm -f "$seen.tmp"
	fi
	grep -q yes "$seen"
}

APT_OPTS=(-o "Dir::Etc::sourcelist=$apt_dir/sources.list" -o Dir::Etc::sourceparts=/dev/null
	-o "Dir::State::lists=$apt_dir/lists" -o "Dir::Cache=$apt_dir/cache" -o APT::Sandbox::User=
	-o Dir::State::status=/dev/null -o Acquire::Languages=none -o Dir::Etc::preferencesparts=/dev/null
	-o APT::Default-Release= -o APT::Architecture=amd64 -o APT::Architectures::=amd64)

apt_update() {
	[ -n "$(find "$apt_dir/lists" -name '*Packages*' -mmin -720 2>/dev/null | head -n 1)" ] && return
	say "reading the package lists"
	apt-get "${APT_OPTS[@]}" update >"$apt_dir/update.log" 2>&1 ||
		{ tail -n 5 "$apt_dir/update.log" >&2; die "cannot read the package lists"; }
}

names() { apt-cache "${APT_OPTS[@]}" pkgnames "$1" | grep -E "^$2\$" | sort -V || true; }

fetch() { # FOLDER PACKAGE...
	local to=$1 try; shift
	mkdir -p "$to"
	# Mirrors drop a connection now and then: three tries, each keeps what it has.
	for try in 1 2 3; do
		(cd "$to" && apt-get "${APT_OPTS[@]}" download "$@") >"$apt_dir/download.log" 2>&1 && return
	done
	tail -n 5 "$apt_dir/download.log" >&2
	die "cannot download $*"
}

