package setup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// target is a file of a client into which Toolcrib goes.
type target struct{ client, file string }

// targets are the files of the clients that were used on this machine: one of each, and
// every other that has servers.
func (s *Setup) targets() (list []target) {
	add := func(client, file string) {
		if t := (target{client, file}); !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	for _, client := range Connectable() {
		if !s.Present(client) {
			continue
		}
		if file, err := s.ClientFile(client, ""); err == nil {
			add(client, file)
		}
		for _, p := range s.survey.Files {
			if p.Client == client && p.Scope == clientfiles.ScopeUser && !p.Dir && client != clientfiles.Continue && slices.ContainsFunc(s.own(), func(t Taken) bool { return t.File == p.Path }) {
				add(client, p.Path)
			}
		}
	}
	return list
}

// fileText reads a file of a client, which may be missing.
func fileText(file string) ([]byte, error) {
	content, err := plainfile.Read(file, plainfile.MaxSettings)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return content, err
}

// connected reports whether a file has Toolcrib, as this program would be started or at
// the address of its server.
func (s *Setup) connected(client string, content []byte) bool {
	servers, _ := s.Codec().Read(client, content)
	return slices.ContainsFunc(servers, s.isThis)
}

// isThis reports whether an entry is this program with this person's settings. With others
// it may be a Toolcrib that allows everything: only an agent may be named besides.
func (s *Setup) isThis(t clientfiles.Server) bool {
	if t.Disabled || t.Project != "" {
		return false
	}
	return t.URL != "" && t.URL == s.OwnURL ||
		t.Command == s.Entry.Command && slices.Equal(withoutAgent(t.Args), withoutAgent(s.Entry.Args)) && maps.Equal(t.Env, s.Entry.Env)
}

func withoutAgent(args []string) []string {
	if i := slices.Index(args, "--agent"); i > 0 && i+1 < len(args) {
		return slices.Delete(slices.Clone(args), i, i+2)
	}
	return args
}

// lookConnect finds the clients that have no Toolcrib.
func (s *Setup) lookConnect(_ context.Context, b *book) (plan, error) {
	p := plan{yes: true}
	var open []target
	have := 0
	for _, t := range s.targets() {
		content, err := fileText(t.file)
		if err == nil {
			_, err = s.where(t.file)
		}
		if err != nil {
			p.warn = append(p.warn, fmt.Sprintf("%s is left as it is: %v", clientfiles.Title(t.client), err))
			continue
		}
		if s.connected(t.client, content) {
			have++
			continue
		}
		if _, err := s.Codec().Add(t.client, content, Name, s.Entry); err != nil {
			p.warn = append(p.warn, fmt.Sprintf("%s is left as it is: %v", t.file, err))
			continue
		}
		open = append(open, t)
		if s.Dry {
			s.joined = append(s.joined, t.client)
		}
		line := fmt.Sprintf("%s: %s", clientfiles.Title(t.client), t.file)
		if s.standsIn(t.client, content) {
			line += " (something else is called toolcrib there; it is replaced)"
		}
		p.would = append(p.would, line)
	}
	if len(open)+have > 0 {
		with := "without Toolcrib"
		if have > 0 {
			with = fmt.Sprintf("%d with Toolcrib", have)
		}
		p.found = append(p.found, fmt.Sprintf("%s, %s.", counted(have+len(open), "client file"), with))
	}
	p.ask = fmt.Sprintf("Write Toolcrib into %s?", counted(len(open), "file"))
	p.do = func(context.Context) (done, warn []string, err error) {
		var names []string
		for _, t := range open {
			content, err := fileText(t.file)
			if err == nil {
				_, err = b.change(s.Machine, t.file, []edit{{Kind: editConnect, Client: t.client, Was: s.standsIn(t.client, content)}}, func(content []byte) ([]byte, error) {
					return s.Codec().Add(t.client, content, Name, s.Entry)
				})
			}
			if err != nil {
				warn = append(warn, fmt.Sprintf("%s is left as it is: %v", clientfiles.Title(t.client), err))
				continue
			}
			names = append(names, clientfiles.Title(t.client))
		}
		if len(names) > 0 {
			done = append(done, strings.Join(slices.Compact(names), ", ")+": Toolcrib is there at the next start.")
		}
		return done, warn, nil
	}
	return p, nil
}

// standsIn reports whether a file has an entry of our name.
func (s *Setup) standsIn(client string, content []byte) bool {
	list, err := s.Codec().Entries(client, content)
	return err == nil && slices.ContainsFunc(list, func(h clientfiles.Held) bool { return h.Name == Name && h.Project == "" })
}
