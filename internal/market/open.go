package market

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolcrib/toolcrib/internal/bundle"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// Types are the kinds of registries. A new one is a file, a word here and a case in open.
func Types() []string { return []string{"agenticx", "clawhub", "claude", "mcp", "well-known", "index"} }

// Check says what is wrong with a registry of the settings, without asking it.
func Check(name string, s settings.Registry) error {
	_, err := (&Market{pins: &pins{}}).open(name, s)
	return err
}

// open makes a registry of its settings.
func (m *Market) open(name string, s settings.Registry) (registry, error) {
	if err := bundle.CheckName(name); err != nil {
		return nil, err
	}
	if s.Key != "" && s.Type != "index" {
		return nil, fmt.Errorf("market.registries.%s.key: only a registry of the type index is signed", name)
	}
	r, err := m.ofType(name, s)
	if err != nil {
		return nil, fmt.Errorf("market.registries.%s: %w", name, err)
	}
	return r, nil
}

func (m *Market) ofType(name string, s settings.Registry) (registry, error) {
	builtIn := settings.DefaultMarket().Registries[name] == s
	switch s.Type {
	case "claude":
		return m.openClaude(s.URL)
	case "index":
		return m.openIndex(name, s)
	}
	base, err := address(s.URL)
	if err != nil {
		return nil, err
	}
	w := m.newWeb(base, builtIn)
	switch s.Type {
	case "agenticx":
		return &agenticx{w}, nil
	case "clawhub":
		return &clawhub{w}, nil
	case "mcp":
		return newMCP(w), nil
	case "well-known":
		return &wellKnown{w}, nil
	}
	return nil, fmt.Errorf("type: write one of %s", strings.Join(Types(), ", "))
}

// directory reads the address of a registry that may be a directory; empty: it is none.
func (m *Market) directory(given string) (string, error) {
	given = strings.TrimSpace(given)
	switch {
	case given == "":
		return "", errors.New("url: write a directory, or an address such as https://example.com")
	case strings.Contains(given, "://"):
		return "", nil
	}
	if rest, ok := strings.CutPrefix(given, "~/"); ok && m.needs.Home != "" {
		given = filepath.Join(m.needs.Home, rest)
	}
	if !filepath.IsAbs(given) {
		given = filepath.Join(m.needs.Config, given)
	}
	return filepath.Clean(given), nil
}

// readIn reads a plain file of a directory, of at most so many bytes. Links do not lead out
// of it.
func readIn(dir, name string, most int64) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	data, err := readBounded(root, filepath.FromSlash(name), most)
	return data, errors.Join(err, root.Close())
}

func readBounded(root *os.Root, name string, most int64) ([]byte, error) {
	info, err := root.Stat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, ErrNotFound
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no plain file", shown(name, 100))
	case info.Size() > most:
		return nil, fmt.Errorf("%s is longer than %d MiB", shown(name, 100), most>>20)
	}
	data, err := root.ReadFile(name)
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s is longer than %d MiB", shown(name, 100), most>>20)
	}
	return data, err
}

// fits reports whether all words of a query stand in one of the texts: for registries that
// cannot search.
func fits(query string, texts ...string) bool {
	all := strings.ToLower(strings.Join(texts, " "))
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}

// mainWord is the longest word of a query: for registries that look for one text as it is.
func mainWord(query string) (longest string) {
	for word := range strings.FieldsSeq(query) {
		if len(word) > len(longest) {
			longest = word
		}
	}
	return longest
}
