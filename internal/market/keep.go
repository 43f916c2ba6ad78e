package market

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/internal/bundle"
	"github.com/toolcrib/toolcrib/internal/pattern"
	"github.com/toolcrib/toolcrib/internal/text"
)

const mostName = 200

// serverName is what the MCP registry takes as a name.
var serverName = pattern.Of(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`)

// IsServerName reports whether a text is the name of a server in a registry, with or
// without a version behind an @.
func IsServerName(name string) bool {
	name, _, _ = strings.Cut(name, "@")
	return len(name) <= mostName && serverName.MatchString(name) && !strings.Contains(name, "..")
}

// kept leaves out of an answer what cannot be shown or used, and says how much that was.
func (m *Market) kept(registry string, l listing) listing {
	out := listing{notes: l.notes}
	dropped, why := 0, ""
	for _, r := range l.results {
		if len(out.results) == mostEach {
			out.notes = append(out.notes, fmt.Sprintf("only the first %d of its results count", mostEach))
			break
		}
		if err := m.keep(registry, &r); err != nil {
			if dropped++; why == "" {
				why = err.Error()
			}
			continue
		}
		out.results = append(out.results, r)
	}
	if dropped > 0 {
		out.notes = append(out.notes, fmt.Sprintf("%d of its results left out, the first because %s", dropped, why))
	}
	if len(out.notes) > 5 {
		out.notes = append(out.notes[:5], fmt.Sprintf("and %d more notes", len(out.notes)-5))
	}
	for i, n := range out.notes {
		out.notes[i] = shown(n, 300)
	}
	return out
}

// keep makes one result of a registry fit to be shown, or says why it is not.
func (m *Market) keep(registry string, r *Result) error {
	r.Registry = registry
	switch {
	case r.Kind == Server && !IsServerName(r.Name):
		if err := bundle.CheckName(r.Name); err != nil {
			return err
		}
	case r.Kind != Server:
		if err := bundle.CheckName(r.Name); err != nil {
			return err
		}
	}
	if r.Digest != "" {
		if _, err := hashOf(r.Digest); err != nil {
			return fmt.Errorf("of %s: %w", r.Name, err)
		}
	}
	if strings.Contains(r.Version, " ") || len(r.Version) > 100 {
		return fmt.Errorf("%s has a version that is none", r.Name)
	}
	for _, w := range m.words().Warnings(text.Head(r.Description, 4000)) {
		r.Notes = append(r.Notes, "its description speaks to a model: "+w)
	}
	if _, hidden := text.FirstHidden(r.Description); hidden {
		r.Notes = append(r.Notes, "its description has invisible characters")
	}
	r.Version, r.Author, r.Description = shown(r.Version, 100), shown(r.Author, 100), shown(r.Description, 500)
	for i, n := range r.Notes {
		r.Notes[i] = shown(n, 500)
	}
	return nil
}

// shown is a text of a stranger on one line, at most so long.
func shown(s string, most int) string {
	return text.ShowLine(text.ClipRunes(strings.TrimSpace(s), most))
}

// hashOf reads sha256:HEX.
func hashOf(digest string) (string, error) {
	sum, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(digest)), "sha256:")
	if raw, err := hex.DecodeString(sum); !ok || err != nil || len(raw) != 32 {
		return "", errors.New("its checksum is none of the form sha256:HEX")
	}
	return sum, nil
}
