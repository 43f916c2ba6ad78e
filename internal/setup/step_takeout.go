package setup

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/text"
)

// lookTakeOut finds the entries whose servers have answered through Toolcrib, in clients
// that have Toolcrib.
func (s *Setup) lookTakeOut(_ context.Context, b *book) (plan, error) {
	p := plan{yes: true}
	var files []clientfiles.Place
	n := 0
	for _, place := range s.userFiles() {
		content, err := fileText(place.Path)
		if err != nil {
			continue // it was told
		}
		held, stay := s.entriesOf(place, content)
		if stay != "" {
			p.warn = append(p.warn, fmt.Sprintf("%s keeps %s: %s", place.Path, counted(len(held), "server"), stay))
			continue
		}
		if silent := s.unanswered(place, content); len(silent) > 0 {
			p.warn = append(p.warn, fmt.Sprintf("%s keeps %s: no answer came through Toolcrib from %s", place.Path, strings.Join(silent, ", "), itThem(len(silent))))
		}
		if len(held) == 0 {
			continue
		}
		files = append(files, place)
		n += len(held)
		p.would = append(p.would, fmt.Sprintf("%s: %s", place.Path, namesOf(held)))
	}
	if n > 0 {
		p.found = append(p.found, fmt.Sprintf("%s in your clients' files would be started by the client itself, round Toolcrib.", counted(n, "server")))
		if s.Dry {
			p.found = append(p.found, "One that does not answer through Toolcrib in the step before stays in its file.")
		}
	}
	p.ask = fmt.Sprintf("Take %s out of %s? '--undo' puts every byte back.", counted(n, "server"), counted(len(files), "file"))
	p.do = func(context.Context) (done, warn []string, err error) {
		taken := 0
		for _, place := range files {
			n, err := s.takeOut(b, place)
			if err != nil {
				warn = append(warn, err.Error())
				continue
			}
			taken += n
		}
		if taken > 0 {
			done = append(done, fmt.Sprintf("%s taken out of your clients' files; through Toolcrib they are still there.", counted(taken, "server")))
		}
		return done, warn, nil
	}
	return p, nil
}

// takeOut takes entries out of a file. Which ones is decided by its text of now: a client
// or a person may have changed it since it was looked at.
func (s *Setup) takeOut(b *book, place clientfiles.Place) (taken int, err error) {
	changed, err := b.changeBy(s.Machine, place.Path, func(content []byte) ([]byte, []edit, error) {
		held, stay := s.entriesOf(place, content)
		if stay != "" {
			return nil, nil, fmt.Errorf("%s keeps its servers: %s", place.Path, stay)
		}
		var edits []edit
		for _, h := range held {
			next, err := s.Codec().TakeOut(place.Client, content, h)
			if err != nil {
				return nil, nil, err
			}
			content, edits = next, append(edits, edit{Kind: editTakeOut, Client: place.Client, Held: h})
		}
		taken = len(held)
		return content, edits, nil
	})
	if err != nil || !changed {
		return 0, err
	}
	return taken, nil
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

// Why entries that Toolcrib has stay in their files.
const (
	whyUnanswered = "it has not answered through Toolcrib"
	whyChanged    = "it was changed while setup was at work; run 'toolcrib setup' again"
)

// entriesOf are the entries of a file that can go: they are as Toolcrib took them over and
// their servers have answered through it, or they claim to be Toolcrib and are not. Stay
// says why they cannot.
func (s *Setup) entriesOf(p clientfiles.Place, content []byte) (held []clientfiles.Held, stay string) {
	all, err := s.Codec().Entries(p.Client, content)
	if err != nil {
		return nil, ""
	}
	for _, h := range all {
		at := spot{p.Path, h.Project, h.Name}
		if s.ours(p.Client, content, h) {
			continue // also in the place of another that had our name
		}
		if s.claims(p.Client, content, h) || s.Strict && !h.Skipped {
			held = append(held, h)
			continue
		}
		c, ok := s.behind[at]
		if !ok {
			continue
		}
		switch now, _ := s.server(p.Client, content, h); {
		case !reflect.DeepEqual(now, c.entry):
			s.why[at] = whyChanged
		case !s.answered[c.name]:
			s.why[at] = whyUnanswered
		default:
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

// unanswered are the entries of a file that a client starts, and that stay because their
// servers have not answered.
func (s *Setup) unanswered(p clientfiles.Place, content []byte) (names []string) {
	all, err := s.Codec().Entries(p.Client, content)
	if err != nil {
		return nil
	}
	for _, h := range all {
		if t, ok := s.server(p.Client, content, h); ok && !t.Disabled && s.why[spot{p.Path, h.Project, h.Name}] == whyUnanswered {
			names = append(names, text.ShowLine(h.Name))
		}
	}
	return names
}

func itThem(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
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

// round names the entries that a client still starts itself, and those of the project. The
// ones whose servers did not start are noted there.
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
			if f := s.failed[s.behind[spot{p.Path, h.Project, h.Name}].name]; f != nil {
				f.Files = append(f.Files, p.Path)
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
