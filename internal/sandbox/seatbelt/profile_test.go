package seatbelt

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

var update = flag.Bool("update", false, "write the golden files")

func TestProfile(t *testing.T) {
	for name, p := range map[string]Plan{
		"nothing": {},
		"project": {
			Dirs:   []files.Dir{{Path: "/Users/ann/proj", Write: true}, {Path: "/tmp/x"}, {Path: "/Users/ann/proj/vendor"}, {Path: "/Users/ann/proj/vendor/own", Write: true}},
			Covers: []sandbox.Cover{{Path: "/Users/ann/proj/.env", Kind: sandbox.Hide}, {Path: "/Users/ann/proj/.git/hooks", Kind: sandbox.Fix, Dir: true}, {Path: "/Users/ann/proj/.git", Kind: sandbox.Pin, Dir: true}},
			Denied: []string{"/Users/ann/proj/secrets/**", "/**/*.key"}, Fixed: []string{"/var/keep/a?c"},
		},
		"network": {Dirs: []files.Dir{{Path: `/Users/ann/it's "quoted" \ here (really)`, Write: true}}, Covers: []sandbox.Cover{{Path: `/Users/ann/it's "quoted" \ here (really)/Größe.pem`}}, Network: true},
	} {
		got, err := Profile(p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		file := filepath.Join("testdata", name+".sb")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || string(want) != got {
			t.Errorf("%s (%v), now:\n%s", file, err, got)
		}
	}
}

func TestRefusedProfiles(t *testing.T) {
	for _, p := range []Plan{
		{Dirs: []files.Dir{{Path: "proj"}}}, {Dirs: []files.Dir{{Path: "/a/../b"}}}, {Dirs: []files.Dir{{Path: "/"}}}, {Dirs: []files.Dir{{Path: "/a\nb"}}},
		{Dirs: []files.Dir{{Path: "/a\x00b"}}}, {Dirs: []files.Dir{{Path: "/a\xffb"}}}, {Dirs: []files.Dir{{Path: "/a\u202eb"}}},
		{Covers: []sandbox.Cover{{Path: "/a\x1bb"}}}, {Denied: []string{"a"}}, {Denied: []string{"/a/../b"}}, {Fixed: []string{"/a\tb"}},
	} {
		if text, err := Profile(p); err == nil {
			t.Errorf("%+v:\n%s", p, text)
		}
	}
}

// Every name under which a disk of macOS finds what is denied is denied.
func TestDeniedInEveryCase(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"/w/Secrets", "/W/SECRETS", true}, {"/w/secrets/**", "/w/secrets/a/b", true}, {"/w/secrets/**", "/w/secrets", true}, {"/w/secrets", "/w/secrets2", false},
		{"/**/*.key", "/a/b/X.KEY", true}, {"/**/*.key", "/x.key", true}, {"/**/*.key", "/a/x.key/below", true}, {"/**/*.key", "/a/x.keys", false},
		{"/w/a?c", "/w/abc", true}, {"/w/a?c", "/w/a/c", false}, {"/var/k", "/private/var/k", true}, {"/w/[ab]", "/w/a", true},
		{"/w/Größe", "/w/Gro\u0308\u00dfe", true}, {"/w/Gro\u0308\u00dfe", "/w/Größe", true}, {"/w/a.b", "/w/axb", false}, {"/w/a+(b)$|", "/w/a+(b)$|", true},
	} {
		text, err := Profile(Plan{Denied: []string{c.pattern}})
		if err != nil {
			t.Fatal(err)
		}
		_, re, _ := strings.Cut(text, `(regex #"`)
		re, _, _ = strings.Cut(re, `")`)
		if got := regexp.MustCompile(re).MatchString(c.path); got != c.want {
			t.Errorf("%s and %s: %v by %s", c.pattern, c.path, got, re)
		}
	}
}

func TestWrap(t *testing.T) {
	cmd := toolcrib.Cmd{Path: "/bin/ls", Args: []string{"-l"}}
	if _, err := Wrap(cmd, toolcrib.Grant{Hosts: []string{"example.org"}}, nil); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable {
		t.Error("single hosts: ", err)
	}
	if _, err := Wrap(toolcrib.Cmd{Path: "ls"}, toolcrib.Grant{}, nil); err == nil {
		t.Error("a program without a path is run")
	}
	got, err := Wrap(cmd, toolcrib.Grant{Dirs: []files.Dir{{Path: "/w"}}}, nil)
	if err != nil || got.Path != Program || len(got.Args) != 4 || got.Args[2] != "/bin/ls" || strings.Contains(got.Args[1], "(allow network") {
		t.Errorf("%+v, %v", got, err)
	}
}

// FuzzProfile: no name of a file ends a string, opens a rule or comes after what is
// denied.
func FuzzProfile(f *testing.F) {
	f.Add("proj", "x.env", "secrets/**")
	f.Add(`a") (allow default) (b "`, `")(allow default)(`, `*"#`)
	f.Add("a\\", "b\\\"", "[")
	f.Fuzz(func(t *testing.T, dir, cover, denied string) {
		p := Plan{Dirs: []files.Dir{{Path: "/w/" + dir, Write: true}}, Covers: []sandbox.Cover{{Path: "/w/" + dir + "/" + cover}}, Denied: []string{"/w/" + denied}}
		text, err := Profile(p)
		if err != nil {
			return
		}
		depth, last, denying := 0, 0, false
		for i := 0; i < len(text); i++ {
			switch c := text[i]; {
			case c == '"':
				raw := i > 0 && text[i-1] == '#'
				for i++; i < len(text) && text[i] != '"'; i++ {
					if text[i] == '\\' && !raw {
						i++
					}
				}
			case c == '(':
				if depth == 0 {
					last = i
					deny := strings.HasPrefix(text[last:], "(deny file-read*")
					if denying && !deny {
						t.Fatalf("something follows what is denied:\n%s", text)
					}
					denying = denying || deny
				}
				depth++
			case c == ')':
				depth--
			}
		}
		if depth != 0 || strings.Count(text, "(version 1)") < 1 || !denying {
			t.Fatalf("depth %d:\n%s", depth, text)
		}
	})
}
