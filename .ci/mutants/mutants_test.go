package main

import (
	"bytes"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const sampleSource = `package p

import "errors"

type t struct {
	a [3]int ` + "`json:\"a\"`" + `
}

func f(a, b int) (int, error) {
	defer g()
	if a < b && b != 7 {
		g()
		return 0, errors.New("no")
	}
	for i := 0; i >= a; i++ {
		h := func() int { return a }
		_ = h
	}
	return a, nil
}

func g() {}
`

func TestSites(t *testing.T) {
	found, err := sites("p.go", []byte(sampleSource))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range found {
		got = append(got, s.String())
		text := s.apply([]byte(sampleSource))
		if _, err := parser.ParseFile(token.NewFileSet(), "p.go", text, 0); err != nil || bytes.Equal(text, []byte(sampleSource)) {
			t.Errorf("%s: %v\n%s", s, err, text)
		}
		if a, b := bytes.Count(text, []byte("\n")), strings.Count(sampleSource, "\n"); a != b {
			t.Errorf("%s: %d lines, want %d: places in messages would move", s, a, b)
		}
	}
	want := []string{
		"p.go:10: call deleted: defer g()",
		"p.go:11: condition negated: a < b && b != 7 → !(a < b && b != 7)",
		"p.go:11: and, or: && → ||",
		"p.go:11: comparison shifted: < → <=",
		"p.go:11: comparison turned: != → ==",
		"p.go:11: off by one: 7 → (7 + 1)",
		"p.go:12: call deleted: g()",
		"p.go:13: error lost: errors.New(\"no\") → nil",
		"p.go:13: off by one: 0 → (0 + 1)",
		"p.go:15: condition negated: i >= a → !(i >= a)",
		"p.go:15: off by one: 0 → (0 + 1)",
		"p.go:15: comparison shifted: >= → >",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A call of several lines goes, and the lines after it stay where they are.
func TestLinesStay(t *testing.T) {
	const src = "package p\n\nfunc f() {\n\tg(1,\n\t\t2)\n}\n"
	found, err := sites("p.go", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(found, func(s site) bool { return s.kind == "call deleted" })
	if got := string(found[i].apply([]byte(src))); got != "package p\n\nfunc f() {\n\t\n\n}\n" {
		t.Errorf("%q", got)
	}
}

// TestSample tries a small module: what its test looks at is killed, what it
// does not look at survives, and the same seed chooses the same.
func TestSample(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":      "module m\n\ngo 1.26\n",
		"p.go":        "package m\n\nfunc seen(a int) bool { return a < 3 }\n\nfunc unseen(a int) bool { return a > 5 }\n",
		"p_test.go":   "package m\n\nimport \"testing\"\n\nfunc TestSeen(t *testing.T) {\n\tif !seen(2) || seen(3) {\n\t\tt.Fatal(\"wrong\")\n\t}\n\tunseen(1)\n}\n",
		"q/q.go":      "package q\n\nimport \"os\"\n\nfunc f() { os.Getpid() }\n",
		"q/q_test.go": "package q\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) { f() }\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOFLAGS", "") // "-race" would build everything anew
	play := func(n int, packages ...string) string {
		t.Helper()
		var out strings.Builder
		o := options{n: n, seed: 3, dir: dir, out: &out}
		if err := o.run(t.Context(), packages); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	all := play(10, ".")
	for _, want := range []string{
		"killed   p.go:3: comparison shifted: < → <=", "killed   p.go:3: off by one: 3 → (3 + 1)",
		"survived p.go:5: comparison shifted: > → >=", "survived p.go:5: off by one: 5 → (5 + 1)",
		"in all: 2 of 4 killed (50 %); 0 more did not build, seed 3", "\nsurvived: p.go:5: comparison shifted: > → >=\n",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("there is no %q in\n%s", want, all)
		}
	}
	if one, again := play(1, "."), play(1, "."); one != again || strings.Count(one, "p.go:") < 1 {
		t.Errorf("the same seed chose\n%s\nand\n%s", one, again)
	}
	if out := play(1, "./q"); !strings.Contains(out, "no mutant could be built") { // its import would be unused
		t.Errorf("%s", out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "p.go"))
	if err != nil || !strings.Contains(string(text), "a < 3 }") {
		t.Errorf("the source was touched: %s, %v", text, err)
	}
}

func TestBadPackages(t *testing.T) {
	for _, packages := range [][]string{nil, {"./nowhere"}} {
		o := options{n: 1, dir: t.TempDir(), out: &strings.Builder{}}
		if err := o.run(t.Context(), packages); err == nil {
			t.Errorf("%q is taken", packages)
		}
	}
}
