package container

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/text"
)

// spec is one container.
type spec struct {
	name    string
	network bool
	stdin   bool
	dirs    []files.Dir
	covers  []sandbox.Cover
	envFile string
	args    []string // for sh
}

// arguments writes the command line. Every guard stands here, in full view.
func (s *Sandbox) arguments(c spec) []string {
	l := s.cfg.Limits
	memory := strconv.FormatInt(l.MemoryBytes, 10)
	args := []string{
		"run", "--rm", "--name=" + c.name, "--label=" + labelKey + "=" + s.label,
		"--pull=never", "--log-driver=none",
		"--user=" + s.cfg.User, "--cap-drop=ALL", "--security-opt=no-new-privileges", "--read-only",
		"--tmpfs=/tmp:rw,nosuid,nodev,mode=1777,size=" + strconv.FormatInt(s.cfg.TempBytes, 10),
		"--memory=" + memory, "--memory-swap=" + memory, "--pids-limit=" + strconv.Itoa(l.Processes),
		"--ulimit=core=0:0", ulimit("fsize", l.FileBytes),
		"--hostname=sandbox", "--workdir=/", "--entrypoint=/bin/sh", "--env-file=" + c.envFile,
	}
	if l.CPUSeconds > 0 {
		args = append(args, ulimit("cpu", int64(l.CPUSeconds)))
	}
	if s.cfg.CPUs > 0 {
		args = append(args, "--cpus="+strconv.FormatFloat(s.cfg.CPUs, 'f', -1, 64))
	}
	if s.cfg.Runtime != "" {
		args = append(args, "--runtime="+s.cfg.Runtime)
	}
	if s.rootless == "keep-id" {
		args = append(args, "--userns=keep-id")
	}
	switch {
	case !c.network:
		args = append(args, "--network=none")
	case s.cfg.Network != "":
		args = append(args, "--network="+s.cfg.Network)
	}
	if c.stdin {
		args = append(args, "--interactive")
	}
	for _, d := range c.dirs {
		args = append(args, "--mount="+mountOption(d))
	}
	for _, c := range c.covers {
		if c.Link {
			continue // an engine mounts on what a link leads to, and never on the link
		}
		args = append(args, "--mount="+coverOption(c))
	}
	args = append(args, s.cfg.Image)
	return append(args, c.args...)
}

func ulimit(name string, n int64) string {
	value := strconv.FormatInt(n, 10)
	return "--ulimit=" + name + "=" + value + ":" + value
}

// mountOption is a line of comma separated values, quoted as such. What is
// mounted below a granted directory is left out: not every engine makes it
// read-only with the rest.
func mountOption(d files.Dir) string {
	fields := []string{"type=bind", "source=" + d.Path, "target=" + d.Path, "bind-propagation=rprivate", "bind-nonrecursive=true"}
	if !d.Write {
		fields = append(fields, "readonly")
	}
	return separated(fields)
}

// coverOption lays something over a protected place: nothing at all, or the
// place itself for reading only, or itself so that it cannot be moved away.
func coverOption(c sandbox.Cover) string {
	switch {
	case c.Kind == sandbox.Pin:
		return mountOption(files.Dir{Path: c.Path, Write: true})
	case c.Kind == sandbox.Fix:
		return mountOption(files.Dir{Path: c.Path})
	case c.Dir && c.Empty:
		return separated([]string{"type=tmpfs", "target=" + c.Path, "tmpfs-size=4096", "tmpfs-mode=0555", "readonly"})
	case c.Dir:
		return separated([]string{"type=tmpfs", "target=" + c.Path, "tmpfs-size=4096", "tmpfs-mode=0000", "readonly"})
	}
	return separated([]string{"type=bind", "source=/dev/null", "target=" + c.Path, "readonly"})
}

func separated(fields []string) string {
	for i, f := range fields {
		if strings.ContainsAny(f, ",\"\n\r") {
			fields[i] = `"` + strings.ReplaceAll(f, `"`, `""`) + `"`
		}
	}
	return strings.Join(fields, ",")
}

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
if [ ! -f "$1" ] || [ ! -x "$1" ]; then echo "$token program" >&2; exit 125; fi
`
	// Not exec: the shell stays the first process. What it has to say about
	// the end of the program is nobody's business.
	wrapperTail = `echo "$token ready" >&2
exec 3>&2 2>/dev/null
(env -i "$@" 2>&3 3>&-)
exit $?
`
)

// maxOdd is the longest argument that may hold other than UTF-8.
const maxOdd = 16 << 10

// wrap gives the shell's script, its arguments and the lines of its environment
// file. Values are written in octal, which every engine's reader of such files
// leaves alone.
func wrap(cmd toolcrib.Cmd, dir, token string) (args []string, file string, err error) {
	if strings.Contains(cmd.Path, "=") {
		return nil, "", &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: fmt.Sprintf("a program in a container cannot have = in its path: %s", cmd.Path)}
	}
	var code, lines strings.Builder
	code.WriteString(wrapperHead)
	lines.WriteString("TOOLCRIB_TOKEN=" + token + "\nTOOLCRIB_DIR=" + sandbox.Octal(dir) + "\n")
	given := append([]string{cmd.Path}, cmd.Args...)
	var list []string
	for i, v := range cmd.Env {
		name, value, _ := strings.Cut(v, "=")
		key := strconv.Itoa(i)
		lines.WriteString("TOOLCRIB_E" + key + "=" + sandbox.Octal(value) + "\n")
		code.WriteString("value \"$TOOLCRIB_E" + key + "\"; e" + key + "=$x\n")
		list = append(list, text.ShellQuote(name+"=")+"\"$e"+key+"\"")
	}
	for i, a := range given {
		if utf8.ValidString(a) {
			list = append(list, "\"${"+strconv.Itoa(i+1)+"}\"")
			continue
		}
		if len(a) > maxOdd || i == 0 {
			return nil, "", &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: "a long argument or a path that is not UTF-8 cannot be handed to a container"}
		}
		key := strconv.Itoa(i)
		lines.WriteString("TOOLCRIB_A" + key + "=" + sandbox.Octal(a) + "\n")
		code.WriteString("value \"$TOOLCRIB_A" + key + "\"; a" + key + "=$x\n")
		list = append(list, "\"$a"+key+"\"")
		given[i] = "-"
	}
	code.WriteString("set -- " + strings.Join(list, " ") + "\n" + wrapperTail)
	return append([]string{"-c", code.String(), "sh"}, given...), lines.String(), nil
}

// writable refuses a directory that the user inside could not write to. It is
// better told here than by a program that fails.
func (s *Sandbox) writable(dirs []files.Dir) error {
	for _, d := range dirs {
		info, err := os.Stat(d.Path)
		if err != nil || !info.IsDir() {
			return sandbox.Unavailable(fmt.Sprintf("the granted directory %s is not there", d.Path), err)
		}
		if d.Write && !s.mayWrite(info) {
			return sandbox.Unavailable(fmt.Sprintf("containers run as user %s, who cannot write to the granted directory %s: give it to that user (chown), "+
				"set sandbox.container.user, or use the linux backend", s.cfg.User, d.Path), nil)
		}
	}
	return nil
}
