# The driver of shell sessions of run_code, for bash.
#
# Every cell runs in a process of its own, which begins with what the last one remembered and writes down what it remembers:
# variables, functions, options, the directory. So exit, exec and set -e end a cell and not the session, and a cell that is
# interrupted leaves the session as it was before.
#
# Commands come in on 3, frames go out on 4, and what code prints goes to 1 and 2, which are one pipe.
work=${TMPDIR:-/tmp}/work own=${TMPDIR:-/tmp}/.session
mkdir -p "$work" "$own"
umask 077
mark='' cell='' running=''
set -m # each cell is a group of processes, which can be ended as a whole

frame() { printf '%s %s %s\n%s' "$1" "$2" "${#3}" "$3" >&4; }

unhex() { local text='' i; for ((i = 0; i < ${#1}; i += 2)); do text+="\\x${1:i:2}"; done; printf -v "$2" '%b' "$text"; }

# remember writes down what a cell leaves behind. It is run by the cell itself, at its end.
__tc_remember() {
	local status=$?
	trap - EXIT
	if [ -e "$__tc_own/interrupted" ]; then exit 130; fi
	{
		declare -p | grep -vE '^declare -[a-zA-Z-]*r|^declare -[a-zA-Z-]* (BASH|BASHOPTS|BASHPID|BASH_[A-Z_]*|DIRSTACK|EUID|FUNCNAME|GROUPS|HISTCMD|LINENO|PIPESTATUS|PPID|RANDOM|SECONDS|SHELLOPTS|SRANDOM|EPOCH[A-Z]*|UID|_|OLDPWD|PWD|COMP_[A-Z]*|OPTIND|OPTERR)(=|$)' | sed -E 's/^declare -- /declare -g -- /; s/^declare (-[aAilnrtuxf]+) /declare -g \1 /'
		declare -f | sed '/^__tc_remember ()/,/^}/d'
		alias -p
		shopt -p
		set +o | grep -v monitor
		printf 'cd -- %q\n' "$PWD"
	} >"$__tc_own/state.new" 2>/dev/null
	mv -f "$__tc_own/state.new" "$__tc_own/state"
	exit $status
}

run() { # cell
	local cell=$1 status
	trap : INT # it goes to the whole group, and this process tells of the end
	(
		exec 3<&- 4>&- </dev/null
		trap - INT
		set +m
		unset -f frame unhex run listed get
		cd "$work" || exit 1
		__tc_own=$own
		unset mark cell running work own line op a b c size status LC_ALL
		if [ -f "$__tc_own/state" ]; then . "$__tc_own/state" 2>/dev/null; fi
		trap __tc_remember EXIT
		. "$__tc_own/cell"
	)
	status=$?
	printf '%s' "$mark" >&2
	listed "$cell"
	if [ -e "$own/interrupted" ]; then
		frame done "$cell" '{"status":"interrupted"}'
	elif [ "$status" -ne 0 ]; then
		frame error "$cell" "exit status $status"
		frame done "$cell" '{"status":"error"}'
	else
		frame done "$cell" '{"status":"ok"}'
	fi
}

# listed tells of the files that are newer than the cell.
listed() {
	local names='' f size LC_ALL=C
	while IFS= read -r -d '' size && IFS= read -r -d '' f; do
		case $f in *[[:cntrl:]\"\\]*) continue ;; esac
		names+="${names:+,}{\"name\":\"${f#./}\",\"size\":$size}"
	done < <(cd "$work" 2>/dev/null && find . -xdev -type f -newer "$own/cell" -printf '%s\0%p\0' 2>/dev/null | head -c 20000)
	frame files "$1" "[$names]"
}

get() { # cell name most
	local size
	if [ ! -f "$work/$2" ]; then frame nofile "$1" 'there is no such file'; return; fi
	size=$(stat -c %s -- "$work/$2")
	if [ "$size" -gt "$3" ]; then frame nofile "$1" "it has more than $3 bytes"; return; fi
	printf 'file %s %s\n' "$1" "$size" >&4
	{ cat -- "$work/$2"; head -c "$size" /dev/zero; } | head -c "$size" >&4
}

LC_ALL=C
export -n LC_ALL
cd "$work" || exit 71
while IFS= read -r line <&3; do
	read -r op a b c <<<"$line"
	case $op in
	hello)
		mark=$(head -c "$a" <&3)
		frame ready 0 "{\"version\":\"${BASH_VERSION%%(*}\"}"
		;;
	put)
		unhex "$a" name
		mkdir -p -- "$(dirname -- "$work/$name")"
		rm -rf -- "$work/$name"
		head -c "$b" <&3 >"$work/$name"
		;;
	run)
		head -c "$b" <&3 >"$own/cell.new"
		mv -f "$own/cell.new" "$own/cell"
		rm -f "$own/interrupted"
		cell=$a
		run "$a" &
		running=$!
		disown "$running" # or bash would tell of its end
		;;
	interrupt)
		if [ "$a" = "$cell" ] && kill -0 "$running" 2>/dev/null; then
			: >"$own/interrupted"
			kill -INT -- "-$running" 2>/dev/null
		fi
		;;
	get)
		unhex "$b" name
		get "$a" "$name" "$c"
		;;
	esac
done
exit 0
