package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/rewrite"
)

// hookSeconds is how long a client waits for a hook: longer than one takes, since
// some clients let the call pass afterwards.
const hookSeconds = 60

// connectHooks writes the hooks of a client, or takes them out.
func (c *command) connectHooks(client string, how connecting) error {
	before, after, ok := clientfiles.HookEvents(client)
	if !ok {
		if !slices.Contains(connectable(), client) {
			return usagef("Toolcrib does not know the client %q%s", client, nearClients(client))
		}
		return usagef("%s has no hooks that Toolcrib knows, so its own tools cannot be judged; those that have are %s. Switch its own tools off where it lets you, and connect it without --hooks", clientfiles.Title(client), strings.Join(hookable(), ", "))
	}
	project := ""
	if how.project {
		project = c.dir
	}
	file := clientfiles.HookFile(client, c.home(), c.getenv, project)
	if how.project {
		if _, err := rewrite.Inside(c.dir, file); err != nil {
			return err
		}
	}
	command, err := c.hookCommand(client)
	if err != nil {
		return err
	}
	var hooks []clientfiles.Hook
	for _, event := range before {
		hooks = append(hooks, clientfiles.Hook{Event: event, Command: command + hookOtherwise(), Seconds: hookSeconds})
	}
	for _, event := range after {
		hooks = append(hooks, clientfiles.Hook{Event: event, Command: command, Seconds: hookSeconds})
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
		fmt.Fprintln(c.out, "Its commands run outside of every sandbox: those that only read what the line names run unasked, the others need a rule, or you are asked (docs/hooks.md).")
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

// hookable are the clients that have hooks.
func hookable() []string {
	return slices.DeleteFunc(connectable(), func(client string) bool {
		_, _, ok := clientfiles.HookEvents(client)
		return !ok
	})
}

// hookCommand is this very program, with what this run was told about the settings.
func (c *command) hookCommand(client string) (string, error) {
	entry, err := c.connectEntry(connecting{})
	if err != nil {
		return "", err
	}
	words := []string{shellWord(entry.Command), "hook", client}
	for _, arg := range entry.Args[1:] { // the first is mcp
		words = append(words, shellWord(arg))
	}
	for _, name := range []string{"TOOLCRIB_HOME"} {
		if value := entry.Env[name]; value != "" {
			if runtime.GOOS == "windows" {
				return "", usagef("TOOLCRIB_HOME is set, and a hook cannot be given it here; set it where the client is started, and unset it for this command")
			}
			words = append([]string{name + "=" + shellWord(value)}, words...)
		}
	}
	return strings.Join(words, " "), nil
}

// hookOtherwise makes every failure of the program one that blocks, also that it is
// not there any more, or was killed: clients take other failures for a yes.
func hookOtherwise() string {
	if runtime.GOOS == "windows" { // there are shells without it
		return ""
	}
	return " || exit 2"
}

// shellWord writes a word for any shell.
func shellWord(s string) string {
	if s = filepath.ToSlash(s); s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-./:=,+@%", r)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
