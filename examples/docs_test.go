package examples_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolcrib/toolcrib/internal/toolfile"
)

// block is a fenced block of a page.
type block struct {
	page  string
	line  int // of its first line of text, from 1
	lang  string
	lines []string
}

func (b block) at() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

// blocks gives the fenced blocks of a page.
func blocks(page, text string) []block {
	var out []block
	open := false
	for i, line := range strings.Split(text, "\n") {
		lang, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && !open:
			out = append(out, block{page: page, line: i + 2, lang: strings.TrimSpace(lang)})
			open = true
		case fence:
			open = false
		case open:
			last := &out[len(out)-1]
			last.lines = append(last.lines, line)
		}
	}
	return out
}

// pages are all pages that people read: those at the top and in docs.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/adr/*.md"} {
		files, err := filepath.Glob(filepath.Join("..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.ToSlash(strings.TrimPrefix(file, ".."+string(filepath.Separator)))
			out[name] = strings.ReplaceAll(string(text), "\r\n", "\n")
		}
	}
	return out
}

// TestGoOnThePagesCompiles: every Go block of every page stands, word for
// word, in a file that is compiled.
func TestGoOnThePagesCompiles(t *testing.T) {
	source, err := goFiles(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for page, text := range pages(t) {
		for _, b := range blocks(page, text) {
			if b.lang != "go" {
				continue
			}
			seen[page]++
			if !standsIn(source, b.lines) {
				t.Errorf("%s: this Go block stands in no file of the module; show code that is compiled", b.at())
			}
		}
	}
	for _, page := range []string{"docs/go-library.md", "docs/adding.md"} {
		if seen[page] == 0 {
			t.Errorf("%s has no Go block: either it lost its code or this test cannot read it", page)
		}
	}
}

// TestJSONOnThePagesParses: what people copy into a configuration is JSON.
func TestJSONOnThePagesParses(t *testing.T) {
	for page, text := range pages(t) {
		for _, b := range blocks(page, text) {
			if b.lang == "json" && !json.Valid([]byte(strings.Join(b.lines, "\n"))) {
				t.Errorf("%s: not JSON", b.at())
			}
		}
	}
}

// TestToolsOnThePagesWork: every declaration that the pages of tools show has no mistake,
// in a file of YAML as in the head of a script.
func TestToolsOnThePagesWork(t *testing.T) {
	seen := map[string]int{}
	for page, text := range pages(t) {
		if page != "docs/tools.md" && page != "docs/toolfile.md" {
			continue
		}
		for _, b := range blocks(page, text) {
			name, source := "example.yaml", strings.Join(b.lines, "\n")
			switch {
			case b.lang == "yaml" && strings.HasPrefix(source, "args:"): // a part of one
				source = "description: An example.\ncommand: [echo]\nstdin: json\neffects: pure\n" + source
			case b.lang == "yaml":
			case b.lang == "sh" && strings.HasPrefix(source, "#!"):
				name = "example.sh"
			default:
				continue
			}
			seen[page]++
			if _, faults := toolfile.Parse(name, []byte(source)); len(faults) > 0 {
				t.Errorf("%s: %v", b.at(), faults)
			}
		}
	}
	if seen["docs/tools.md"] < 1 || seen["docs/toolfile.md"] < 4 {
		t.Errorf("the pages show %v declarations, or this test cannot read them", seen)
	}
}

// goFiles reads the Go files that a build or a test compiles.
func goFiles(fsys fs.FS) ([]string, error) {
	var out []string
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); name != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		out = append(out, "\n"+strings.ReplaceAll(string(text), "\r\n", "\n")+"\n")
		return err
	})
	return out, err
}

// standsIn looks for whole lines, as they are or all indented alike: the body
// of a function is shown without its indentation.
func standsIn(source, lines []string) bool {
	for _, indent := range []string{"", "\t", "\t\t"} {
		var b strings.Builder
		b.WriteByte('\n')
		for _, line := range lines {
			if line != "" {
				line = indent + line
			}
			b.WriteString(line + "\n")
		}
		if strings.TrimSpace(b.String()) == "" {
			return false
		}
		for _, text := range source {
			if strings.Contains(text, b.String()) {
				return true
			}
		}
	}
	return false
}

// TestTheseTestsCanFail shows each rule something bad.
func TestTheseTestsCanFail(t *testing.T) {
	got := blocks("p.md", "a\n```go\nx := 1\n```\nb\n```\nplain\n```\n")
	if len(got) != 2 || got[0].lang != "go" || got[0].line != 3 || len(got[0].lines) != 1 || got[1].lang != "" {
		t.Errorf("blocks gave %+v", got)
	}
	source, err := goFiles(fstest.MapFS{
		"a.go":          {Data: []byte("package a\n\nfunc f() {\n\tx := 1\n\n\ty := 2\n}\n")},
		"testdata/b.go": {Data: []byte("package b\nvar hidden = 1\n")},
		"c.md":          {Data: []byte("var text = 1\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"func f() {\n\tx := 1":    true,
		"x := 1\n\ny := 2":        true,
		"x := 1\ny := 2":          false, // a line was left out
		"x := 1\n\n\ty := 2":      false, // indented otherwise
		"x :=":                    false, // half a line
		"var hidden = 1":          false,
		"var text = 1":            false,
		"":                        false,
		"func f() {\n\tx := 1\n}": false,
	} {
		if standsIn(source, strings.Split(text, "\n")) != want {
			t.Errorf("%q stands in the sample: %v, want %v", text, !want, want)
		}
	}
}
