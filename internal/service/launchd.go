package service

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/text"
)

// launchd is what runs the agents of a person on macOS.
type launchd struct{ Needs }

func (launchd) service(name string) string { return "toolcrib-" + name }

func (l launchd) file(name string) (string, error) {
	if !filepath.IsAbs(l.Home) {
		return "", fmt.Errorf("the home directory is not known: set HOME")
	}
	return filepath.Join(l.Home, "Library", "LaunchAgents", l.service(name)+".plist"), nil
}

func (l launchd) log(name string) string {
	return filepath.Join(l.Home, "Library", "Logs", l.service(name)+".log")
}

func (l launchd) text(u Unit) (string, error) {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line(`<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">`)
	line(`<plist version="1.0">`)
	line("<dict>")
	entry := func(key, value string) {
		line("\t<key>%s</key>", key)
		line("\t<string>%s</string>", escaped(value))
	}
	entry("Label", l.service(u.Name))
	line("\t<key>ProgramArguments</key>")
	line("\t<array>")
	for _, a := range append([]string{u.Program}, u.Args...) {
		line("\t\t<string>%s</string>", escaped(a))
	}
	line("\t</array>")
	entry("WorkingDirectory", l.dir(u))
	if len(u.Env) > 0 {
		line("\t<key>EnvironmentVariables</key>")
		line("\t<dict>")
		for _, name := range slices.Sorted(maps.Keys(u.Env)) {
			line("\t\t<key>%s</key>", escaped(name))
			line("\t\t<string>%s</string>", escaped(u.Env[name]))
		}
		line("\t</dict>")
	}
	line("\t<key>RunAtLoad</key>")
	line("\t<true/>")
	line("\t<key>KeepAlive</key>")
	line("\t<dict>")
	line("\t\t<key>SuccessfulExit</key>")
	line("\t\t<false/>")
	line("\t</dict>")
	line("\t<key>ThrottleInterval</key>")
	line("\t<integer>10</integer>")
	line("\t<key>ExitTimeOut</key>")
	line("\t<integer>30</integer>")
	entry("StandardOutPath", l.log(u.Name))
	entry("StandardErrorPath", l.log(u.Name))
	line("</dict>")
	line("</plist>")
	return marked(`<?xml version="1.0" encoding="UTF-8"?>`+"\n", "<!-- ", b.String(), " -->"), nil
}

// args reads back the command of a file.
func (launchd) args(text string) (args []string) {
	_, rest, _ := strings.Cut(text, "<key>ProgramArguments</key>")
	array, _, _ := strings.Cut(rest, "</array>")
	var list struct {
		Strings []string `xml:"string"`
	}
	if xml.Unmarshal([]byte(strings.TrimSpace(array)+"</array>"), &list) != nil {
		return nil
	}
	return list.Strings
}

func escaped(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a buffer takes everything
	return b.String()
}

func (l launchd) domain() string { return "gui/" + strconv.Itoa(l.UID) }

func (l launchd) alive(ctx context.Context) error {
	_, err := l.run(ctx, "launchctl", "print", l.domain())
	return err
}

func (l launchd) start(ctx context.Context, name string) error {
	file, err := l.file(name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(l.log(name)), 0o700); err != nil {
		return err
	}
	_, _ = l.run(ctx, "launchctl", "bootout", l.domain()+"/"+l.service(name)) // it need not run
	if _, err := l.run(ctx, "launchctl", "enable", l.domain()+"/"+l.service(name)); err != nil {
		return fmt.Errorf("launchctl enable: %w", err)
	}
	if _, err := l.run(ctx, "launchctl", "bootstrap", l.domain(), file); err != nil {
		return fmt.Errorf("launchctl bootstrap: %w", err)
	}
	return nil
}

func (l launchd) stop(ctx context.Context, name string) error {
	var state State
	if l.ask(ctx, &state, name); !state.Enabled { // it is not known there
		return nil
	}
	_, err := l.run(ctx, "launchctl", "bootout", l.domain()+"/"+l.service(name))
	return err
}

func (l launchd) byHand(name string, start bool) []string {
	file, err := l.file(name)
	if err != nil {
		return nil
	}
	if start {
		return []string{"launchctl bootstrap " + l.domain() + " " + text.ShellWord(file)}
	}
	return []string{"launchctl bootout " + l.domain() + "/" + l.service(name)}
}

func (l launchd) notes(context.Context) []string {
	return []string{"It starts when you log in and ends when you log out."}
}

func (l launchd) ask(ctx context.Context, state *State, name string) {
	said, err := l.run(ctx, "launchctl", "print", l.domain()+"/"+l.service(name))
	state.Enabled = err == nil
	for line := range strings.Lines(said) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
		switch {
		case key == "state" && state.Detail == "":
			state.Detail, state.Running = value, value == "running"
		case key == "last exit code" && value != "0" && value != "(never exited)":
			state.Detail += ", last exit code " + value
		}
	}
	state.Lingers, state.LogFrom = new(false), l.log(name)
	if text, err := tail(l.log(name)); err == nil {
		state.Log = lastLines(text, 5)
	}
}

// tail is the end of a file.
func tail(file string) (text string, err error) {
	f, err := plainfile.Open(file)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(err, errors.New("no file"))
	}
	const most = 16 << 10
	from := max(0, info.Size()-most)
	buf := make([]byte, info.Size()-from)
	n, err := f.ReadAt(buf, from)
	if n == 0 && len(buf) > 0 {
		return "", err
	}
	return string(buf[:n]), nil
}
