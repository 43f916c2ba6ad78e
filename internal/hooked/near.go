package hooked

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"

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
		Own: isThisProgram, Posing: posing,
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
	for dir := project; filepath.IsAbs(dir); dir = filepath.Dir(dir) {
		if text, err := plainfile.Settings(filepath.Join(dir, ".codex", "config.toml")); err == nil && bytes.Contains(text, []byte(toolname.OwnServer)) {
			self, err := os.Executable()
			if err != nil || !bytes.Contains(text, []byte(filepath.ToSlash(self))) {
				return true
			}
		}
		text, err := plainfile.Settings(filepath.Join(dir, ".mcp.json"))
		if err == nil && bytes.Contains(text, []byte(toolname.OwnServer)) {
			var file struct {
				Servers map[string]struct {
					Command string `json:"command"`
				} `json:"mcpServers"`
			}
			if json.Unmarshal(text, &file) != nil {
				return true
			}
			if s, ok := file.Servers[toolname.OwnServer]; ok && !isThisProgram(s.Command) {
				return true
			}
		}
		if filepath.Dir(dir) == dir {
			break
		}
	}
	return false
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
