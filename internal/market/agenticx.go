package market

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
)

// agenticx is the registry of AgenticX: skills of one file, which come with the answer.
type agenticx struct{ web *web }

// agxSkill is a version of a skill there.
type agxSkill struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	Description string `json:"description"`
	Author      string `json:"author"`
	Created     string `json:"created_at"`
	Checksum    string `json:"checksum"`
	Content     string `json:"skill_content"`
}

func (s agxSkill) result() Result {
	r := Result{Name: s.Name, Version: s.Version, Description: s.Description, Kind: Skill, Author: s.Author}
	if s.Checksum != "" {
		r.Digest = "sha256:" + s.Checksum
	}
	return r
}

func (a *agenticx) search(ctx context.Context, query string, most int) (listing, error) {
	q := url.Values{}
	if word := mainWord(query); word != "" { // it looks for one text
		q.Set("q", word)
	}
	body, err := a.web.get(ctx, a.web.at(q, "skills"), "application/json", mostList)
	if err != nil {
		return listing{}, err
	}
	l, err := readAgx(body, most)
	l.results = only(l.results, query)
	return l, err
}

// readAgx reads a list, which has all versions; the newest of each name counts.
func readAgx(body []byte, most int) (l listing, err error) {
	var answer struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := decode(body, &answer); err != nil {
		return l, err
	}
	newest, at := map[string]string{}, map[string]int{}
	for i, raw := range answer.Items {
		var s agxSkill
		if json.Unmarshal(raw, &s) != nil {
			l.notes = append(l.notes, fmt.Sprintf("entry %d cannot be read", i+1))
			continue
		}
		where, there := at[s.Name]
		switch {
		case there && s.Created >= newest[s.Name]:
			newest[s.Name], l.results[where] = s.Created, s.result()
		case !there && len(l.results) <= most:
			newest[s.Name], at[s.Name] = s.Created, len(l.results)
			l.results = append(l.results, s.result())
		}
	}
	return l, nil
}

func (a *agenticx) show(ctx context.Context, name, version string) (*Result, error) {
	s, err := a.get(ctx, name, version)
	if err != nil {
		return nil, err
	}
	r := s.result()
	return &r, nil
}

// get asks for the newest version, or finds another in the list.
func (a *agenticx) get(ctx context.Context, name, version string) (*agxSkill, error) {
	var answer struct {
		Entry *agxSkill         `json:"entry"`
		Items []json.RawMessage `json:"items"`
	}
	if version == "" {
		if err := a.web.json(ctx, a.web.at(nil, "skills", name), &answer); err != nil {
			return nil, err
		}
		if answer.Entry == nil || answer.Entry.Name != name {
			return nil, errors.New("it answers with something else than was asked for")
		}
		return answer.Entry, nil
	}
	if err := a.web.json(ctx, a.web.at(url.Values{"q": {name}}, "skills"), &answer); err != nil {
		return nil, err
	}
	for _, raw := range answer.Items {
		var s agxSkill
		if json.Unmarshal(raw, &s) == nil && s.Name == name && s.Version == version {
			return &s, nil
		}
	}
	return nil, ErrNotFound
}

func (a *agenticx) fetch(ctx context.Context, r Result) (*Content, error) {
	s, err := a.get(ctx, r.Name, "")
	if err == nil && s.Version != r.Version {
		s, err = a.get(ctx, r.Name, r.Version)
	}
	switch {
	case err != nil:
		return nil, err
	case s.Checksum == "":
		return nil, errors.New("the registry gives no checksum for it, so that nothing can be verified. Nothing was taken")
	case r.Digest != "" && r.Digest != "sha256:"+s.Checksum:
		return nil, errors.New("the registry says another checksum now than it did when it was shown. Nothing was taken")
	}
	if err := verify([]byte(s.Content), "sha256:"+s.Checksum); err != nil {
		return nil, err
	}
	return &Content{Name: s.Name, Files: map[string][]byte{"SKILL.md": []byte(s.Content)}, Digest: "sha256:" + s.Checksum}, nil
}
