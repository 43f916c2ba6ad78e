package hooked

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/clienthook"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/tomltext"
	"github.com/toolcrib/toolcrib/internal/toolname"
)

// Read reads what the hook of a client was told. Served says whether our own server has a
// tool of that very name, for a client that was started in a directory.
func Read(client string, raw []byte, home string, getenv func(string) string, served func(project, tool string) bool) (*clienthook.Event, error) {
	return clienthook.Parse(client, raw, clienthook.Surroundings{
		Home: home, Getenv: getenv, MayBeZsh: func(client string) bool { return MayBeZsh(client, getenv) },
		Link: func(path string) bool {
			info, err := os.Lstat(path)
			return err == nil && info.Mode()&os.ModeSymlink != 0
		},
		Own: isThisProgram, Posing: posing, Alone: alone, Served: served,
		Part: filePart,
	})
}

// isThisProgram: clients start it by its path, or by its name.
func isThisProgram(program string) bool {
	self, err := os.Executable()
	if err != nil || program == "" {
		return false
	}
	if found, err := exec.LookPath(program); err == nil {
		program = found
	}
	a, errA := os.Stat(self)
	b, errB := os.Stat(program)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// posing reports whether a project, or a directory around it, brings an MCP server
// whose tools could be taken for ours and that is another program.
func posing(project string) bool {
	return slices.ContainsFunc(around(project), func(dir string) bool {
		for _, find := range []func(string) ([]string, bool){namesakes, codexNamesakes} {
			if programs, ok := find(dir); !ok || slices.ContainsFunc(programs, func(program string) bool { return !isThisProgram(program) }) {
				return true
			}
		}
		return false
	})
}

// alone reports whether nothing that a project brings has our name. This program with
// settings of the project's would have it too, and may allow everything. Of a project that
// nobody names nothing is known.
func alone(project string) bool {
	return filepath.IsAbs(project) && !slices.ContainsFunc(around(project), func(dir string) bool {
		programs, ok := namesakes(dir)
		return !ok || len(programs) > 0
	})
}

// around is a directory and those that it lies in.
func around(project string) (dirs []string) {
	for dir := project; filepath.IsAbs(dir); dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
		if filepath.Dir(dir) == dir {
			break
		}
	}
	return dirs
}

// namesakes are the programs of servers in the .mcp.json of a directory whose tools could
// be taken for ours, in any case of their letters and however they are written in JSON.
// False: the file is there and cannot be read.
func namesakes(dir string) (programs []string, ok bool) {
	text, err := plainfile.Settings(filepath.Join(dir, ".mcp.json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, true
	}
	var top map[string]json.RawMessage
	if err != nil || json.Unmarshal(text, &top) != nil {
		return nil, false
	}
	for key, value := range top {
		var servers map[string]map[string]json.RawMessage
		if !strings.EqualFold(key, "mcpServers") {
			continue
		}
		if json.Unmarshal(value, &servers) != nil {
			return nil, false
		}
		for name, server := range servers {
			var program string
			_ = json.Unmarshal(server["command"], &program) // what is no text is no program of ours
			programs = appendNamesake(programs, name, program)
		}
	}
	return programs, true
}

// codexNamesakes are those in the .codex/config.toml of a directory.
func codexNamesakes(dir string) (programs []string, ok bool) {
	text, err := plainfile.Settings(filepath.Join(dir, ".codex", "config.toml"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, true
	}
	if err != nil {
		return nil, false
	}
	statements, err := tomltext.Parse(text)
	if err != nil {
		return nil, false
	}
	for _, top := range tomltext.Tree(statements).Fields {
		if top.Name != "mcp_servers" {
			continue
		}
		for _, server := range top.Value.Fields {
			program := ""
			for _, f := range server.Value.Fields {
				if f.Name == "command" && f.Value.Kind == tomltext.Text {
					program = f.Value.Text
				}
			}
			programs = appendNamesake(programs, server.Name, program)
		}
	}
	return programs, true
}

// appendNamesake adds the program of a server if a client gives its tools names that
// begin as those of ours do: mcp__toolcrib__evil__run is the tool run of a server
// toolcrib__evil, or evil__run of ours. Only one of exactly our name can be ours.
func appendNamesake(programs []string, name, program string) []string {
	switch name = clientName(name); {
	case name == toolname.OwnServer:
		return append(programs, program)
	case strings.HasPrefix(name, toolname.OwnServer+"_"):
		return append(programs, "")
	}
	return programs
}

// clientName is the name of a server as clients put it before those of its tools, in
// small letters.
func clientName(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name))
}

// filePart is the beginning or the end of a regular file.
func filePart(path string, end bool, most int) []byte {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // it was only read
	text := make([]byte, min(info.Size(), int64(most)))
	at := int64(0)
	if end {
		at = info.Size() - int64(len(text))
	}
	n, err := f.ReadAt(text, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	return text[:n]
}
