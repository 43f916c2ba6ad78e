package market

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/toolcrib/toolcrib/internal/bundle"
)

// claude is a marketplace file of Claude Code, Codex or Cursor: in a directory, at an
// address, or in a repository of GitHub. It only names plugins; each has a source of its own.
type claude struct {
	dir  string   // where it lies on this machine; else
	web  *web     // who is asked for it
	file *url.URL // where it is there; nil: the usual places are tried
	repo string   // the repository that relative sources are in; empty: there is none
}

// marketplaceFiles are where such a file lies in a folder.
func marketplaceFiles() []string {
	return []string{".agents/plugins/marketplace.json", ".agents/plugins/api_marketplace.json", ".claude-plugin/marketplace.json", ".cursor-plugin/marketplace.json"}
}

func (m *Market) openClaude(given string) (registry, error) {
	dir, err := m.directory(given)
	if err != nil {
		return nil, err
	}
	if dir != "" {
		return &claude{dir: dir}, nil
	}
	if strings.HasPrefix(given, "git+") {
		return nil, errors.New("url: a repository is not cloned to be searched: clone it and name the directory, or write https://github.com/OWNER/REPOSITORY")
	}
	u, err := address(given)
	if err != nil {
		return nil, err
	}
	if u.Host != "github.com" {
		return &claude{web: m.newWeb(u, false), file: u}, nil
	}
	repo := strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")
	if !ownerRepo.MatchString(repo) || strings.Contains(repo, "..") {
		return nil, errors.New("url: write https://github.com/OWNER/REPOSITORY")
	}
	raw := &url.URL{Scheme: "https", Host: "raw.githubusercontent.com", Path: "/" + repo + "/HEAD"}
	return &claude{web: m.newWeb(raw, true), repo: "https://github.com/" + repo + ".git"}, nil
}

// text reads the file, and says which folder relative sources begin in.
func (c *claude) text(ctx context.Context) (data []byte, root string, err error) {
	switch {
	case c.dir != "":
		return c.local()
	case c.file != nil:
		data, err = c.web.get(ctx, c.file, "application/json", mostList)
		return data, "", err
	}
	for _, name := range marketplaceFiles() {
		data, err = c.web.get(ctx, c.web.at(nil, strings.Split(name, "/")...), "application/json", mostList)
		if !errors.Is(err, ErrNotFound) {
			return data, "", err
		}
	}
	return nil, "", errors.New("there is no marketplace.json in it")
}

func (c *claude) local() (data []byte, root string, err error) {
	if info, err := os.Stat(c.dir); err == nil && !info.IsDir() {
		root = filepath.Dir(c.dir)
		if base := filepath.Base(root); base == ".claude-plugin" || base == ".cursor-plugin" {
			root = filepath.Dir(root)
		}
		data, err = readIn(filepath.Dir(c.dir), filepath.Base(c.dir), mostList)
		return data, root, err
	}
	for _, name := range marketplaceFiles() {
		data, err = readIn(c.dir, name, mostList)
		if !errors.Is(err, ErrNotFound) {
			return data, c.dir, err
		}
	}
	return nil, "", fmt.Errorf("there is no marketplace.json in %s", c.dir)
}

// plugin is an entry of the file.
type plugin struct {
	Name        string          `json:"name"`
	Version     string          `json:"version"`
	Description string          `json:"description"`
	Source      json.RawMessage `json:"source"`
	Author      json.RawMessage `json:"author"`
	Keywords    []string        `json:"keywords"`
	Tags        []string        `json:"tags"`
	Policy      struct {
		Installation string `json:"installation"`
	} `json:"policy"`
	Skills json.RawMessage `json:"skills"`
	Strict *bool           `json:"strict"`
}

// named are the skills that an entry names which is the whole manifest.
func (p plugin) named() (skills []string) {
	if p.Strict == nil || *p.Strict || json.Unmarshal(p.Skills, &skills) != nil {
		return nil
	}
	return skills
}

// folder is the source of an entry that lies beside the file; empty: it lies elsewhere.
func (p plugin) folder() (folder string) {
	if json.Unmarshal(p.Source, &folder) != nil || !strings.HasPrefix(folder, "./") {
		return ""
	}
	return folder
}

func (c *claude) list(ctx context.Context) (listing, error) {
	data, root, err := c.text(ctx)
	if err != nil {
		return listing{}, err
	}
	return c.read(data, root)
}

// read reads the file. A bad entry is left out, and the others count.
func (c *claude) read(data []byte, root string) (l listing, err error) {
	var m struct {
		Metadata struct {
			Root string `json:"pluginRoot"`
		} `json:"metadata"`
		Plugins []json.RawMessage `json:"plugins"`
	}
	if err := decode(data, &m); err != nil {
		return l, err
	}
	for i, raw := range m.Plugins {
		var p plugin
		if json.Unmarshal(raw, &p) != nil {
			l.notes = append(l.notes, fmt.Sprintf("entry %d cannot be read", i+1))
			continue
		}
		if p.Policy.Installation == "NOT_AVAILABLE" {
			continue
		}
		r := Result{Name: p.Name, Version: p.Version, Description: p.Description, Kind: Bundle, Author: author(p.Author)}
		if len(p.Keywords)+len(p.Tags) > 0 {
			r.from = strings.Join(append(p.Keywords, p.Tags...), " ") // what it is found by
		}
		source := p.Source
		skills := p.named()
		if len(skills) == 1 { // the folder of that skill is what is meant
			if inner, err := json.Marshal("./" + path.Join(p.folder(), skills[0])); err == nil && p.folder() != "" {
				source, r.Kind = inner, Skill
			}
		}
		if r.Source, err = c.source(source, root, m.Metadata.Root); err != nil {
			r.Notes = append(r.Notes, "it cannot be installed from here: "+err.Error())
		} else if len(skills) > 1 {
			r.Notes = append(r.Notes, fmt.Sprintf("it is %d of the skills in the folder, and all of the folder would be taken: %s", len(skills), strings.Join(skills, ", ")))
		}
		l.results = append(l.results, r)
	}
	return l, nil
}

// author reads a name, or an object that has one.
func author(raw json.RawMessage) string {
	var name string
	var person struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(raw, &name) == nil {
		return name
	}
	if json.Unmarshal(raw, &person) == nil {
		return person.Name
	}
	return ""
}

// source makes the text of a source of an entry's.
func (c *claude) source(raw json.RawMessage, root, below string) (string, error) {
	var relative string
	if json.Unmarshal(raw, &relative) == nil {
		return c.relative(relative, root, below)
	}
	var s struct {
		Source, Repo, URL, Path, Ref, SHA, Package, Version, Registry string
	}
	if json.Unmarshal(raw, &s) != nil {
		return "", errors.New("its source cannot be read")
	}
	switch s.Source {
	case "local":
		return c.relative(s.Path, root, "")
	case "github":
		if !ownerRepo.MatchString(s.Repo) || strings.Contains(s.Repo, "..") {
			return "", fmt.Errorf("%q is no repository of GitHub", shown(s.Repo, 80))
		}
		return gitSource("https://github.com/"+s.Repo+".git", s.Ref, s.SHA, s.Path)
	case "url", "git-subdir":
		return gitSource(s.URL, s.Ref, s.SHA, s.Path)
	case "npm":
		return npmSource(s.Package, s.Version, s.Registry)
	}
	return "", fmt.Errorf("sources of the kind %q are not known", shown(s.Source, 40))
}

// relative is a folder beside the file.
func (c *claude) relative(given, root, below string) (string, error) {
	if !strings.HasPrefix(given, "./") && below != "" {
		given = path.Join(below, given)
	}
	clean, err := bundle.CheckPath(given)
	switch {
	case err != nil:
		return "", err
	case root != "":
		return filepath.Join(root, filepath.FromSlash(clean)), nil
	case c.repo != "":
		return gitSource(c.repo, "", "", clean)
	}
	return "", errors.New("its source lies beside the file, which is not in a folder or repository that can be fetched")
}

func (c *claude) search(ctx context.Context, query string, _ int) (listing, error) {
	l, err := c.list(ctx)
	var out []Result
	for _, r := range l.results {
		if fits(query, r.Name, r.Description, r.from) {
			out = append(out, r)
		}
	}
	l.results = out
	return l, err
}

func (c *claude) show(ctx context.Context, name, version string) (*Result, error) {
	l, err := c.list(ctx)
	if err != nil {
		return nil, err
	}
	return named(l.results, name, version)
}

func (*claude) fetch(context.Context, Result) (*Content, error) {
	return nil, errors.New("this plugin has no source that can be used; 'toolcrib market show' says why")
}
