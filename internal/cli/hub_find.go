package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/text"
)

// find reads the files of an import. A file that was not asked for by name and
// cannot be read is told and left.
func (c *command) find(files []string, from string) ([]taken, error) {
	if from != "" && !slices.Contains(clientfiles.Clients(), from) {
		return nil, usagef("--from is %q: want one of %s", from, strings.Join(clientfiles.Clients(), ", "))
	}
	var out []taken
	for _, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, usage(err)
		}
		client, ok := from, true
		if client == "" {
			client, ok = clientfiles.Detect(path, content)
		}
		if !ok {
			return nil, usagef("whose file %s is cannot be told: say it with --from", path)
		}
		list := c.read(client, path, content)
		c.switchOff(list, c.clientPlace(client, path))
		out = append(out, list...)
	}
	if len(files) > 0 {
		return out, nil
	}
	for _, place := range clientfiles.Places(runtime.GOOS, c.home(), c.getenv, c.dir) {
		if from != "" && place.Client != from {
			continue
		}
		for _, p := range place.Files(plainfile.ReadDir) {
			out = append(out, c.readPlace(p)...)
		}
	}
	return out, nil
}

// readPlace reads a file that was not named. A project's may be a pipe.
func (c *command) readPlace(p clientfiles.Place) []taken {
	content, err := plainfile.Read(p.Path, plainfile.MaxSettings)
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			c.leftOut("%s: %v", p.Path, err)
		}
		return nil
	}
	list := c.read(p.Client, p.Path, content)
	for i := range list {
		list[i].project = p.Scope == clientfiles.ScopeProject
	}
	c.switchOff(list, p)
	return list
}

// clientPlace gives the place of a file that was named, with the further files of
// its client, if it lies where that client looks for it.
func (c *command) clientPlace(client, path string) clientfiles.Place {
	full, err := filepath.Abs(path)
	if err == nil {
		for _, p := range clientfiles.Places(runtime.GOOS, c.home(), c.getenv, filepath.Dir(full)) {
			if p.Client == client && p.Path == full {
				return p
			}
		}
	}
	return clientfiles.Place{Client: client, Path: path}
}

// switchOff switches off the servers that the client does not start, though
// they stand in its file.
func (c *command) switchOff(list []taken, p clientfiles.Place) {
	off, unknown := c.switchedOff(p, len(list))
	for i := range list {
		t := &list[i]
		switch {
		case slices.Contains(off, t.server.Name):
			t.server.Disabled = true
			t.server.Notes = append(t.server.Notes, "it is switched off in the settings of "+clientfiles.Title(p.Client))
		case unknown:
			t.server.Disabled = true
			t.server.Notes = append(t.server.Notes, "settings of "+clientfiles.Title(p.Client)+" that may switch it off cannot be read, so it is switched off here")
		}
	}
}

// switchedOff lists the servers of a place that further files of its client
// switch off. Unknown: one of these cannot be read.
func (c *command) switchedOff(p clientfiles.Place, servers int) (names []string, unknown bool) {
	for _, file := range p.Also {
		if servers == 0 {
			break
		}
		content, err := plainfile.Read(file, plainfile.MaxSettings)
		if errors.Is(err, os.ErrNotExist) || err == nil && len(bytes.TrimSpace(content)) == 0 {
			continue
		}
		var off []string
		if err == nil {
			off, err = clientfiles.SwitchedOff(content, filepath.Dir(p.Path)) // it lies at the top of its project
		}
		if err != nil {
			c.leftOut("%s: %v: it may switch off servers of %s", file, err, p.Path)
			unknown = true
		}
		names = append(names, off...)
	}
	return names, unknown
}

// leftOut names what an import does not take over.
func (c *command) leftOut(format string, args ...any) {
	fmt.Fprintf(c.err, "toolcrib: warning: left out: %s\n", text.ShowLine(fmt.Sprintf(format, args...)))
}

// read gives the servers of one file that are for here.
func (c *command) read(client, path string, content []byte) []taken {
	servers, problems := c.codec().Read(client, content)
	for _, p := range problems {
		c.leftOut("%s: %s", path, p)
	}
	var out []taken
	var others []string
	for _, s := range servers {
		switch {
		case ourselves(s): // it would stand behind itself
		case s.Project == "" || s.Project == c.dir:
			out = append(out, taken{file: path, server: s})
		default:
			others = append(others, s.Name)
		}
	}
	if len(others) > 0 {
		slices.Sort(others)
		c.leftOut("%s: for other projects only: %s (run the import there)", path, strings.Join(slices.Compact(others), ", "))
	}
	return out
}

// ourselves reports whether a server is this program, as connect wrote it.
func ourselves(s clientfiles.Server) bool {
	base := strings.TrimSuffix(filepath.Base(s.Command), ".exe")
	exe, err := os.Executable()
	return s.Name == connectName && s.URL != "" || s.Command != "" && len(s.Args) > 0 && s.Args[0] == "mcp" && (base == "toolcrib" || err == nil && s.Command == exe)
}
