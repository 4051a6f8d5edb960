# SPDX-License-Identifier: GPL-2.0-only
# A private apt configuration: it has other suites than the host and does not touch the
# host's package state. Mirrors, proxies and credentials are the host's.
# shellcheck shell=bash

apt_dir=$CACHE/apt
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# mirror PATTERN: prints the address of the host's mirror for a matching suite, even if apt
# has not read the lists of the suite.
mirror() {
	apt-get --print-uris update 2>/dev/null | sed -n "s#^'\(.*\)/dists/\([^/]*\)/.*#\1 \2#p" |
		awk -v p="$1" '$2 ~ p { print $1; exit }'
}

private_apt() {
	local main security suite sources=$apt_dir/sources.list
	main=$(mirror '^(bookworm|trixie|forky|stable|testing|oldstable|sid)$')
	[ -n "$main" ] || die "no Debian mirror in this machine's apt configuration"
	security=$(mirror '-security$')
	mkdir -p "$apt_dir"/{lists/partial,cache/archives/partial,deb}
	{
		for suite in bookworm trixie trixie-backports; do
			echo "deb [signed-by=$keyring arch=amd64] $main $suite main"
		done
		# Leave out the suites that the mirror lacks: old suites move to an archive.
		for suite in bookworm-updates bookworm-backports trixie-updates; do
			! carries "$main" $suite ||
				echo "deb [signed-by=$keyring arch=amd64] $main $suite main"
		done
		[ -z "$security" ] || for suite in bookworm-security trixie-security; do
			echo "deb [signed-by=$keyring arch=amd64] $security $suite main"
		done
	} >"$sources.new"
	# Delete the lists if the sources have changed.
	cmp -s "$sources.new" "$sources" || rm -f "$apt_dir"/lists/*Packages*
	mv "$sources.new" "$sources"
}

# carries MIRROR SUITE: returns whether the mirror has the suite. The answer is kept for a week.
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

# names PATTERN: prints the packages that can be fetched. Others are known by name alone.
names() { apt-cache "${APT_OPTS[@]}" dumpavail | sed -n 's/^Package: //p' | grep -E "^$1\$" | sort -uV || true; }

fetch() { # FOLDER PACKAGE...
	local to=$1 try; shift
	mkdir -p "$to"
	# Try three times, because mirrors sometimes drop a connection. Each try keeps the
	# packages that the one before has fetched.
	for try in 1 2 3; do
		(cd "$to" && apt-get "${APT_OPTS[@]}" download "$@") >"$apt_dir/download.log" 2>&1 && return
	done
	tail -n 5 "$apt_dir/download.log" >&2
	die "cannot download $*"
}

