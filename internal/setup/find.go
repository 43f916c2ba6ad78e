package setup

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// Taken is one server in the file of a client.
type Taken struct {
	File    string
	Project bool               // the file is the project's own
	Server  clientfiles.Server // of one that has a name: without its secrets
	Secrets []clientfiles.Found
	Name    string // under which it is written

	original string             // its name in the file
	entry    clientfiles.Server // as it was read
	also     []Taken            // the same one in other files
}

// Left is what was found and not read.
type Left struct {
	Client, File string
	Text         string
	Skipped      bool // nothing is wrong: it is no server
}

// Survey is what the files of clients hold.
type Survey struct {
	Servers   []Taken // for everywhere, or for this directory
	Elsewhere []Taken // that a person's own file has for other projects
	Ours      []Taken // Toolcrib, or what looks like it
	Left      []Left
	Files     []clientfiles.Place // those that are there, with their text or not
}

func (s *Survey) leave(p clientfiles.Place, format string, args ...any) {
	s.Left = append(s.Left, Left{Client: p.Client, File: p.Path, Text: fmt.Sprintf(format, args...)})
}

// Survey reads the files of all clients, or of one. A file that cannot be read is
// told and left.
func (m Machine) Survey(client string) *Survey {
	s := &Survey{}
	for _, place := range clientfiles.Places(m.GOOS, m.Home, m.Env, m.Dir) {
		if client != "" && place.Client != client {
			continue
		}
		for _, p := range place.Files(plainfile.ReadDir) {
			m.readPlace(s, p)
		}
	}
	return s
}

// readPlace reads a file that was not named. A project's may be a pipe.
func (m Machine) readPlace(s *Survey, p clientfiles.Place) {
	content, err := plainfile.Read(p.Path, plainfile.MaxSettings)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	s.Files = append(s.Files, p)
	if err != nil {
		s.leave(p, "%v", err)
		return
	}
	m.read(s, p, content)
}

// Named reads one file that a person named. Client is whose it is; empty: it is
// found out.
func (m Machine) Named(s *Survey, client, path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	ok := true
	if client == "" {
		client, ok = clientfiles.Detect(path, content)
	}
	if !ok {
		return fmt.Errorf("whose file %s is cannot be told: say it with --from", path)
	}
	p := m.placeOf(client, path)
	p.Path, p.Scope = path, "" // as it was named, and therefore wanted
	m.read(s, p, content)
	return nil
}

// placeOf gives the place of a file that was named, with the further files of
// its client, if it lies where that client looks for it.
func (m Machine) placeOf(client, path string) clientfiles.Place {
	full, err := filepath.Abs(path)
	if err == nil {
		for _, p := range clientfiles.Places(m.GOOS, m.Home, m.Env, filepath.Dir(full)) {
			if p.Client == client && p.Path == full {
				return p
			}
		}
	}
	return clientfiles.Place{Client: client, Path: path}
}

// read gathers the servers of one file.
func (m Machine) read(s *Survey, p clientfiles.Place, content []byte) {
	servers, problems := m.Codec().Read(p.Client, content)
	for _, problem := range problems {
		s.Left = append(s.Left, Left{p.Client, p.Path, problem.String(), problem.Skipped})
	}
	var here []Taken
	for _, server := range servers {
		t := Taken{File: p.Path, Server: server, Project: p.Scope == clientfiles.ScopeProject, original: server.Name, entry: server}
		switch {
		case m.IsOurs(server): // it would stand behind itself
			s.Ours = append(s.Ours, t)
		case server.Project == "" || server.Project == m.Dir:
			here = append(here, t)
		default:
			s.Elsewhere = append(s.Elsewhere, t)
		}
	}
	m.switchOff(s, here, p)
	s.Servers = append(s.Servers, here...)
}

// switchOff switches off the servers that the client does not start, though
// they stand in its file.
func (m Machine) switchOff(s *Survey, list []Taken, p clientfiles.Place) {
	off, unknown := m.switchedOff(s, p, len(list))
	for i := range list {
		t := &list[i]
		switch {
		case slices.Contains(off, t.Server.Name):
			t.Server.Disabled = true
			t.Server.Notes = append(t.Server.Notes, "it is switched off in the settings of "+clientfiles.Title(p.Client))
		case unknown:
			t.Server.Disabled = true
			t.Server.Notes = append(t.Server.Notes, "settings of "+clientfiles.Title(p.Client)+" that may switch it off cannot be read, so it is switched off here")
		}
	}
}

// switchedOff lists the servers of a place that further files of its client
// switch off. Unknown: one of these cannot be read.
func (m Machine) switchedOff(s *Survey, p clientfiles.Place, servers int) (names []string, unknown bool) {
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
			s.leave(clientfiles.Place{Client: p.Client, Path: file}, "%v: it may switch off servers of %s", err, p.Path)
			unknown = true
		}
		names = append(names, off...)
	}
	return names, unknown
}

// ElsewhereText names, for each file, the servers that it has for other projects only.
func (s *Survey) ElsewhereText() (lines []string) {
	names := map[string][]string{}
	var files []string
	for _, t := range s.Elsewhere {
		if names[t.File] == nil {
			files = append(files, t.File)
		}
		names[t.File] = append(names[t.File], t.Server.Name)
	}
	for _, file := range files {
		slices.Sort(names[file])
		lines = append(lines, fmt.Sprintf("%s: for other projects only: %s (run the import there)", file, strings.Join(slices.Compact(names[file]), ", ")))
	}
	return lines
}
