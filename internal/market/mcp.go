package market

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/bundle"
)

// mcpRegistry is the API of the registry of MCP servers, which others serve too.
type mcpRegistry struct{ web *web }

const mostPages = 5

// newMCP adds the version of the API, unless the address ends in one.
func newMCP(w *web) *mcpRegistry {
	if last := w.base.Path[strings.LastIndexByte(w.base.Path, '/')+1:]; last != "v0" && last != "v0.1" {
		w.base = w.at(nil, "v0.1")
	}
	return &mcpRegistry{w}
}

// mcpPage is one page of servers.
type mcpPage struct {
	Servers  []json.RawMessage `json:"servers"`
	Metadata struct {
		Next string `json:"nextCursor"`
	} `json:"metadata"`
}

func (m *mcpRegistry) search(ctx context.Context, query string, most int) (l listing, err error) {
	cursor, seen := "", map[string]bool{}
	for range mostPages {
		q := url.Values{"limit": {strconv.Itoa(min(most, 100))}, "version": {"latest"}}
		if word := mainWord(query); word != "" { // it looks for one text, in names
			q.Set("search", word)
		}
		if cursor != "" {
			q.Set("cursor", cursor)
		}
		body, err := m.web.get(ctx, m.web.at(q, "servers"), "application/json", mostList)
		if err != nil {
			return l, err // what came before stays
		}
		next, err := readMCP(body, &l)
		if err != nil {
			return l, err
		}
		if next == "" {
			return l, nil
		}
		if len(l.results) >= most {
			break
		}
		if seen[next] {
			return l, errors.New("its pages lead in a circle")
		}
		seen[next], cursor = true, next
	}
	l.notes = append(l.notes, fmt.Sprintf("it has more than the %d results that were looked at: search for something rarer", len(l.results)))
	return l, nil
}

// readMCP reads a page, and gives where the next one is.
func readMCP(body []byte, l *listing) (next string, err error) {
	var page mcpPage
	if err := decode(body, &page); err != nil {
		return "", err
	}
	for i, raw := range page.Servers {
		r, err := readServer(raw)
		switch {
		case errors.Is(err, ErrNotFound): // it was removed there
		case err != nil:
			l.notes = append(l.notes, fmt.Sprintf("entry %d is left out: %v", i+1, err))
		default:
			l.results = append(l.results, *r)
		}
	}
	return page.Metadata.Next, nil
}

// readServer reads a server and what the registry says of it.
func readServer(raw []byte) (*Result, error) {
	var entry struct {
		Server json.RawMessage `json:"server"`
		Meta   map[string]struct {
			Status string `json:"status"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(raw, &entry); err != nil {
		// Registries add members of their own, which are of any form.
		entry.Meta = nil
		var plain struct {
			Server json.RawMessage `json:"server"`
		}
		if err := json.Unmarshal(raw, &plain); err != nil {
			return nil, errors.New("it cannot be read")
		}
		entry.Server = plain.Server
	}
	r, err := resultOf(entry.Server)
	if err != nil {
		return nil, err
	}
	switch entry.Meta["io.modelcontextprotocol.registry/official"].Status {
	case "deleted":
		return nil, ErrNotFound
	case "deprecated":
		r.Notes = append(r.Notes, "its author calls it deprecated")
	}
	return r, nil
}

// resultOf makes a result of a server.json. How the server is started is read by what reads
// packages, so that it is the same whichever way it comes.
func resultOf(text json.RawMessage) (*Result, error) {
	var m struct {
		Name        string `json:"name"`
		Title       string `json:"title"`
		Description string `json:"description"`
		Version     string `json:"version"`
		Packages    []struct {
			Registry   string `json:"registryType"`
			Identifier string `json:"identifier"`
			Digest     string `json:"fileSha256"`
		} `json:"packages"`
	}
	if len(text) == 0 || json.Unmarshal(text, &m) != nil {
		return nil, errors.New("it cannot be read")
	}
	if !IsServerName(m.Name) || strings.Contains(m.Name, "@") {
		return nil, fmt.Errorf("%q is no name of a server", shown(m.Name, 80))
	}
	r := &Result{Name: m.Name, Version: m.Version, Description: m.Description, Kind: Server}
	pack, err := bundle.Read(oneFile{"server.json", text}, bundle.Needs{})
	if err != nil {
		for _, p := range m.Packages { // an MCP bundle is a package of its own
			if u, err := url.Parse(p.Identifier); err == nil && p.Registry == "mcpb" && r.Source == "" {
				if r.Source, err = archiveSource(u, "sha256:"+p.Digest); err == nil {
					r.Digest = "sha256:" + p.Digest
				}
			}
		}
		if r.Source == "" {
			var kinds []string
			for _, p := range m.Packages {
				kinds = append(kinds, shown(p.Registry, 40))
			}
			why := ""
			if len(kinds) > 0 {
				why = " (its packages: " + strings.Join(kinds[:min(len(kinds), 5)], ", ") + ")"
			}
			r.Notes = append(r.Notes, "it cannot be used here: "+err.Error()+why)
		}
		return r, nil
	}
	r.Asks = pack.Asks
	for _, n := range pack.Notes {
		r.Notes = append(r.Notes, n.Text)
	}
	if len(pack.Servers) == 1 {
		r.Server = &pack.Servers[0]
		if r.Server.Floating {
			r.Notes = append(r.Notes, fmt.Sprintf("what it runs is not pinned: %s may be another thing tomorrow", shown(r.Server.Fetches, 200)))
		}
		for _, f := range bundle.ScanServers(pack) {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: %s (%s)", f.Severity, f.What, f.Text))
		}
		if r.Server.SSE {
			r.Notes = append(r.Notes, "its address speaks the older transport (SSE)")
		}
	}
	return r, nil
}

func (m *mcpRegistry) show(ctx context.Context, name, version string) (*Result, error) {
	if !IsServerName(name) {
		return nil, ErrNotFound
	}
	if version == "" {
		version = "latest"
	}
	body, err := m.web.get(ctx, m.web.at(nil, "servers", name, "versions", version), "application/json", mostList)
	if err != nil {
		return nil, err
	}
	r, err := readServer(body)
	switch {
	case err != nil:
		return nil, err
	case r.Name != name || version != "latest" && r.Version != version:
		return nil, errors.New("it answers with something else than was asked for")
	}
	return r, nil
}

func (m *mcpRegistry) fetch(context.Context, Result) (*Content, error) {
	return nil, errors.New("a server is added with 'toolcrib hub add', and has no content")
}
