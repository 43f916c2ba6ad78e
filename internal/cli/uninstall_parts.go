package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/rewrite"
	"github.com/toolcrib/toolcrib/internal/service"
)

// clientRemovals finds what connect wrote for the person: the entry of Toolcrib in
// every file that a client has, and its hooks. A file that cannot be read is told,
// and left as it is.
func (c *command) clientRemovals() (list []removal, notes []string) {
	seen := map[string]bool{}
	add := func(client, file, what string, change func([]byte) ([]byte, error)) {
		if file == "" || seen[what+file] {
			return
		}
		seen[what+file] = true
		text, missing, err := textIfThere(file)
		if missing && err == nil {
			return
		}
		var after []byte
		if err == nil {
			after, err = change(text)
		}
		if err != nil {
			if bytes.Contains(text, []byte(connectName)) { // else it is none of our business
				notes = append(notes, fmt.Sprintf("%s could not be read (%v): look whether Toolcrib is in it.", file, err))
			}
			return
		}
		if !bytes.Equal(text, after) {
			list = append(list, removal{fmt.Sprintf("take %s out of %s (%s)", what, clientfiles.Title(client), file), func(context.Context) error { return rewrite.File(file, change) }})
		}
	}
	for _, p := range clientfiles.Places(runtime.GOOS, c.home(), c.getenv, "") {
		file := p.Path
		if p.Client == clientfiles.AgentPlugins || p.Scope != clientfiles.ScopeUser {
			continue
		}
		if p.Dir {
			file = filepath.Join(p.Path, connectName+".json")
		}
		add(p.Client, file, "Toolcrib", func(text []byte) ([]byte, error) { return c.codec().Remove(p.Client, text, connectName) })
	}
	for _, client := range hookable() {
		add(client, clientfiles.HookFile(client, c.home(), c.getenv, ""), "the hooks of Toolcrib", func(text []byte) ([]byte, error) { return clientfiles.RemoveHooks(client, text) })
	}
	if len(list) > 0 {
		notes = append(notes, "Restart the clients. What was set up with --project in a single project stays: run 'toolcrib connect CLIENT --project --undo' there.")
	}
	return list, notes
}

// serviceRemovals finds the services of the person.
func (c *command) serviceRemovals(ctx context.Context) (list []removal, notes []string) {
	needs := service.Needs{GOOS: runtime.GOOS, Home: c.home(), User: subject(), UID: os.Getuid(), Getenv: c.getenv, Run: runSystem}
	names, err := service.Installed(needs)
	if err != nil {
		return nil, []string{fmt.Sprintf("The services could not be looked at: %v", err)}
	}
	for _, name := range names {
		would, err := service.Remove(ctx, needs, name, true)
		if err != nil {
			notes = append(notes, fmt.Sprintf("The service %s stays: %v (%s)", name, err, would.File))
			continue
		}
		list = append(list, removal{fmt.Sprintf("end and remove the service %s (%s)", would.Service, would.File), func(ctx context.Context) error {
			done, err := service.Remove(ctx, needs, name, false)
			for _, line := range done.Run {
				fmt.Fprintln(c.out, "Left for you: "+line)
			}
			return err
		}})
	}
	return list, notes
}

// runSystem starts a program of the system for package service.
func runSystem(ctx context.Context, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if said := strings.TrimSpace(complaint.String()); err != nil && said != "" {
		err = errors.New(said)
	}
	return string(out), err
}
