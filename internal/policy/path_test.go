package policy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

func TestRulesAboutPaths(t *testing.T) {
	for _, tt := range []struct {
		rule, path  string
		allow, deny bool
	}{
		{"./src/**", "src/a.go", true, true},
		{"./src/**", "./src/x/../a.go", false, true},
		{"./src/**", "src/../../other/a", false, true}, // as given it is in src
		{"./src/**", "other/../src/a", false, true},
		{"./src/**", work + "/src/a", true, true},
		{"./src/**", work + "//src/./a", true, true},
		{"./src/**", "src", true, true},
		{"./src/**", "SRC/a", false, true},
		{"./src/**", "src./a", false, true},
		{"./src/**", "src :x/a", false, true},
		{"./src/**", "s\u200brc/a", false, true},
		{"./src/**", "srcs/a", false, false},
		{"./src/**", "/src/a", false, false},
		{"src/*.go", "src/a.go", true, true},
		{"src/*.go", "src/x/a.go", false, false},
		{"src/*.go", "src/a.go/x", false, true}, // below what is named
		{"./secret", "secret", true, true},
		{"./secret", "secret/a/b", false, true},
		{"*.env", ".env", true, true},
		{"*.env", "a/b/prod.ENV", false, true},
		{"*.env", "a/b/prod.env", true, true},
		{"*.env", "/etc/prod.env", false, true},
		{"**/.ssh/**", "/root/.ssh/id", false, true},
		{"~/notes/**", home + "/notes/a", true, true},
		{"~/notes/**", "../notes/a", false, true},
		{"~/notes/**", "~/notes/a", false, true},
		{"/etc/**", "/etc/passwd", true, true},
		{"/etc/**", "link-out/passwd", false, true}, // a link to /etc
		{"./link-out/**", "link-out/passwd", false, true},
		{"./link-out/**", "/etc/passwd", false, true}, // who made the link gets nothing by it
		{"./{a,b}/*", "b/x", true, true},
		{"./{a,b}/*", "c/x", false, false},
		{"./caf\u00e9/**", "cafe\u0301/x", false, true},
		{"./caf\u00e9/**", "caf\u00e9/x", true, true},
		{"./\u4e2d\u6587/**", "\u65e5\u672c/x", false, false},
		{"./\u043c\u043e\u0439/**", "\u043c\u043e\u0438\u0306/x", false, true},
		{"./\u043c\u043e\u0439/**", "\u0434\u043e\u043c/x", false, false},
		{"./[A-Z]x/**", "Bx/y", true, true},
		{"./K/**", "\u212a/y", false, true}, // the Kelvin sign
		{"./x", "x\x00y", false, true},
		{"./x", "", false, true},
		{".", "a", false, true},
		{"**", "a/b", true, true},
		{"**", "/etc/passwd", false, true},
	} {
		in := map[string]string{"path": tt.path}
		rule := "write_file(" + tt.rule + ")"
		if got := decide(t, Permissions{Allow: []string{rule}}, fileTool("write_file"), in) == "allow"; got != tt.allow {
			t.Errorf("allow %s, %q: %v", rule, tt.path, got)
		}
		if got := decide(t, Permissions{Deny: []string{rule}}, fileTool("write_file"), in) == "deny"; got != tt.deny {
			t.Errorf("deny %s, %q: %v", rule, tt.path, got)
		}
	}
}

// TestRulesAboutSearches: whoever searches a directory reads what lies below.
func TestRulesAboutSearches(t *testing.T) {
	for path, want := range map[string]string{".": "deny", "secret": "deny", "secret/a": "deny", "src": "", "/": "deny", "..": "deny", home: "deny", "sec": ""} {
		if got := decide(t, Permissions{Deny: []string{"search_files(./secret/**)"}}, fileTool("search_files"), map[string]string{"path": path}); got != want {
			t.Errorf("deny, %q: %q", path, got)
		}
	}
	if got := decide(t, Permissions{Allow: []string{"search_files(./src/**)"}}, fileTool("search_files"), map[string]string{"path": "."}); got != "" {
		t.Errorf("a search from above is allowed: %q", got)
	}
}

// TestPathsThatCannotBeResolved count against the call.
func TestPathsThatCannotBeResolved(t *testing.T) {
	opt := testOptions()
	for name, resolve := range map[string]func(string) (string, error){
		"nothing resolves": nil,
		"it fails":         func(string) (string, error) { return "", errors.New("permission denied") },
	} {
		opt.Resolve = resolve
		for d, want := range map[toolcrib.Decision]bool{isDeny: true, isAllow: false} {
			p := Permissions{Deny: []string{"read_file(./secret)"}}
			if d == isAllow {
				p = Permissions{Allow: []string{"read_file(./secret)"}}
			}
			rules, err := NewRules([]Layer{{Rank: RankUser, Permissions: p}}, opt)
			if err != nil {
				t.Fatal(err)
			}
			said := rules.judge(&toolcrib.Review{Spec: fileTool("read_file"), Input: mustJSON(t, map[string]string{"path": "secret"})}, nil)
			if got := said.rule != nil; got != want {
				t.Errorf("%s, %s: %v", name, d, got)
			}
		}
	}
	// A file that is yet to be made is where its directory says.
	opt.Resolve = func(p string) (string, error) {
		if strings.Contains(p, "new") {
			return "", fs.ErrNotExist
		}
		return p, nil
	}
	rules, err := NewRules([]Layer{{Rank: RankUser, Permissions: Permissions{Allow: []string{"write_file(./src/**)"}}}}, opt)
	if err != nil {
		t.Fatal(err)
	}
	if said := rules.judge(&toolcrib.Review{Spec: fileTool("write_file"), Input: mustJSON(t, map[string]string{"path": "src/new/new.go"})}, nil); said.rule == nil {
		t.Error("a new file is not allowed")
	}
}

// TestRulesOnARealDisk: links that were really made.
func TestRulesOnARealDisk(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"proj/src", "proj/secret", "out"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"proj/src/in": "../secret", "proj/src/away": "../../out", "alias": "proj", "proj/src/loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			if runtime.GOOS == "windows" {
				t.Skip("links need a right that this account does not have")
			}
			t.Fatal(err)
		}
	}
	for _, resolve := range []func(string) (string, error){filepath.EvalSymlinks, RealPath} {
		opt := testOptions()
		opt.Base, opt.Resolve = filepath.Join(dir, "alias"), resolve // the working directory itself is a link
		rules, err := NewRules([]Layer{{Rank: RankUser, Permissions: Permissions{Allow: []string{"write_file(./src/**)"}, Deny: []string{"write_file(./secret/**)"}}}}, opt)
		if err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]string{
			"src/a":                                "allow",
			"src/x/y/new":                          "allow",
			dir + "/proj/src/a":                    "allow",
			"secret/a":                             "deny",
			dir + "/proj/secret/a":                 "deny",
			dir + "/alias/secret/a":                "deny",
			"src/in/a":                             "deny",
			"src/away/a":                           "",
			"src/away/../proj/secret/k":            "deny",
			"src/away/nothing/../../proj/secret/k": "deny", // nobody can say where .. leads from
			"src/loop/a":                           "deny", // nobody can say
			"src/../secret/a":                      "deny",
		} {
			said := rules.judge(&toolcrib.Review{Spec: fileTool("write_file"), Input: mustJSON(t, map[string]string{"path": path})}, nil)
			got := ""
			if said.rule != nil {
				got = said.decision.String()
			}
			if got != want {
				t.Errorf("%s: %q, want %q", path, got, want)
			}
		}
	}
}
