// Package service makes, installs, shows and removes services of a person: programs
// that run from log-in to log-out without a terminal. On Linux they are units of
// systemd's user manager, on macOS agents of launchd. Every package may import it.
//
// Its one invariant: a file that a person wrote or changed is never overwritten or
// removed. Each file says in its first lines that it was installed, with a hash of
// the rest.
package service

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/text"
)

// Needs is what the package takes of the machine.
type Needs struct {
	GOOS   string // as runtime.GOOS has it
	Home   string // of the person
	User   string // their name
	UID    int
	Getenv func(string) string
	// Run starts a program of the system by its name, and gives what it wrote to
	// standard output, and to standard error as the text of its error. Nil: none
	// is started, and the person is told what to run.
	Run func(ctx context.Context, program string, args ...string) (string, error)
	// Settle is how long Install watches whether a service ends right after its
	// start, as one with wrong settings does. 0: it only looks once.
	Settle time.Duration
}

// Unit is a service as it should be.
type Unit struct {
	Name    string            // serve, bus: the service is called toolcrib-NAME
	Title   string            // what it is, in a line
	Program string            // absolute path
	Args    []string          // no secrets: others can read them
	Dir     string            // where it runs; empty: the person's home
	Env     map[string]string // no secrets
}

// Done is what Install or Remove did, or would do.
type Done struct {
	Service string   `json:"service"`         // as the manager calls it
	File    string   `json:"file"`            // where it stands
	Text    string   `json:"-"`               // what stands in it after Install
	Changed bool     `json:"changed"`         // the file was written or removed, or would be
	Running bool     `json:"running"`         // the manager runs it now
	Did     []string `json:"did,omitempty"`   // what was done, or would be, one sentence each
	Run     []string `json:"run,omitempty"`   // commands that are left for the person
	Notes   []string `json:"notes,omitempty"` // what is good to know
}

// State is what is known of a service.
type State struct {
	Service   string   `json:"service"`
	File      string   `json:"file"`
	Installed bool     `json:"installed"`         // there is a file
	Ours      bool     `json:"ours"`              // as Install wrote it: nobody has changed it since
	Differs   []string `json:"differs,omitempty"` // lines that Install would write otherwise now
	Manager   bool     `json:"manager"`           // there is a manager that can be asked
	Enabled   bool     `json:"enabled"`           // it starts at log-in
	Running   bool     `json:"running"`
	Detail    string   `json:"detail,omitempty"`  // what the manager says of it
	Lingers   *bool    `json:"lingers,omitempty"` // it goes on after log-out; nil: not known
	Log       []string `json:"log,omitempty"`     // the last lines of it
	LogFrom   string   `json:"log_from,omitempty"`
}

// ErrNotHere is the error where this system has no services that we know.
var ErrNotHere = errors.New("services are not known on this system")

// ErrChanged is the error of a file that a person wrote or changed.
var ErrChanged = errors.New("it was not written by 'toolcrib service install', or was changed since")

// manager is what runs the services of a person.
type manager interface {
	service(name string) string                // what it calls one
	file(name string) (string, error)          // where that is written down
	text(u Unit) (string, error)               // what is written there
	args(text string) []string                 // the command in it
	alive(ctx context.Context) error           // whether it runs; why not
	start(ctx context.Context, n string) error // now, and at every log-in
	stop(ctx context.Context, n string) error  // now, and for good
	ask(ctx context.Context, s *State, n string)
	byHand(n string, start bool) []string // what start or stop run
	notes(ctx context.Context) []string
}

func (n Needs) manager() (manager, error) {
	switch n.GOOS {
	case "linux":
		return systemd{n}, nil
	case "darwin":
		return launchd{n}, nil
	}
	return nil, ErrNotHere
}

// check refuses what cannot be a unit.
func (u Unit) check() error {
	switch {
	case u.Name == "" || strings.Trim(u.Name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
		return fmt.Errorf("%q is no name of a service", u.Name)
	case !filepath.IsAbs(u.Program):
		return fmt.Errorf("%s: the program of a service needs its whole path", u.Program)
	case u.Dir != "" && !filepath.IsAbs(u.Dir):
		return fmt.Errorf("%s: the directory of a service needs its whole path", u.Dir)
	}
	for _, value := range append([]string{u.Title, u.Program, u.Dir}, u.Args...) {
		if err := plain(value); err != nil {
			return err
		}
	}
	for name, value := range u.Env {
		if name == "" || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") != "" {
			return fmt.Errorf("%q is no name of a variable", name)
		}
		if err := plain(value); err != nil {
			return err
		}
	}
	return nil
}

// plain refuses what no line of a file can hold.
func plain(value string) error {
	for _, r := range value {
		if r < ' ' && r != '\t' || r == 0x7f || r == '\ufffd' {
			return fmt.Errorf("%q cannot be written into the file of a service", value)
		}
	}
	return nil
}

// dir is where the service runs.
func (n Needs) dir(u Unit) string {
	if u.Dir != "" {
		return u.Dir
	}
	return n.Home
}

func (n Needs) run(ctx context.Context, program string, args ...string) (string, error) {
	if n.Run == nil {
		return "", errors.New("no program is started here")
	}
	return n.Run(ctx, program, args...)
}

// ByHand says how a service is set up on a system without one that we know.
func ByHand(goos string, u Unit) string {
	if goos != "windows" {
		return "Start it from whatever starts your programs at log-in: " + commandLine(append([]string{u.Program}, u.Args...))
	}
	words := []string{`\"` + u.Program + `\"`}
	for _, a := range u.Args {
		words = append(words, `\"`+strings.ReplaceAll(a, `"`, `\\\"`)+`\"`)
	}
	task := "toolcrib-" + u.Name
	return "The Task Scheduler of Windows can start it at log-in: schtasks /Create /SC ONLOGON /TN " + task + ` /TR "` + strings.Join(words, " ") + `". To remove it: schtasks /Delete /TN ` + task
}

// commandLine writes a command as a shell takes it.
func commandLine(args []string) string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = text.ShellWord(a)
	}
	return strings.Join(out, " ")
}
