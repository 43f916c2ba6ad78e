package setup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
)

// Name is what Toolcrib is called in a client's list.
const Name = "toolcrib"

// Machine is where the files of clients lie.
type Machine struct {
	GOOS      string
	Home, Dir string // of the person, and where the command runs
	Env       func(string) string
	Exe       string // this program; empty: it is not known

	everywhere bool // links may lead out of the home directory
}

// Codec reads and edits the files of clients on this machine.
func (m Machine) Codec() clientfiles.Codec {
	return clientfiles.Codec{YAML: config.Decode, Home: m.Home, Project: m.Dir, Exists: func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.Mode().IsRegular()
	}}
}

// Connectable are the clients that have a place for servers.
func Connectable() []string {
	return slices.DeleteFunc(clientfiles.Clients(), func(name string) bool { return name == clientfiles.AgentPlugins })
}

// Hookable are the clients that have hooks.
func Hookable() []string {
	return slices.DeleteFunc(Connectable(), func(client string) bool {
		_, _, ok := clientfiles.HookEvents(client)
		return !ok
	})
}

// ClientFile is the file of a client: the first that is there, or where a new
// one goes. Project is the directory of one, for the file of that project.
func (m Machine) ClientFile(client, project string) (string, error) {
	scope := clientfiles.ScopeUser
	if project != "" {
		scope = clientfiles.ScopeProject
	}
	first := ""
	for _, p := range clientfiles.Places(m.GOOS, m.Home, m.Env, project) {
		if p.Client != client || p.Scope != scope {
			continue
		}
		if p.Dir { // a server has a file of its own there
			return filepath.Join(p.Path, Name+".json"), nil
		}
		if _, err := os.Stat(p.Path); err == nil {
			return p.Path, nil
		}
		if first == "" {
			first = p.Path
		}
	}
	if first == "" {
		return "", fmt.Errorf("%s has no %s file that is known", clientfiles.Title(client), scope)
	}
	return first, nil
}

// Present reports whether a client is on this machine: a file of its servers is there, the
// directory in which it would be and which is nobody else's, or its program.
func (m Machine) Present(client string) bool {
	there := func(path string) bool {
		_, err := os.Stat(path)
		return !errors.Is(err, os.ErrNotExist) && err == nil
	}
	for _, p := range clientfiles.Places(m.GOOS, m.Home, m.Env, "") {
		if p.Client != client {
			continue
		}
		if dir := filepath.Dir(p.Path); there(p.Path) || dir != filepath.Clean(m.Home) && there(dir) {
			return true
		}
	}
	if file := clientfiles.HookFile(client, m.Home, m.env(), ""); file != "" && there(filepath.Dir(file)) {
		return true
	}
	return m.installed(client)
}

// installed reports whether the program of a client is in the path, as before its first
// start. Only names that nothing else has are looked for.
func (m Machine) installed(client string) bool {
	name := map[string]string{
		clientfiles.ClaudeCode: "claude", clientfiles.Codex: "codex", clientfiles.Gemini: "gemini", clientfiles.Cursor: "cursor",
		clientfiles.OpenCode: "opencode", clientfiles.Windsurf: "windsurf",
	}[client]
	if name == "" {
		return false
	}
	names := []string{name}
	if m.GOOS == "windows" {
		names = []string{name + ".exe", name + ".cmd"}
	}
	for _, dir := range filepath.SplitList(m.env()("PATH")) {
		for _, name := range names {
			info, err := os.Stat(filepath.Join(dir, name))
			if err == nil && filepath.IsAbs(dir) && info.Mode().IsRegular() && (m.GOOS == "windows" || info.Mode()&0o111 != 0) {
				return true
			}
		}
	}
	return false
}

func (m Machine) env() func(string) string {
	if m.Env == nil {
		return func(string) string { return "" }
	}
	return m.Env
}

// IsOurs reports whether a server is this program, or what looks like it: behind
// itself it would start itself for ever, so it is never taken over.
func (m Machine) IsOurs(s clientfiles.Server) bool {
	base := strings.TrimSuffix(filepath.Base(s.Command), ".exe")
	return s.Name == Name && s.URL != "" || s.Command != "" && len(s.Args) > 0 && s.Args[0] == "mcp" && (base == "toolcrib" || m.Exe != "" && s.Command == m.Exe)
}
