package container

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
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
		"--tmpfs=/tmp:" + s.tempOptions(),
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

// tempOptions are those of /tmp. Engines let nothing there be run unless told so.
func (s *Sandbox) tempOptions() string {
	options := "rw,nosuid,nodev,mode=1777,size=" + strconv.FormatInt(s.cfg.TempBytes, 10)
	if s.cfg.Server {
		options += ",exec"
	}
	return options
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

// writable refuses a directory that the user inside could not write to. It is
// better told here than by a program that fails. A server sees it read-only, which
// the notes say: most need no directory at all.
func (s *Sandbox) writable(dirs []files.Dir) (seen []files.Dir, notes []string, err error) {
	seen = slices.Clone(dirs)
	for i, d := range seen {
		info, err := os.Stat(d.Path)
		if err != nil || !info.IsDir() {
			return nil, nil, sandbox.Unavailable(fmt.Sprintf("the granted directory %s is not there", d.Path), err)
		}
		if !d.Write || s.mayWrite(info) {
			continue
		}
		if !s.cfg.Server {
			return nil, nil, sandbox.Unavailable(fmt.Sprintf("containers run as user %s, who cannot write to the granted directory %s: give it to that user (chown), "+
				"set sandbox.container.user, or use the linux backend", s.cfg.User, d.Path), nil)
		}
		seen[i].Write = false
		notes = append(notes, fmt.Sprintf("%s is read-only in the container: user %s, which it runs as, cannot write there (sandbox.container.user sets another one)", d.Path, s.cfg.User))
	}
	return seen, notes, nil
}
