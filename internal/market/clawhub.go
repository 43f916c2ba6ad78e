package market

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/bundle"
)

// clawhub is ClawHub: skills of several files, each with a checksum.
type clawhub struct{ web *web }

func (c *clawhub) search(ctx context.Context, query string, most int) (listing, error) {
	limit := strconv.Itoa(min(most, 50))
	tries := []*url.URL{
		c.web.at(url.Values{"q": {query}, "type": {"skill"}, "limit": {limit}}, "v1", "search"),
		c.web.at(url.Values{"q": {query}, "limit": {limit}}, "v1", "skills"),
		c.web.at(url.Values{"q": {query}, "limit": {limit}}, "skills"),
	}
	if query == "" {
		tries = tries[1:]
	}
	var err error
	for _, u := range tries { // older installations have other addresses
		var body []byte
		if body, err = c.web.get(ctx, u, "application/json", mostList); err == nil {
			l, err := readClaw(body)
			if u.Path != tries[0].Path || query == "" { // these may not search
				l.results = only(l.results, query)
			}
			return l, err
		}
		if !errors.Is(err, ErrNotFound) {
			break
		}
	}
	return listing{}, err
}

// readClaw reads a list, whichever of its names it has.
func readClaw(body []byte) (l listing, err error) {
	var answer struct{ Results, Items, Skills []json.RawMessage }
	if err := decode(body, &answer); err != nil {
		return l, err
	}
	entries := answer.Results
	if len(entries) == 0 {
		entries = answer.Items
	}
	if len(entries) == 0 {
		entries = answer.Skills
	}
	for i, raw := range entries {
		var s struct {
			Slug, Name, DisplayName, Summary, Description, Version string
			Author                                                 json.RawMessage
		}
		if json.Unmarshal(raw, &s) != nil {
			l.notes = append(l.notes, fmt.Sprintf("entry %d cannot be read", i+1))
			continue
		}
		r := Result{Name: s.Slug, Version: s.Version, Description: s.Summary, Kind: Skill, Author: author(s.Author)}
		if r.Name == "" {
			r.Name = s.Name
		}
		if r.Description == "" {
			r.Description = s.Description
		}
		if s.DisplayName != "" && s.DisplayName != r.Name {
			r.Description = s.DisplayName + ": " + r.Description
		}
		if r.Version == "latest" {
			r.Version = ""
		}
		l.results = append(l.results, r)
	}
	return l, nil
}

// clawVersion is a version of a skill there.
type clawVersion struct {
	Version struct {
		Version   string `json:"version"`
		Changelog string `json:"changelog"`
		Files     []struct {
			Path   string `json:"path"`
			SHA256 string `json:"sha256"`
		} `json:"files"`
	} `json:"version"`
}

func (c *clawhub) version(ctx context.Context, name, version string) (*clawVersion, error) {
	if version == "" {
		var list struct {
			Items []struct {
				Version string `json:"version"`
			} `json:"items"`
		}
		if err := c.web.json(ctx, c.web.at(nil, "v1", "packages", name, "versions"), &list); err != nil {
			return nil, err
		}
		if len(list.Items) == 0 || list.Items[0].Version == "" {
			return nil, ErrNotFound
		}
		version = list.Items[0].Version
	}
	var v clawVersion
	if err := c.web.json(ctx, c.web.at(nil, "v1", "packages", name, "versions", version), &v); err != nil {
		return nil, err
	}
	if v.Version.Version == "" {
		v.Version.Version = version
	}
	if v.Version.Version != version {
		return nil, errors.New("it answers with something else than was asked for")
	}
	return &v, nil
}

func (c *clawhub) show(ctx context.Context, name, version string) (*Result, error) {
	if err := bundle.CheckName(name); err != nil {
		return nil, ErrNotFound // a name that it cannot have
	}
	v, err := c.version(ctx, name, version)
	if err != nil {
		return nil, err
	}
	r := &Result{Name: name, Version: v.Version.Version, Kind: Skill}
	for _, f := range v.Version.Files {
		if f.Path == "SKILL.md" && f.SHA256 != "" {
			r.Digest = "sha256:" + f.SHA256
		}
	}
	var about struct {
		Skill struct{ Summary, DisplayName string }
		Owner struct{ Handle string }
	}
	if err := c.web.json(ctx, c.web.at(nil, "v1", "skills", name), &about); err == nil { // it is only more text
		r.Description, r.Author = about.Skill.Summary, about.Owner.Handle
	}
	return r, nil
}

const mostFiles = 500

func (c *clawhub) fetch(ctx context.Context, r Result) (*Content, error) {
	v, err := c.version(ctx, r.Name, r.Version)
	if err != nil {
		return nil, err
	}
	sums := map[string]string{}
	for _, f := range v.Version.Files {
		name, err := bundle.CheckPath(f.Path)
		switch {
		case err != nil:
			return nil, err
		case f.SHA256 == "" || sums[name] != "":
			return nil, fmt.Errorf("the registry gives no checksum for its file %s, or two. Nothing was taken", shown(name, 100))
		}
		sums[name] = "sha256:" + f.SHA256
	}
	switch {
	case len(sums) == 0 || len(sums) > mostFiles:
		return nil, fmt.Errorf("the registry lists %d files of it; between 1 and %d are taken", len(sums), mostFiles)
	case sums["SKILL.md"] == "":
		return nil, errors.New("the registry lists no SKILL.md of it, with a checksum")
	case r.Digest != "" && r.Digest != sums["SKILL.md"]:
		return nil, errors.New("the registry says another checksum now than it did when it was shown. Nothing was taken")
	}
	body, err := c.web.get(ctx, c.web.at(url.Values{"slug": {r.Name}, "version": {v.Version.Version}}, "v1", "download"), "application/zip", mostContent)
	if err != nil {
		return nil, err
	}
	content := &Content{Name: r.Name}
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&all, "%s %s\n", sums[name], name)
	}
	content.Digest = digestOf([]byte(all.String()))
	content.Files, content.Notes, err = unzip(body, sums)
	return content, err
}

// unzip takes the files of an archive that have a checksum, and no others. One that is
// missing or different makes nothing of it good.
func unzip(body []byte, sums map[string]string) (files map[string][]byte, notes []string, err error) {
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return nil, nil, errors.New("what was fetched is no archive")
	}
	files = map[string][]byte{}
	left, extra := int64(mostContent), 0
	for _, f := range z.File {
		sum, listed := sums[f.Name]
		switch {
		case f.FileInfo().IsDir():
			continue
		case !listed || !f.Mode().IsRegular():
			extra++
			continue
		case files[f.Name] != nil:
			return nil, nil, fmt.Errorf("its archive has the file %s twice", shown(f.Name, 100))
		}
		data, err := readZipped(f, left)
		if err != nil {
			return nil, nil, err
		}
		left -= int64(len(data))
		if err := verify(data, sum); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		files[f.Name] = data
	}
	if len(files) != len(sums) {
		return nil, nil, fmt.Errorf("its archive lacks %d of the files that the registry lists. Nothing was taken", len(sums)-len(files))
	}
	if extra > 0 {
		notes = append(notes, fmt.Sprintf("%d files of its archive have no checksum and were left out", extra))
	}
	return files, notes, nil
}

func readZipped(f *zip.File, most int64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, errors.New("its archive cannot be read")
	}
	defer func() { _ = r.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	switch {
	case err != nil:
		return nil, errors.New("its archive cannot be read")
	case int64(len(data)) > most:
		return nil, fmt.Errorf("its archive is longer than %d MiB", mostContent>>20)
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}
