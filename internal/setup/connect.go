package setup

import (
	"errors"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/text"
)

// hookSeconds is how long a client waits for a hook: longer than one takes, since
// some clients let the call pass afterwards.
const hookSeconds = 60

// Hooks are those of a client that ask Toolcrib before each of its own tools.
// Entry is how the client would start Toolcrib as a server.
func (m Machine) Hooks(client string, entry clientfiles.Entry) ([]clientfiles.Hook, error) {
	before, after, ok := clientfiles.HookEvents(client)
	if !ok {
		return nil, fmt.Errorf("%s has no hooks that Toolcrib knows", clientfiles.Title(client))
	}
	command, err := m.hookCommand(client, entry)
	if err != nil {
		return nil, err
	}
	var hooks []clientfiles.Hook
	for _, event := range before {
		hooks = append(hooks, clientfiles.Hook{Event: event, Command: command + m.hookOtherwise(), Seconds: hookSeconds})
	}
	for _, event := range after {
		hooks = append(hooks, clientfiles.Hook{Event: event, Command: command, Seconds: hookSeconds})
	}
	return hooks, nil
}

// HookFile is where a client keeps its hooks.
func (m Machine) HookFile(client, project string) string {
	return clientfiles.HookFile(client, m.Home, m.env(), project)
}

// hookCommand is this very program, with what this run was told about the settings.
func (m Machine) hookCommand(client string, entry clientfiles.Entry) (string, error) {
	words := []string{text.ShellWord(entry.Command), "hook", client}
	for _, arg := range entry.Args[1:] { // the first is mcp
		words = append(words, text.ShellWord(arg))
	}
	for _, name := range []string{"TOOLCRIB_HOME"} {
		if value := entry.Env[name]; value != "" {
			if m.GOOS == "windows" {
				return "", errors.New("TOOLCRIB_HOME is set, and a hook cannot be given it here; set it where the client is started, and unset it for this command")
			}
			words = append([]string{name + "=" + text.ShellWord(value)}, words...)
		}
	}
	return strings.Join(words, " "), nil
}

// hookOtherwise makes every failure of the program one that blocks, also that it is
// not there any more, or was killed: clients take other failures for a yes.
func (m Machine) hookOtherwise() string {
	if m.GOOS == "windows" { // there are shells without it
		return ""
	}
	return " || exit 2"
}
