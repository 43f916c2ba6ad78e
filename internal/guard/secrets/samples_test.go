package secrets

import (
	"bufio"
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// sample is what the project of the rules says about one of them.
type sample struct {
	Rule    string
	Yes, No []string
}

const theirs = "github.com/betterleaks/betterleaks"

// samples gives the samples that the rules' own project tests them with. They
// are not kept here: its generator, which lies in the module cache as part of
// the module that is linked in, is built with a Validate that prints them.
var samples = sync.OnceValues(func() ([]sample, error) {
	dir, err := os.MkdirTemp("", "samples")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := layOut(dir); err != nil {
		return nil, err
	}
	out, err := goTool(dir, "run", ".")
	if err != nil {
		return nil, err
	}
	var all []sample
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), "{") {
			continue
		}
		var s sample
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, lines.Err()
})

func goTool(dir string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOPROXY=off", "CGO_ENABLED=0")
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, &toolError{strings.Join(args, " "), complaint.String(), err}
	}
	return out, nil
}

type toolError struct {
	what, said string
	err        error
}

func (e *toolError) Error() string { return "go " + e.what + ": " + e.err.Error() + "\n" + e.said }

// layOut makes a module of the project's rules, our two packages in place of
// theirs, and a main that asks for every rule their own main asks for.
func layOut(dir string) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	found, err := goTool(here, "list", "-m", "-f", "{{.Dir}}", theirs)
	if err != nil {
		return err
	}
	root := filepath.Join(here, "..", "..", "..")
	generate := filepath.Join(strings.TrimSpace(string(found)), "cmd", "generate")
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	_, requires, _ := strings.Cut(string(mod), "\n")
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module samples\n"+requires), 0o600); err != nil {
		return err
	}
	for _, c := range []struct{ from, to string }{
		{filepath.Join(root, "go.sum"), "."},
		{filepath.Join(generate, "config", "rules", "*.go"), "rules"},
		{filepath.Join(generate, "config", "utils", "*.go"), "utils"},
		{filepath.Join("testdata", "samples", "utils", "*.go"), "utils"}, // in place of theirs
		{filepath.Join("testdata", "samples", "secrets", "*.go"), "secrets"},
	} {
		if err := copyAll(c.from, filepath.Join(dir, c.to)); err != nil {
			return err
		}
	}
	return writeMain(filepath.Join(generate, "config", "main.go"), filepath.Join(dir, "main.go"))
}

func copyAll(pattern, to string) error {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	ours := strings.NewReplacer(theirs+"/cmd/generate/config/utils", "samples/utils", theirs+"/cmd/generate/secrets", "samples/secrets")
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(file)), []byte(ours.Replace(string(text))), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// writeMain takes the calls of rules.X() out of their main.
func writeMain(from, to string) error {
	file, err := parser.ParseFile(token.NewFileSet(), from, nil, 0)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("package main\n\nimport \"samples/rules\"\n\nfunc main() {\n")
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) > 0 {
			return true
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "rules" {
				b.WriteString("\trules." + sel.Sel.Name + "()\n")
			}
		}
		return true
	})
	b.WriteString("}\n")
	return os.WriteFile(to, []byte(b.String()), 0o600)
}

func testScanner(t testing.TB) *Scanner {
	t.Helper()
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// tally counts what was found among the samples.
type tally struct {
	yes, found, byRule int // secrets; found by any rule, and by their own
	no, wrong, other   int // what is none; taken for one by its rule, and by another
}

func (c tally) check(t *testing.T, form string) {
	t.Helper()
	recall := 100 * float64(c.found) / float64(c.yes)
	wrong := 100 * float64(c.wrong) / float64(c.no)
	t.Logf("%s: %d of %d secrets found (%.2f %%), %d of them by their own rule; %d of %d others taken for one by the rule they are samples of (%.2f %%), %d only by another rule",
		form, c.found, c.yes, recall, c.byRule, c.wrong, c.no, wrong, c.other)
	if c.yes < 5000/sampleStep || c.no < 400 {
		t.Errorf("%s: %d and %d samples are fewer than there were: the way they are read is broken", form, c.yes, c.no)
	}
	if recall < 98 || wrong > 2 {
		t.Errorf("%s: want at least 98 %% found and at most 2 %% wrong", form)
	}
}

// TestSamples measures the scanner by the samples of the rules' own project, as
// plain texts and within structured results. A sample that is no secret for its
// rule may be one for another (a key of the wrong provider is still a key), so
// that is counted, but apart.
func TestSamples(t *testing.T) {
	all, err := samples()
	if err != nil {
		t.Fatal(err)
	}
	s := testScanner(t)
	used := map[string]bool{ruleKey: true}
	for _, r := range s.rules {
		used[r.id] = true
	}
	forms := []struct {
		name string
		text func(string) string
	}{
		{"plain", func(text string) string { return text }},
		{"in a list in an object", func(text string) string {
			return flat(t, map[string]any{"rows": []any{1, map[string]any{"text": text}, "end"}})
		}},
		{"in JSON in JSON", func(text string) string { return flat(t, []any{"", string(marshal(t, map[string]any{"body": text}))}) }},
	}
	unused := 0
	counts := make([]tally, len(forms))
	for _, sm := range all {
		if !used[sm.Rule] {
			unused++
			continue
		}
		for i, form := range forms {
			c := &counts[i]
			for n, text := range sm.Yes {
				if n%sampleStep != 0 {
					continue
				}
				seen, own := found(s, form.text(text), sm.Rule)
				c.yes++
				c.found += count(seen)
				c.byRule += count(own)
				if !seen && t.Failed() {
					t.Logf("%s: missed %s in %q", form.name, sm.Rule, text)
				}
			}
			for _, text := range sm.No {
				seen, own := found(s, form.text(text), sm.Rule)
				c.no++
				c.wrong += count(own)
				c.other += count(seen && !own)
			}
		}
	}
	t.Logf("%d rules in use, samples of %d rules left out: their matches are no secrets on their own", len(s.rules), unused)
	for i, form := range forms {
		counts[i].check(t, form.name)
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

func found(s *Scanner, text, rule string) (seen, own bool) {
	for _, f := range s.all(text, nil) {
		seen = true
		own = own || f.Rule == rule
	}
	return seen, own
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func flat(t testing.TB, v any) string {
	t.Helper()
	text := flatten(marshal(t, v))
	return text
}

// TestRulesAreUnderstood: a rule that does not compile finds nothing, and a
// filter that is not understood flags too much.
func TestRulesAreUnderstood(t *testing.T) {
	s := testScanner(t)
	for _, err := range s.Errors() {
		t.Error(err)
	}
	if len(s.rules) < 350 {
		t.Errorf("only %d rules are in use", len(s.rules))
	}
}
