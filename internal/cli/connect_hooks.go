package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/rewrite"
	"github.com/toolcrib/toolcrib/internal/setup"
)

// connectHooks writes the hooks of a client, or takes them out.
func (c *command) connectHooks(client string, how connecting) error {
	if _, _, ok := clientfiles.HookEvents(client); !ok {
		if !slices.Contains(setup.Connectable(), client) {
			return usagef("Toolcrib does not know the client %q%s", client, nearClients(client))
		}
		return usagef("%s has no hooks that Toolcrib knows, so its own tools cannot be judged; those that have are %s. Switch its own tools off where it lets you, and connect it without --hooks", clientfiles.Title(client), strings.Join(setup.Hookable(), ", "))
	}
	project := ""
	if how.project {
		project = c.dir
	}
	file := c.machine().HookFile(client, project)
	if how.project {
		if _, err := rewrite.Inside(c.dir, file); err != nil {
			return err
		}
	}
	entry, err := c.connectEntry(connecting{})
	if err != nil {
		return err
	}
	hooks, err := c.machine().Hooks(client, entry)
	if err != nil {
		return usage(err)
	}
	var was, is []byte
	change := func(text []byte) (_ []byte, err error) {
		was = text
		if how.undo {
			is, err = clientfiles.RemoveHooks(client, text)
		} else {
			is, err = clientfiles.AddHooks(client, text, hooks)
		}
		return is, err
	}
	text, missing, err := textIfThere(file)
	if err != nil {
		return err
	}
	switch {
	case how.dry:
		if _, err := change(text); err != nil {
			return err
		}
		fmt.Fprintf(c.err, "%s would be:\n", file)
		return c.write(is, nil)
	case how.undo && missing:
		fmt.Fprintf(c.out, "There is no %s, so there is nothing to take out.\n", file)
		return nil
	}
	write := rewrite.File
	if how.project {
		write = func(file string, change func([]byte) ([]byte, error)) error {
			return rewrite.InProject(c.dir, file, change)
		}
	}
	if err := write(file, change); err != nil {
		return err
	}
	switch {
	case string(was) == string(is):
		fmt.Fprintf(c.out, "The hooks of %s are already as they should be (%s).\n", clientfiles.Title(client), file)
	case how.undo:
		fmt.Fprintf(c.out, "The hooks are taken out of %s (%s). Restart it.\n", clientfiles.Title(client), file)
	default:
		fmt.Fprintf(c.out, "%s asks Toolcrib before each of its own tools now (%s). Restart it; --hooks --undo takes the hooks out.\n", clientfiles.Title(client), file)
		fmt.Fprintf(c.out, "It runs: %s\n", hooks[0].Command)
		fmt.Fprintln(c.out, "Its commands run outside of every sandbox: those that only read what the line names run unasked. You are asked about the others, also where a rule allows them in our sandbox (docs/hooks.md).")
		if client == clientfiles.Codex {
			fmt.Fprintln(c.out, "Codex starts new hooks only after you have looked at them and trusted them: it asks you at its next start, or at /hooks.")
		}
	}
	return nil
}

// textIfThere reads a file that may be missing.
func textIfThere(file string) (text []byte, missing bool, err error) {
	text, err = os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, true, nil
	}
	return text, false, err
}
