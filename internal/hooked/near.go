package hooked

import (
	"bytes"
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
	"github.com/toolcrib/toolcrib/internal/toolname"
)

// Read reads what the hook of a client was told.
func Read(client string, raw []byte, home string, getenv func(string) string) (*clienthook.Event, error) {
	return clienthook.Parse(client, raw, clienthook.Surroundings{
		Home: home, Getenv: getenv,
		Link: func(path string) bool {
			info, err := os.Lstat(path)
			return err == nil && info.Mode()&os.ModeSymlink != 0
		},
		Own: isThisProgram, Posing: posing, Alone: alone,
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
// that has our name and is another program.
func posing(project string) bool {
	return slices.ContainsFunc(around(project), func(dir string) bool {
		if text, err := plainfile.Settings(filepath.Join(dir, ".codex", "config.toml")); err == nil && bytes.Contains(text, []byte(toolname.OwnServer)) {
			self, err := os.Executable()
			if err != nil || !bytes.Contains(text, []byte(filepath.ToSlash(self))) {
				return true
			}
		}
		programs, ok := namesakes(filepath.Join(dir, ".mcp.json"))
		return !ok || slices.ContainsFunc(programs, func(program string) bool { return !isThisProgram(program) })
	})
}

// alone reports whether nothing that a project brings has our name. This program with
// settings of the project's would have it too, and may allow everything. Of a project that
// nobody names nothing is known.
func alone(project string) bool {
	return filepath.IsAbs(project) && !slices.ContainsFunc(around(project), func(dir string) bool {
		programs, ok := namesakes(filepath.Join(dir, ".mcp.json"))
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

// namesakes are the programs of servers in a file that have our name, in any case of its
// letters and however it is written in JSON. False: the file is there and cannot be read.
func namesakes(file string) (programs []string, ok bool) {
	text, err := plainfile.Settings(file)
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
			if strings.EqualFold(name, toolname.OwnServer) {
				_ = json.Unmarshal(server["command"], &program) // what is no text is no program of ours
				programs = append(programs, program)
			}
		}
	}
	return programs, true
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
