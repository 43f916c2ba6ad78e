//go:build amd64 || arm64

package linux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/text"
)

// Probe tells what is really there. Everything is found out by doing it, in a
// sandbox with limits so small that breaking them is quick.
func Probe(ctx context.Context, cfg Config) []sandbox.Finding {
	findings := []sandbox.Finding{kernel(), landlockFinding()}
	cfg.Limits = sandbox.Limits{MemoryBytes: 64 << 20, Processes: 32, FileBytes: 1 << 20}
	began := time.Now()
	s, err := Open(ctx, cfg)
	if err != nil {
		return append(findings, sandbox.Finding{Name: "start", Text: err.Error()})
	}
	defer func() { _ = s.Close() }()
	findings = append(findings,
		sandbox.Finding{Name: "start", OK: true, Text: fmt.Sprintf("a first program ran after %s", time.Since(began).Round(time.Millisecond))},
		sandbox.Finding{Name: "user", OK: true, Text: s.who.String()}, s.cgroupFinding())
	if cfg.Layers != "" {
		layers := sandbox.Finding{Name: "layers", OK: true, Text: "a program worked on a layer, and its changes could be read (sandbox.layers)"}
		if err := s.Layers(ctx, nil); err != nil {
			layers.OK, layers.Text = false, err.Error()
		}
		findings = append(findings, layers)
	}
	dir, err := os.MkdirTemp("", "toolcrib-probe-")
	if err != nil {
		return append(findings, sandbox.Finding{Name: "trials", Text: err.Error()})
	}
	defer func() { _ = os.RemoveAll(dir) }()
	work, secret := filepath.Join(dir, "work"), filepath.Join(dir, "secret")
	if err := errors.Join(os.Mkdir(work, 0o755), os.WriteFile(secret, nil, 0o644)); err != nil {
		return append(findings, sandbox.Finding{Name: "trials", Text: err.Error()})
	}
	for _, t := range trials(secret) {
		findings = append(findings, s.trial(ctx, work, t))
	}
	return findings
}

// trial is a script that must not succeed, or must.
type trial struct {
	name, script, held, broken string
	holds                      func(toolcrib.Exit) bool
	time                       time.Duration
}

func trials(secret string) []trial {
	clean := func(e toolcrib.Exit) bool { return e.Code == 0 && !e.TimedOut }
	failed := func(e toolcrib.Exit) bool { return e.Code != 0 && !e.TimedOut }
	files := "! [ -e " + text.ShellQuote(secret) + " ] && ! (: >/etc/probe) && ! (: >/usr/probe) && : >inside"
	return []trial{
		{"files", files, "nothing outside the grant is seen or written", "files outside the grant can be reached", clean, 0},
		{"network", `while read -r name rest; do case $name in *:) [ "$name" = lo: ] || exit 1;; esac; done </proc/net/dev`, "there is only a loopback", "there are network interfaces", clean, 0},
		{"processes", "i=0; while [ $i -lt 64 ]; do sleep 3 & i=$((i+1)); done", "the 64th process could not be made under a limit of 32", "64 processes could be made under a limit of 32", failed, 0},
		{"memory", "head -c 268435456 /dev/zero | tail -c 268435456 >/dev/null", "256 MiB could not be had under a limit of 64", "256 MiB could be had under a limit of 64", failed, 0},
		{"file size", "head -c 2097152 /dev/zero >large", "a file of 2 MiB could not be written under a limit of 1", "a file of 2 MiB could be written under a limit of 1", failed, 0},
		{"time", "trap '' TERM HUP; setsid sleep 60 & sleep 60", "everything ended at the deadline", "it did not end at the deadline", func(e toolcrib.Exit) bool { return e.TimedOut && e.Duration < 5*time.Second }, 300 * time.Millisecond},
	}
}

func (s *Sandbox) trial(ctx context.Context, dir string, t trial) sandbox.Finding {
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: dir, Write: true}}, Time: max(t.time, 0)}
	if grant.Time == 0 {
		grant.Time = 20 * time.Second
	}
	cmd := toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", t.script}, Env: []string{"PATH=/usr/bin:/bin"}}
	exit, err := s.Run(ctx, cmd, grant)
	f := sandbox.Finding{Name: t.name, OK: err == nil && t.holds(exit), Text: t.held}
	switch {
	case err != nil:
		f.Text = err.Error()
	case !f.OK:
		f.Text = fmt.Sprintf("%s (%+v)", t.broken, exit)
	}
	return f
}

func kernel() sandbox.Finding {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return sandbox.Finding{Name: "kernel", Text: err.Error()}
	}
	return sandbox.Finding{Name: "kernel", OK: true, Text: unix.ByteSliceToString(name.Release[:])}
}

func landlockFinding() sandbox.Finding {
	switch abi := landlockABI(); {
	case abi == 0:
		return sandbox.Finding{Name: "landlock", Text: "this kernel has none: the mounts hold alone, and there are no unix sockets"}
	case abi < scopingABI:
		return sandbox.Finding{Name: "landlock", OK: true, Text: fmt.Sprintf("ABI %d; with the network granted there are no unix sockets", abi)}
	default:
		return sandbox.Finding{Name: "landlock", OK: true, Text: fmt.Sprintf("ABI %d", abi)}
	}
}

func (s *Sandbox) cgroupFinding() sandbox.Finding {
	if s.cgroups == nil {
		return sandbox.Finding{Name: "cgroups", Text: "none can be made: limits hold by rlimits for each process, and memory together by a watch"}
	}
	var dirs []string
	for _, c := range s.cgroups.controllers {
		dirs = append(dirs, c.dir)
	}
	return sandbox.Finding{Name: "cgroups", OK: true, Text: "made in " + strings.Join(dirs, " and ")}
}

// String says who programs are.
func (w identity) String() string {
	if w.root {
		return fmt.Sprintf("root runs programs as uid %d, which nobody else has; owners of granted directories are mapped to it", w.outsideUID)
	}
	return fmt.Sprintf("programs run as our own uid %d", w.outsideUID)
}
