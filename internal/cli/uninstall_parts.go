package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/ovos/adopt"
	"github.com/toolcrib/toolcrib/internal/rewrite"
	"github.com/toolcrib/toolcrib/internal/service"
	"github.com/toolcrib/toolcrib/internal/setup"
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
			if bytes.Contains(text, []byte(setup.Name)) { // else it is none of our business
				notes = append(notes, fmt.Sprintf("%s could not be read (%v): look whether Toolcrib is in it.", file, err))
			}
			return
		}
		if !bytes.Equal(text, after) {
			list = append(list, removal{what: fmt.Sprintf("take %s out of %s (%s)", what, clientfiles.Title(client), file), do: func(context.Context) error {
				if _, missing, err := textIfThere(file); missing || err != nil { // what came before may have removed it
					return err
				}
				return rewrite.File(file, change)
			}})
		}
	}
	for _, p := range clientfiles.Places(runtime.GOOS, c.home(), c.getenv, "") {
		file := p.Path
		if p.Client == clientfiles.AgentPlugins || p.Scope != clientfiles.ScopeUser {
			continue
		}
		if p.Dir {
			file = filepath.Join(p.Path, setup.Name+".json")
		}
		add(p.Client, file, "Toolcrib", func(text []byte) ([]byte, error) { return c.codec().Remove(p.Client, text, setup.Name) })
	}
	for _, client := range setup.Hookable() {
		add(client, clientfiles.HookFile(client, c.home(), c.getenv, ""), "the hooks of Toolcrib", func(text []byte) ([]byte, error) { return clientfiles.RemoveHooks(client, text) })
	}
	if len(list) > 0 {
		notes = append(notes, "Restart the clients. A copy of each file that is changed lies beside it, with .before- and the time in its name. What was set up with --project in a single project stays: run 'toolcrib connect CLIENT --project --undo' there.")
	}
	return list, notes
}

// setupRemoval takes back what setup did, which gives every file its bytes again and
// the clients their servers. It comes first: the rest finds little to do then.
func (c *command) setupRemoval(state string) (list []removal, notes []string) {
	if _, err := os.Stat(filepath.Join(state, "setup", "record.json")); err == nil {
		list = append(list, removal{what: "take back what 'toolcrib setup' did: your clients get their own servers again", do: c.setupUndo, must: true})
	}
	is, _, err := adopt.Adopted(state)
	if err != nil {
		notes = append(notes, fmt.Sprintf("What 'toolcrib bus adopt' did cannot be read (%v): look at your mycroft.conf.", err))
	}
	if is {
		list = append(list, removal{what: "take back what 'toolcrib bus adopt' did: the voice assistant gets its own plugin again", must: true, do: func(ctx context.Context) error {
			return c.busAdoptUndo(ctx, adopting{yes: true})
		}})
	}
	return list, notes
}

// serviceRemovals finds the services of the person.
func (c *command) serviceRemovals(ctx context.Context) (list []removal, notes []string) {
	needs := c.serviceNeeds()
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
		list = append(list, removal{what: fmt.Sprintf("end and remove the service %s (%s)", would.Service, would.File), do: func(ctx context.Context) error {
			done, err := service.Remove(ctx, needs, name, false)
			for _, line := range done.Run {
				fmt.Fprintln(c.out, "Left for you: "+line)
			}
			return err
		}})
	}
	return list, notes
}
