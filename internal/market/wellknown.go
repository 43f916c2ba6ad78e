package market

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// wellKnown is a site that lists its skills at /.well-known/agent-skills/index.json.
type wellKnown struct{ web *web }

func (k *wellKnown) index() *url.URL {
	return k.web.at(nil, ".well-known", "agent-skills", "index.json")
}

func (k *wellKnown) list(ctx context.Context) (listing, error) {
	body, err := k.web.get(ctx, k.index(), "application/json", mostList)
	if err != nil {
		return listing{}, err
	}
	return k.read(body)
}

// read reads an index. A skill without a checksum is left out: it could not be verified.
func (k *wellKnown) read(body []byte) (l listing, err error) {
	var answer struct {
		Skills []json.RawMessage `json:"skills"`
	}
	if err := decode(body, &answer); err != nil {
		return l, err
	}
	for i, raw := range answer.Skills {
		var s struct {
			Name        string `json:"name"`
			Type        string `json:"type"`
			Description string `json:"description"`
			URL         string `json:"url"`
			Digest      string `json:"digest"`
			Version     string `json:"version"`
		}
		if json.Unmarshal(raw, &s) != nil {
			l.notes = append(l.notes, fmt.Sprintf("entry %d cannot be read", i+1))
			continue
		}
		at, err := k.web.sibling(k.index(), s.URL)
		switch {
		case s.Type != "skill-md" && s.Type != "archive":
			err = fmt.Errorf("its type %q is neither skill-md nor archive", shown(s.Type, 40))
		case s.Digest == "":
			err = errors.New("it has no checksum")
		}
		r := Result{Name: s.Name, Version: s.Version, Description: s.Description, Kind: Skill, Digest: strings.ToLower(s.Digest)}
		switch {
		case err == nil && s.Type == "archive":
			r.Source, err = archiveSource(at, s.Digest)
		case err == nil:
			r.from = at.String()
		}
		if err != nil {
			l.notes = append(l.notes, fmt.Sprintf("%s is left out: %v", shown(s.Name, 80), err))
			continue
		}
		l.results = append(l.results, r)
	}
	return l, nil
}

func (k *wellKnown) search(ctx context.Context, query string, _ int) (listing, error) {
	l, err := k.list(ctx)
	l.results = only(l.results, query)
	return l, err
}

// only leaves what fits a query.
func only(list []Result, query string) (out []Result) {
	for _, r := range list {
		if fits(query, r.Name, r.Description) {
			out = append(out, r)
		}
	}
	return out
}

// named is the result of a name and, if one is given, a version.
func named(list []Result, name, version string) (*Result, error) {
	for _, r := range list {
		if r.Name == name && (version == "" || r.Version == version) {
			return &r, nil
		}
	}
	return nil, ErrNotFound
}

func (k *wellKnown) show(ctx context.Context, name, version string) (*Result, error) {
	l, err := k.list(ctx)
	if err != nil {
		return nil, err
	}
	return named(l.results, name, version)
}

// fetch gets a skill of one file; archives have sources.
func (k *wellKnown) fetch(ctx context.Context, r Result) (*Content, error) {
	u, err := url.Parse(r.from)
	if err != nil || r.from == "" || !sameOrigin(u, k.web.base) {
		return nil, errors.New("it has to be shown by its registry before it is fetched")
	}
	body, err := k.web.get(ctx, u, "text/markdown, */*", mostList)
	if err != nil {
		return nil, err
	}
	if err := verify(body, r.Digest); err != nil {
		return nil, err
	}
	return &Content{Name: r.Name, Files: map[string][]byte{"SKILL.md": body}, Digest: r.Digest}, nil
}
