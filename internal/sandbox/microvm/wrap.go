package microvm

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/text"
)

const (
	// maxOutput is the most of each stream that is carried over.
	maxOutput = 8 << 20
	// maxScript is what fits into one argument of a program.
	maxScript = 120 << 10
)

// wrap writes the script that runs in a machine. It brings about what the
// interface cannot say: the environment, the directory, bytes that are no
// text, how the program ended. What it tells stands on lines that begin with
// a token nobody else knows.
func wrap(cmd toolcrib.Cmd, dir, token string) (string, error) {
	if strings.Contains(cmd.Path, "=") {
		return "", &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: fmt.Sprintf("a program in a machine cannot have = in its path: %s", cmd.Path)}
	}
	var b strings.Builder
	b.WriteString("value() { x=$(printf '%b.' \"$1\"); x=${x%.}; }\nset --\n")
	for _, v := range cmd.Env {
		name, value, _ := strings.Cut(v, "=")
		b.WriteString("value " + text.ShellQuote(sandbox.Octal(value)) + "; set -- \"$@\" " + text.ShellQuote(name+"=") + "\"$x\"\n")
	}
	for _, a := range append([]string{cmd.Path}, cmd.Args...) {
		b.WriteString("value " + text.ShellQuote(sandbox.Octal(a)) + "; set -- \"$@\" \"$x\"\n")
	}
	b.WriteString("value " + text.ShellQuote(sandbox.Octal(cmd.Path)) + "; p=$x\nvalue " + text.ShellQuote(sandbox.Octal(dir)) + "\n")
	b.WriteString("t=" + token + "\nf=/tmp/$t\n")
	b.WriteString(`cd -- "$x" || { echo "$t directory"; exit 0; }
if [ ! -f "$p" ] || [ ! -x "$p" ]; then echo "$t program"; exit 0; fi
(umask 077; mkdir "$f") || exit 125
(env -i "$@" >"$f/o" 2>"$f/e" </dev/null) 2>/dev/null
echo "$t status $?"
`)
	for _, stream := range []string{"o", "e"} {
		b.WriteString("echo \"$t " + stream + "\"; head -c " + strconv.Itoa(maxOutput+1) + " \"$f/" + stream + "\" | base64\n")
	}
	b.WriteString("rm -r \"$f\"; echo \"$t end\"\n")
	if b.Len() > maxScript {
		return "", &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: "the arguments and the environment are too long for a microsandbox server: put them into a file"}
	}
	return b.String(), nil
}

// told is what the script told.
type told struct {
	status   int
	out, err []byte
}

var (
	errDirectory = errors.New("the working directory is not there")
	errProgram   = errors.New("the program is not there")
)

// parse reads it.
func parse(text, token string) (told, error) {
	var result told
	section, whole, known := "", false, false
	encoded := map[string]*strings.Builder{"o": {}, "e": {}}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		words, ours := strings.CutPrefix(line, token+" ")
		if !ours {
			if b := encoded[section]; b != nil {
				b.WriteString(strings.TrimSpace(line))
			}
			continue
		}
		section = words
		switch {
		case words == "directory":
			return result, errDirectory
		case words == "program":
			return result, errProgram
		case words == "end":
			whole = true
		case strings.HasPrefix(words, "status "):
			n, err := strconv.ParseUint(strings.TrimPrefix(words, "status "), 10, 8)
			if err != nil {
				return result, fmt.Errorf("how the program ended cannot be read: %w", err)
			}
			result.status, known = int(n), true
		}
	}
	if !whole || !known {
		return result, errors.New("the program was cut off before it told how it ended")
	}
	for section, into := range map[string]*[]byte{"o": &result.out, "e": &result.err} {
		b, err := base64.StdEncoding.DecodeString(encoded[section].String())
		if err != nil {
			return result, fmt.Errorf("the output cannot be read: %w", err)
		}
		*into = b
	}
	return result, nil
}

// deliver hands the output to its writers and tells how the program ended.
func (s *Sandbox) deliver(exit toolcrib.Exit, cmd toolcrib.Cmd, grant toolcrib.Grant, a commandAnswer, token string) (toolcrib.Exit, error) {
	t, err := parse(string(a.Output), token)
	switch {
	case errors.Is(err, errDirectory):
		return exit, &toolcrib.Error{Code: toolcrib.CodeDenied, Err: err,
			Message: fmt.Sprintf("the working directory %s is not in the machine: it must be in a granted directory", sandbox.WorkDir(cmd, grant))}
	case errors.Is(err, errProgram):
		return exit, sandbox.Unavailable(fmt.Sprintf("there is no program %s in the machine: use an image that has it, or another backend", cmd.Path), err)
	case err != nil:
		return exit, sandbox.Unavailable("the microsandbox server did not say what came of the program", err)
	}
	exit.Code = t.status
	var errs []error
	for _, stream := range []struct {
		to   io.Writer
		text []byte
	}{{cmd.Stdout, t.out}, {cmd.Stderr, t.err}} {
		if len(stream.text) > maxOutput {
			stream.text = stream.text[:maxOutput]
			errs = append(errs, fmt.Errorf("the program wrote more than the %d bytes that are carried over from a machine", maxOutput))
		}
		if stream.to == nil {
			continue
		}
		if _, err := stream.to.Write(stream.text); err != nil {
			errs = append(errs, fmt.Errorf("handing on the output of a program: %w", err))
		}
	}
	return exit, errors.Join(errs...)
}
