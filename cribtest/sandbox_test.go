//go:build unix

package cribtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
)

// loose is a sandbox that runs programs as they are and claims everything. Its
// flaw makes it break one promise more.
type loose struct {
	claims toolcrib.Bounds
	flaw   string
	kept   *bytes.Buffer
}

func (l *loose) Enforces() toolcrib.Bounds { return l.claims }

func (l *loose) FileLimit() int64 { return SandboxFile }

func (l *loose) Run(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
	if l.flaw == "idle" {
		return toolcrib.Exit{Duration: 1}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, grant.Time)
	defer cancel()
	c := exec.CommandContext(ctx, cmd.Path, cmd.Args...)
	c.Dir, c.Env, c.Stdin, c.Stdout, c.Stderr = cmd.Dir, append([]string{}, cmd.Env...), cmd.Stdin, cmd.Stdout, cmd.Stderr
	c.WaitDelay = 500 * time.Millisecond
	switch l.flaw {
	case "args":
		c.Args = slices.DeleteFunc(c.Args, func(s string) bool { return s == "" })
	case "dir":
		c.Dir = os.TempDir()
	case "env":
		c.Env = nil
	case "stdin":
		c.Stdin = nil
	case "supervised": // there is a parent that could be killed
		c.Path, c.Args = "/bin/sh", append([]string{"sh", "-c", `"$@"; exit $?`, "sh", cmd.Path}, cmd.Args...)
	case "merged":
		c.Stderr = c.Stdout
	case "buffered":
		l.kept = &bytes.Buffer{}
		c.Stdout = l.kept
	case "descriptors":
		f, err := os.Open(os.DevNull)
		if err != nil {
			return toolcrib.Exit{}, err
		}
		defer func() { go func() { time.Sleep(3 * time.Second); f.Close() }() }()
	}
	began := time.Now()
	err := c.Run()
	exit := toolcrib.Exit{Duration: time.Since(began), TimedOut: ctx.Err() != nil}
	if c.ProcessState != nil {
		exit.Code = c.ProcessState.ExitCode()
		if exit.Code < 0 {
			exit.Code = 143 // of the signals the suite tries
		}
	}
	if l.kept != nil {
		if _, err := io.Copy(cmd.Stdout, bytes.NewReader(l.kept.Bytes())); err != nil {
			return exit, err
		}
	}
	if _, failed := errors.AsType[*exec.ExitError](err); failed || errors.Is(err, exec.ErrWaitDelay) || l.flaw == "forgiving" {
		err = nil
	}
	if err != nil {
		return exit, &toolcrib.Error{Code: toolcrib.CodeInternal, Err: err}
	}
	return exit, nil
}

// TestSandboxChecksCanFail: for every promise there is a sandbox that breaks
// it, and the suite must see it.
func TestSandboxChecksCanFail(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("some of the attacks are for Linux only")
	}
	const all = toolcrib.BoundFiles | toolcrib.BoundNetwork | toolcrib.BoundMemory | toolcrib.BoundProcesses | toolcrib.BoundTime
	tools := buildAttacker(t)
	flaws := map[string][]string{
		"a program is told exactly what it was given": {"args", "dir"},
		"the environment is only what was given":      {"env"},
		"standard input is closed or what was given":  {"stdin"},
		"output comes apart and whole":                {"merged"},
		"exit codes and signals are told":             {""}, // one code for every signal
		"no descriptor is inherited":                  {""},
		"what cannot be run is an error":              {"forgiving"},
		"a bound that is not claimed is refused":      {""},
		"granted directories work":                    {"idle"},
		"a gigabyte of output takes no memory":        {"buffered"},
		"at the deadline everything dies":             {""},
		"a caller that goes away ends it":             {""},
		"killing its parent frees nothing":            {"supervised"},
		"what is left behind dies with the program":   {""},
		"nothing outside is written":                  {"", "idle"},
		"nothing outside is read":                     {"", "idle"},
		"other processes are out of reach":            {"", "idle"},
		"a setuid file gives nothing":                 {"", "idle"},
		"the network is out of reach":                 {"", "idle"},
		"some hosts are not all hosts":                {""},
		"a fork bomb is bounded":                      {"", "idle"},
		"a memory hog is bounded":                     {"", "idle"},
		"a large file is bounded":                     {"", "idle"},
		"many at once leave nothing behind":           {"descriptors", "idle"},
	}
	for _, c := range sandboxChecks() {
		if len(flaws[c.name]) == 0 {
			t.Errorf("nothing is known that breaks %q", c.name)
		}
		for _, flaw := range flaws[c.name] {
			t.Run(c.name+" "+flaw, func(t *testing.T) {
				if c.together {
					t.Parallel()
				}
				a := newArena(t, &loose{claims: all, flaw: flaw}, tools)
				a.pour = 64
				faults := c.run(t.Context(), a)
				if len(faults) == 0 {
					t.Error("the suite did not see that this sandbox breaks its promise")
				}
				if flaw != "idle" && !slices.ContainsFunc(faults, func(err error) bool { return !strings.Contains(err.Error(), "did not run") }) {
					t.Errorf("the flaw was not seen, only that nothing ran: %v", faults)
				}
				for _, f := range faults {
					if f == nil || strings.Contains(f.Error(), "%!") {
						t.Errorf("a fault that does not say what is wrong: %v", f)
					}
				}
			})
		}
	}
}

// TestLooseSandboxKeepsSomePromises: the suite must not see faults where there
// are none, or its findings are worth nothing.
func TestLooseSandboxKeepsSomePromises(t *testing.T) {
	tools := buildAttacker(t)
	kept := []string{
		"a program is told exactly what it was given", "the environment is only what was given",
		"output comes apart and whole", "granted directories work",
	}
	for _, c := range sandboxChecks() {
		if !slices.Contains(kept, c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			for _, fault := range c.run(t.Context(), newArena(t, &loose{}, tools)) {
				t.Error(fault)
			}
		})
	}
}
