package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// systemd is the user manager of systemd.
type systemd struct{ Needs }

func (systemd) service(name string) string { return "toolcrib-" + name + ".service" }

func (s systemd) file(name string) (string, error) {
	dir := s.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		if !filepath.IsAbs(s.Home) {
			return "", fmt.Errorf("the home directory is not known: set HOME")
		}
		dir = filepath.Join(s.Home, ".config")
	}
	return filepath.Join(dir, "systemd", "user", s.service(name)), nil
}

// text is the unit. What would shut the program in is left out on purpose: the
// settings of systemd for that (PrivateTmp, ProtectSystem, SystemCallFilter and so
// on) put the program into a user namespace or set no_new_privs, and then the
// sandbox of the tools, rootless containers or both no longer work.
func (s systemd) text(u Unit) (string, error) {
	if strings.ContainsAny(u.Program, "\"'\\") {
		return "", fmt.Errorf("systemd starts no program with quotes or a backslash in its path: move %s", u.Program)
	}
	if dir := s.dir(u); strings.HasSuffix(dir, `\`) || strings.TrimSpace(dir) != dir {
		// The next line would be a part of it, or it would be another directory.
		return "", fmt.Errorf("systemd starts nothing in a directory whose name ends with a backslash or a blank: %q", dir)
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("[Unit]")
	line("Description=%s", specifiers(u.Title))
	line("StartLimitIntervalSec=300")
	line("StartLimitBurst=10")
	line("")
	line("[Service]")
	line("Type=exec")
	line("ExecStart=%s", execLine(u))
	line("WorkingDirectory=%s", specifiers(s.dir(u)))
	for _, name := range slices.Sorted(maps.Keys(u.Env)) {
		line("Environment=%s", quoted(name+"="+u.Env[name]))
	}
	line("Restart=on-failure")
	line("RestartSec=2")
	line("# 2: the settings are wrong. To try again does not help.")
	line("RestartPreventExitStatus=2")
	line("# Calls under way may end, then what they left is ended with it.")
	line("KillMode=mixed")
	line("TimeoutStopSec=30")
	line("# A command that takes too much memory ends alone.")
	line("OOMPolicy=continue")
	line("LimitCORE=0")
	line("")
	line("[Install]")
	line("WantedBy=default.target")
	return marked("", "# ", b.String(), ""), nil
}

// execLine is the command as systemd reads it.
func execLine(u Unit) string {
	// Variables are put in for $ in arguments, and never in the path of the program.
	words := []string{quoted(u.Program)}
	for _, a := range u.Args {
		words = append(words, quoted(strings.ReplaceAll(a, "$", "$$")))
	}
	return strings.Join(words, " ")
}

// quoted is a word in quotes.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "\t", `\t`).Replace(text) + `"`
}

// args reads back what execLine wrote.
func (systemd) args(text string) (args []string) {
	_, rest, _ := strings.Cut(text, "\nExecStart=")
	line, _, _ := strings.Cut(rest, "\n")
	var word []byte
	in := false
	for i := 0; i < len(line); i++ {
		two := line[i:min(i+2, len(line))]
		switch {
		case line[i] == '"':
			if in {
				args, word = append(args, string(word)), nil
			}
			in = !in
		case !in:
		case two == `\t`:
			word, i = append(word, '\t'), i+1
		case two == `\\`, two == `\"`, two == "%%", two == "$$" && len(args) > 0:
			word, i = append(word, two[1]), i+1
		default:
			word = append(word, line[i])
		}
	}
	return args
}

func specifiers(text string) string { return strings.ReplaceAll(text, "%", "%%") }

func (s systemd) alive(ctx context.Context) error {
	said, err := s.run(ctx, "systemctl", "--user", "is-system-running")
	switch said = strings.TrimSpace(said); said {
	case "running", "degraded", "starting", "initializing", "maintenance", "stopping": // which fails unless it is the first
		return nil
	case "":
		if err == nil {
			err = errors.New("it says nothing")
		}
		return fmt.Errorf("systemctl --user is-system-running: %w", err)
	}
	return fmt.Errorf("'systemctl --user is-system-running' says %s", said)
}

func (s systemd) start(ctx context.Context, name string) error { return s.each(ctx, s.starting(name)) }

func (s systemd) stop(ctx context.Context, name string) error {
	err := s.each(ctx, [][]string{{"--user", "stop", s.service(name)}})
	if err != nil {
		var state State
		if s.ask(ctx, &state, name); !state.Running { // one that could never be started is not known there
			err = nil
		}
	}
	_, _ = s.run(ctx, "systemctl", "--user", "reset-failed", s.service(name)) // how it ended is no longer of interest
	return errors.Join(err, s.each(ctx, [][]string{{"--user", "disable", s.service(name)}}))
}

func (s systemd) starting(name string) [][]string {
	// A changed unit has to be started anew: enable --now leaves one that runs alone.
	return [][]string{{"--user", "daemon-reload"}, {"--user", "enable", s.service(name)}, {"--user", "restart", s.service(name)}}
}

func (s systemd) each(ctx context.Context, list [][]string) error {
	for _, args := range list {
		if _, err := s.run(ctx, "systemctl", args...); err != nil {
			return fmt.Errorf("systemctl %s: %w", strings.Join(args, " "), err)
		}
	}
	return nil
}

func (s systemd) byHand(name string, start bool) []string {
	if start {
		return []string{"systemctl --user daemon-reload", "systemctl --user enable --now " + s.service(name)}
	}
	return []string{"systemctl --user daemon-reload"}
}

// lingers reports whether services go on without a log-in; nil: nobody can tell.
func (s systemd) lingers(ctx context.Context) *bool {
	said, err := s.run(ctx, "loginctl", "show-user", s.User, "--property=Linger", "--value")
	switch strings.TrimSpace(said) {
	case "yes":
		return new(true)
	case "no":
		return new(false)
	}
	_ = err // said in another way: it is not known
	return nil
}

func (s systemd) notes(ctx context.Context) []string {
	const from = "It starts when you log in"
	if is := s.lingers(ctx); is != nil && *is {
		return []string{"It starts with the machine and goes on when you log out (lingering is on)."}
	}
	return []string{from + " and ends when you log out. To have it start with the machine and go on: loginctl enable-linger " + text.ShellWord(s.User)}
}

func (s systemd) ask(ctx context.Context, state *State, name string) {
	unit := s.service(name)
	said, _ := s.run(ctx, "systemctl", "--user", "show", unit, "--property=ActiveState,SubState,UnitFileState,Result,ExecMainStatus,NeedDaemonReload,MainPID")
	is := properties(said)
	state.Running = is["ActiveState"] == "active"
	state.Enabled = is["UnitFileState"] == "enabled"
	state.Detail = is["ActiveState"]
	if sub := is["SubState"]; sub != "" && sub != is["ActiveState"] {
		state.Detail += " (" + sub + ")"
	}
	if r := is["Result"]; r != "" && r != "success" {
		state.Detail += ", " + r + ", exit status " + is["ExecMainStatus"]
	}
	if is["NeedDaemonReload"] == "yes" {
		state.Detail += "; the file was changed since it was read: systemctl --user daemon-reload"
	}
	state.Lingers = s.lingers(ctx)
	state.LogFrom = "journalctl --user -u " + unit
	if said, err := s.run(ctx, "journalctl", "--user", "--unit", unit, "--lines", "5", "--no-pager", "--output", "short-iso", "--quiet"); err == nil {
		state.Log = lastLines(said, 5)
	}
}

// properties reads lines of NAME=VALUE.
func properties(text string) map[string]string {
	is := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "="); ok {
			is[name] = value
		}
	}
	return is
}

func lastLines(text string, most int) []string {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	return lines[max(0, len(lines)-most):]
}
