#!/bin/sh
# Installs Toolcrib: gets a release, checks its signature and its checksum, and
# puts the program into ~/.local/bin. Nothing is installed that was not checked.
#
#   sh install.sh                       the newest release
#   sh install.sh --from DIR            a release that was fetched before
#   sh install.sh --from URL --to DIR   from elsewhere, to elsewhere
#
# The signature is checked with the first of these that is there: minisign,
# OpenSSL 3, ssh-keygen. If there is none of them, the script says what to do and
# installs nothing. The program itself is never asked whether it is genuine.
set -eu

from='https://github.com/toolcrib/toolcrib/releases/latest/download'
to=${HOME:-}/.local/bin
trusted_sum=''
# The public key of the releases, for minisign and for ssh-keygen. It is the one in
# internal/release/toolcrib.pub; a test compares them.
key='RWTns7tgVXLHHwCu8b2rwtM12lBSfqVgyJXGppNOrI/GwXU49a+jF4ao'
ssh_key='ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIACu8b2rwtM12lBSfqVgyJXGppNOrI/GwXU49a+jF4ao'

say() { printf '%s\n' "$*"; }
fail() {
	printf 'install.sh: %s\n' "$*" >&2
	exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }

usage() {
	say 'usage: sh install.sh [--from DIR|URL] [--to DIR] [--checksums-sha256 HEX]'
	say '  --from               a directory or an https address with the files of a release'
	say '  --to                 where the program goes (default ~/.local/bin)'
	say '  --checksums-sha256   the SHA-256 of checksums.txt, which you checked elsewhere;'
	say '                       it takes the place of the signature'
}

while [ $# -gt 0 ]; do
	case $1 in
	--from | --to | --checksums-sha256)
		[ $# -ge 2 ] || fail "$1 needs a value"
		case $1 in
		--from) from=${2%/} ;;
		--to) to=$2 ;;
		*) trusted_sum=$2 ;;
		esac
		shift 2
		;;
	-h | --help)
		usage
		exit 0
		;;
	*)
		usage >&2
		fail "unknown argument $1"
		;;
	esac
done
case $from in # http://localhost:1@elsewhere/ looks like this machine
*://*@* | *://*\\*) fail 'an address with a user or a backslash in it is not used: say it without' ;;
esac
case $to in
/*) ;;
*) fail 'there is no home directory: say --to with a full path' ;;
esac

# Which archive.
case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
*) fail "this system ($(uname -s)) is not known here. On Windows unpack the .zip by hand; docs/install.md says how to check it." ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail "there is no release for this processor ($(uname -m)): build it with Go, see docs/install.md" ;;
esac

work=$(mktemp -d "${TMPDIR:-/tmp}/toolcrib-install.XXXXXX")
staged=''
cleanup() {
	rm -rf "$work"
	[ -z "$staged" ] || rm -f "$staged"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

# get NAME MOST: a file of the release, and no more than MOST bytes of it.
get() {
	case $from in
	https://* | http://127.0.0.1[:/]* | http://localhost[:/]*)
		if have curl; then
			# Addresses are followed over https only; a local try may stay on http.
			protocols='=https'
			case $from in http://*) protocols='=http' ;; esac
			curl --fail --silent --show-error --location --max-redirs 5 --proto "$protocols" --proto-redir "$protocols" \
				--connect-timeout 30 --max-time 900 --max-filesize "$2" --output "$work/$1" "$from/$1" || fail "could not get $from/$1"
		elif have wget; then
			wget -q --timeout=30 --tries=2 -O "$work/$1" "$from/$1" || fail "could not get $from/$1"
		else
			fail 'there is neither curl nor wget: fetch the files by hand and say --from DIR'
		fi
		;;
	http://*) fail 'plain http is not used: everybody on the way could change the files. Say an https address.' ;;
	*)
		[ -f "$from/$1" ] || fail "there is no $1 in $from"
		cp "$from/$1" "$work/$1"
		;;
	esac
	size=$(wc -c <"$work/$1")
	[ "$size" -le "$2" ] || fail "$1 is too large ($size bytes)"
}

sha256() {
	if have sha256sum; then
		sha256sum <"$1" | cut -d ' ' -f 1
	elif have shasum; then
		shasum -a 256 <"$1" | cut -d ' ' -f 1
	elif have openssl; then
		openssl dgst -sha256 -r <"$1" | cut -d ' ' -f 1
	else
		fail 'there is no sha256sum, shasum or openssl to check the archive with: install one of them'
	fi
}

# unbase64 TEXT: the bytes of it.
unbase64() { printf '%s\n' "$1" | openssl base64 -d -A; }

# openssl_checks: OpenSSL 3 can check ed25519; older ones, and Apple's, cannot.
openssl_checks() {
	have openssl || return 1
	case $(openssl version 2>/dev/null) in
	'OpenSSL 3'* | 'OpenSSL 4'*) return 0 ;;
	*) return 1 ;;
	esac
}

# With OpenSSL: the key and the signature of minisign are base64, with ten bytes of
# kind and number in front; OpenSSL wants the key behind the header of its kind.
check_openssl() {
	{
		printf '\060\052\060\005\006\003\053\145\160\003\041\000'
		unbase64 "$key" | tail -c 32
	} >"$work/key.der"
	line=$(sed -n 2p "$work/checksums.txt.minisig")
	unbase64 "$line" | tail -c 64 >"$work/signature"
	kind=$(unbase64 "$line" | head -c 2)
	if [ "$kind" != Ed ] || [ "$(wc -c <"$work/key.der")" -ne 44 ] || [ "$(wc -c <"$work/signature")" -ne 64 ]; then
		return 1
	fi
	openssl pkeyutl -verify -pubin -keyform DER -inkey "$work/key.der" -rawin -in "$work/checksums.txt" -sigfile "$work/signature" >/dev/null 2>&1
}

check_ssh() {
	get checksums.txt.sshsig 8192
	printf 'toolcrib namespaces="toolcrib-release" %s\n' "$ssh_key" >"$work/signers"
	ssh-keygen -Y verify -f "$work/signers" -I toolcrib -n toolcrib-release -s "$work/checksums.txt.sshsig" <"$work/checksums.txt" >/dev/null 2>&1
}

ssh_checks() {
	have ssh-keygen || return 1
	# Old ones do not know -Y; they say so by naming their options.
	ssh-keygen -Y verify 2>&1 </dev/null | grep -q 'verify\|signature\|namespace\|Too few'
}

get checksums.txt 65536
if [ -n "$trusted_sum" ]; then
	by='your checksum of checksums.txt'
	[ "$(sha256 "$work/checksums.txt")" = "$trusted_sum" ] || fail 'checksums.txt is not the one that you named: nothing was installed'
else
	get checksums.txt.minisig 4096
	bad='the signature of checksums.txt is NOT good: this is not a release of Toolcrib, or it was changed. Nothing was installed.'
	if have minisign; then
		by=minisign
		minisign -V -q -P "$key" -m "$work/checksums.txt" -x "$work/checksums.txt.minisig" >/dev/null 2>&1 || fail "$bad"
	elif openssl_checks; then
		by=OpenSSL
		check_openssl || fail "$bad"
	elif ssh_checks; then
		by=ssh-keygen
		check_ssh || fail "$bad"
	else
		fail 'the signature cannot be checked here, so nothing was installed. Install minisign, OpenSSL 3 or OpenSSH 8.1 and try again. Or check the release on another machine and say --checksums-sha256 with the SHA-256 of its checksums.txt.'
	fi
fi

# The archive: exactly one line of the signed list is for this machine.
line=$(grep -E "^[0-9a-f]{64}  toolcrib_[0-9A-Za-z.+-]+_${os}_${arch}\.tar\.gz\$" "$work/checksums.txt" || true)
if [ -z "$line" ] || [ "$(printf '%s\n' "$line" | wc -l)" -ne 1 ]; then
	fail "this release has no archive for $os/$arch, or more than one"
fi
sum=${line%% *}
archive=${line##* }
name=${archive%.tar.gz}
get "$archive" 268435456
[ "$(sha256 "$work/$archive")" = "$sum" ] || fail "$archive does not have the checksum of the signed list: it was cut short or changed. Nothing was installed."

# Only the program is taken out, as a stream: no name in the archive is written to.
tar -xzOf "$work/$archive" "$name/toolcrib" >"$work/toolcrib" || fail "there is no $name/toolcrib in $archive"
[ -s "$work/toolcrib" ] || fail "there is no $name/toolcrib in $archive"
mkdir -p "$to"
staged=$to/.toolcrib.$$
cp "$work/toolcrib" "$staged"
chmod 755 "$staged"
version=$("$staged" version) || fail 'the program does not start on this machine: nothing was installed'
mv -f "$staged" "$to/toolcrib"
staged=''

say "Installed $to/toolcrib (signature checked with $by):"
say "  $version"
case :${PATH:-}: in
*:"$to":*) say 'Next: toolcrib setup' ;;
*)
	say "$to is not in your PATH. Add it:"
	say "  export PATH=\"$to:\$PATH\"      (and put this line into ~/.profile)"
	say 'Next: toolcrib setup'
	;;
esac
