package safety

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/internal/safety/secrets"
)

// SecretGuard looks for secrets in the arguments of a call. A tool may well
// need one, so only SecretBlock denies; the other modes note where they are, so
// that a person who is asked sees it. That they are not recorded or shown is
// for [Secrets.RedactJSON].
type SecretGuard struct {
	Secrets
	Mode SecretMode
}

// maxPlaces bounds how many places a reason names.
const maxPlaces = 8

// Judge denies or notes a call with secrets and says nothing about another.
func (g SecretGuard) Judge(_ context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	if len(r.Input) == 0 {
		return nil, nil
	}
	scanner, known, err := g.ready()
	if err != nil {
		return nil, err
	}
	hits, err := secretHits(scanner, known, r.Input)
	if err != nil {
		return nil, err
	}
	if len(hits) == 0 {
		return nil, nil
	}
	var places []string
	for _, h := range hits[:min(len(hits), maxPlaces)] {
		places = append(places, fmt.Sprintf("%s (%s)", h.Path, h.Rule))
	}
	if more := len(hits) - len(places); more > 0 {
		places = append(places, fmt.Sprintf("%d more", more))
	}
	v := &toolcrib.Verdict{Decision: toolcrib.Allow, Guard: "secrets", Rule: hits[0].Rule, Note: true,
		Reason: "the arguments hold what looks like a secret: " + strings.Join(places, ", ")}
	if g.Mode != SecretRedact && g.Mode != SecretWarn {
		v.Decision, v.Note = toolcrib.Deny, false
		v.Reason += "; secrets must not be given to tools here: store it in the vault and name it instead"
	}
	return v, nil
}

// secretHits finds secrets by rules, by what is known and by the names of keys.
func secretHits(scanner *secrets.Scanner, known *secrets.Known, input json.RawMessage) ([]secrets.Hit, error) {
	hits := scanner.Hits(input, known, "args")
	if named := redact.JSON(input); bytes.Equal(named, input) {
		return hits, nil // no key has a name of a secret, and the slow way is saved
	}
	under := map[string]bool{}
	for _, h := range hits {
		under[h.Path] = true
	}
	err := secrets.Values(input, "args", func(v *secrets.Visit) {
		if !redact.SecretName(v.Key()) || !secretValue(v) {
			return
		}
		if path := v.Path(); !under[path] && scanner.Strike(path, known) == path {
			under[path] = true
			hits = append(hits, secrets.Hit{Path: path, Rule: "by its name"})
		}
	})
	slices.SortStableFunc(hits, func(a, b secrets.Hit) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Rule, b.Rule)) })
	return slices.Compact(hits), err
}

// secretValue: a reference to a secret is none, and neither is a switch.
func secretValue(v *secrets.Visit) bool {
	text, isString := v.Token()
	if isString {
		return text != "" && text != secrets.Mark && !(strings.HasPrefix(text, "${") && strings.HasSuffix(text, "}"))
	}
	return !slices.Contains([]string{"true", "false", "null"}, text)
}
