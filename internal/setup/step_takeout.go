package setup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/text"
)

// out is a file with the entries that go out of it.
type out struct {
	client, file string
	held         []clientfiles.Held
}

// lookTakeOut finds the entries that Toolcrib has now, in clients that have Toolcrib.
func (s *Setup) lookTakeOut(_ context.Context, b *book) (plan, error) {
	p := plan{yes: true}
	var outs []out
	n := 0
	for _, place := range s.userFiles() {
		held, stay := s.entriesOf(place)
		if len(held) == 0 {
			continue
		}
		if stay != "" {
			p.warn = append(p.warn, fmt.Sprintf("%s keeps %s: %s", place.Path, counted(len(held), "server"), stay))
			continue
		}
		outs = append(outs, out{place.Client, place.Path, held})
		n += len(held)
		p.would = append(p.would, fmt.Sprintf("%s: %s", place.Path, namesOf(held)))
	}
	if n > 0 {
		p.found = append(p.found, fmt.Sprintf("%s in your clients' files would be started by the client itself, round Toolcrib.", counted(n, "server")))
	}
	p.ask = fmt.Sprintf("Take %s out of %s? '--undo' puts every byte back.", counted(n, "server"), counted(len(outs), "file"))
	p.do = func(context.Context) (done, warn []string, err error) {
		taken := 0
		for _, o := range outs {
			var edits []edit
			for _, h := range o.held {
				edits = append(edits, edit{Kind: editTakeOut, Client: o.client, Held: h})
			}
			changed, err := b.change(s.Machine, o.file, edits, func(content []byte) ([]byte, error) {
				for _, h := range o.held {
					next, err := s.Codec().TakeOut(o.client, content, h)
					if err != nil {
						return nil, err
					}
					content = next
				}
				return content, nil
			})
			if err != nil {
				warn = append(warn, err.Error())
				continue
			}
			if changed {
				taken += len(o.held)
			}
		}
		if taken > 0 {
			done = append(done, fmt.Sprintf("%s taken out. Your clients reach them through Toolcrib.", counted(taken, "server")))
		}
		return done, warn, nil
	}
	return p, nil
}

// userFiles are the person's own files of servers that are there.
func (s *Setup) userFiles() (list []clientfiles.Place) {
	for _, p := range s.survey.Files {
		if p.Scope == clientfiles.ScopeUser {
			list = append(list, p)
		}
	}
	return list
}

// entriesOf are the entries of a file that can go: Toolcrib has them, or they claim to be
// Toolcrib and are not. Stay says why they cannot.
func (s *Setup) entriesOf(p clientfiles.Place) (held []clientfiles.Held, stay string) {
	content, err := fileText(p.Path)
	if err != nil {
		return nil, ""
	}
	all, err := s.Codec().Entries(p.Client, content)
	if err != nil {
		return nil, ""
	}
	for _, h := range all {
		_, behind := s.behind[spot{p.Path, h.Project, h.Name}]
		if s.ours(p.Client, content, h) {
			continue // also in the place of another that had our name
		}
		if behind || s.claims(p.Client, content, h) || s.Strict && !h.Skipped {
			held = append(held, h)
		}
	}
	if len(held) == 0 {
		return nil, ""
	}
	if _, err := s.where(p.Path); err != nil {
		return held, err.Error()
	}
	if !s.clientConnected(p.Client) {
		return held, clientfiles.Title(p.Client) + " has no Toolcrib that would offer them"
	}
	// Each is tried alone, so that one that cannot go keeps no other.
	for _, h := range slices.Clone(held) {
		next, err := s.Codec().TakeOut(p.Client, content, h)
		if err != nil {
			s.why[spot{p.Path, h.Project, h.Name}] = err.Error()
			held = slices.DeleteFunc(held, func(o clientfiles.Held) bool { return o == h })
			continue
		}
		content = next
	}
	return held, ""
}

// clientConnected reports whether a client has Toolcrib in one of its files.
func (s *Setup) clientConnected(client string) bool {
	if slices.Contains(s.joined, client) {
		return true
	}
	for _, t := range s.targets() {
		if t.client != client {
			continue
		}
		if content, err := fileText(t.file); err == nil && s.connected(client, content) {
			return true
		}
	}
	return false
}

// server gives what an entry is read as.
func (s *Setup) server(client string, content []byte, h clientfiles.Held) (clientfiles.Server, bool) {
	list, _ := s.Codec().Read(client, content)
	i := slices.IndexFunc(list, func(t clientfiles.Server) bool { return t.Name == h.Name && t.Project == h.Project })
	if i < 0 {
		return clientfiles.Server{}, false
	}
	return list[i], true
}

// ours reports whether an entry is this very program.
func (s *Setup) ours(client string, content []byte, h clientfiles.Held) bool {
	t, ok := s.server(client, content, h)
	t.Project, t.Disabled = "", false
	return ok && s.isThis(t)
}

// claims reports whether an entry looks like Toolcrib and is another program: nobody
// knows what it does with a call.
func (s *Setup) claims(client string, content []byte, h clientfiles.Held) bool {
	t, ok := s.server(client, content, h)
	return ok && s.IsOurs(t) && !s.ours(client, content, h)
}

// round names the entries that a client still starts itself, and those of the project.
func (s *Setup) round() (own, project []string) {
	found := s.Survey("")
	for _, p := range found.Files {
		content, err := fileText(p.Path)
		if err != nil {
			continue // it was told
		}
		all, err := s.Codec().Entries(p.Client, content)
		if err != nil {
			continue
		}
		for _, h := range all {
			if h.Skipped || s.ours(p.Client, content, h) {
				continue
			}
			if t, ok := s.server(p.Client, content, h); ok && t.Disabled {
				continue // the client does not start it
			}
			line := fmt.Sprintf("%s in %s", text.ShowLine(h.Name), text.ShowLine(p.Path))
			if p.Scope == clientfiles.ScopeProject {
				project = append(project, line)
				continue
			}
			if why := s.why[spot{p.Path, h.Project, h.Name}]; why != "" {
				line += " (" + why + ")"
			}
			own = append(own, line)
		}
	}
	for _, l := range found.Left {
		if !l.Skipped && strings.HasPrefix(l.Text, "the file is not read") || strings.HasPrefix(l.Text, "mcpServers[") {
			own = append(own, fmt.Sprintf("whatever stands in %s: %s", text.ShowLine(l.File), text.ShowLine(l.Text)))
		}
	}
	return own, project
}

func namesOf(held []clientfiles.Held) string {
	var names []string
	for _, h := range held {
		names = append(names, text.ShowLine(h.Name))
	}
	return strings.Join(names, ", ")
}
