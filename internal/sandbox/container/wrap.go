package container

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/text"
)

// The first process in a container is a shell that brings about what the
// command line of an engine cannot: the exact environment, arguments that are
// not UTF-8, signals as a program expects them (the first process of a
// container ignores most), and a failure to start that can be told from a
// program's own exit. It says so on its error output, with a word that nobody
// else knows.
const (
	wrapperHead = `token=$TOOLCRIB_TOKEN
value() { x=$(printf '%b.' "$1"); x=${x%.}; }
value "$TOOLCRIB_DIR"
cd -- "$x" || { echo "$token directory" >&2; exit 125; }
program=$1
`
	// A name is looked for as a shell would, but for built-in commands and for
	// directories that mean another one wherever a program starts.
	wrapperSearch = `set -f; IFS=:
for dir in $search; do
case $dir in *=*) continue ;; /*) ;; *) continue ;; esac
if [ -f "$dir/$1" ] && [ -x "$dir/$1" ]; then program=$dir/$1; break; fi
done
unset IFS; set +f
`
	wrapperCheck = `if [ ! -f "$program" ] || [ ! -x "$program" ]; then echo "$token program" >&2; exit 125; fi
`
	// Not exec: the shell stays the first process. What it has to say about
	// the end of the program is nobody's business.
	wrapperTail = `echo "$token ready" >&2
exec 3>&2 2>/dev/null
(env %s -- "$@" 2>&3 3>&-)
exit $?
`
)

// maxOdd is the longest argument that may hold other than UTF-8.
const maxOdd = 16 << 10

// wrap gives the shell's script, its arguments and the lines of its environment
// file. Values are written in octal, which every engine's reader of such files
// leaves alone. A server also gets the variables of the image, and is looked for in
// PATH if it is a name.
func wrap(cmd toolcrib.Cmd, dir, token string, server bool) (args []string, file string, err error) {
	if strings.Contains(cmd.Path, "=") {
		return nil, "", &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: fmt.Sprintf("a program in a container cannot have = in its path: %s", cmd.Path)}
	}
	var code, lines strings.Builder
	code.WriteString(wrapperHead)
	lines.WriteString("TOOLCRIB_TOKEN=" + token + "\nTOOLCRIB_DIR=" + sandbox.Octal(dir) + "\n")
	given := append([]string{cmd.Path}, cmd.Args...)
	search := "$PATH"
	list, ours := []string{}, []string{"TOOLCRIB_TOKEN", "TOOLCRIB_DIR"}
	for i, v := range cmd.Env {
		name, value, _ := strings.Cut(v, "=")
		key := strconv.Itoa(i)
		if ours = append(ours, "TOOLCRIB_E"+key); name == "PATH" {
			search = "$e" + key
		}
		lines.WriteString("TOOLCRIB_E" + key + "=" + sandbox.Octal(value) + "\n")
		code.WriteString("value \"$TOOLCRIB_E" + key + "\"; e" + key + "=$x\n")
		list = append(list, text.ShellQuote(name+"=")+"\"$e"+key+"\"")
	}
	list = append(list, `"$program"`)
	for i, a := range given {
		if i == 0 && utf8.ValidString(a) {
			continue
		}
		if utf8.ValidString(a) {
			list = append(list, "\"${"+strconv.Itoa(i+1)+"}\"")
			continue
		}
		if len(a) > maxOdd || i == 0 {
			return nil, "", &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: "a long argument or a path that is not UTF-8 cannot be handed to a container"}
		}
		key := strconv.Itoa(i)
		ours = append(ours, "TOOLCRIB_A"+key)
		lines.WriteString("TOOLCRIB_A" + key + "=" + sandbox.Octal(a) + "\n")
		code.WriteString("value \"$TOOLCRIB_A" + key + "\"; a" + key + "=$x\n")
		list = append(list, "\"$a"+key+"\"")
		given[i] = "-"
	}
	kept := "-i" // nothing but what was listed
	if server {
		kept = ""
		if !strings.Contains(cmd.Path, "/") {
			code.WriteString("search=" + search + "\n" + wrapperSearch)
		}
		code.WriteString("unset " + strings.Join(ours, " ") + "\n")
	}
	code.WriteString(wrapperCheck + "set -- " + strings.Join(list, " ") + "\n" + fmt.Sprintf(wrapperTail, kept))
	return append([]string{"-c", code.String(), "sh"}, given...), lines.String(), nil
}
