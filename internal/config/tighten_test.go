package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestProject lists what a project file may and may not do. A line of ignored is "line:key: part of the message".
func TestProject(t *testing.T) {
	for _, c := range []struct {
		name, user, project string
		want                func(*settings)
		ignored             []string
	}{
		{name: "lower", project: "workers: 3\nlimits: {timeout: 5s, output: 1KiB, retries: 1, load: 0.1}\n",
			want: func(s *settings) {
				s.Workers = 3
				s.Limits.Timeout, s.Limits.Output, s.Limits.Retries, s.Limits.Load = 5*time.Second, 1024, 1, 0.1
			}},
		{name: "raise", project: "workers: 9\nlimits: {timeout: 1h, output: 1GB, retries: 3, load: 0.75}\n",
			ignored: []string{"1:workers: 9 is not lower than 8", "2:limits.timeout: 1h is not lower than 1m",
				"2:limits.output: 1GB is not lower than 64kB", "2:limits.retries: 3 is not", "2:limits.load: 0.75 is not"}},
		{name: "equal is silent", project: "workers: 8\nlimits: {timeout: 60s, network: true}\njournal: {enabled: false}\ntools: {allow: [run, read, write], deny: [rm]}\n"},
		{name: "zero may be unlimited", project: "limits: {timeout: 0, output: 0, retries: 0, load: 0}\n",
			ignored: []string{"1:limits.timeout: more than zero", "1:limits.output: more than zero", "1:limits.retries: more", "1:limits.load: more"}},
		{name: "zero may be none", user: "limits: {timeout: 0, retries: 0}\n", project: "limits: {timeout: 1s, retries: 1}\n",
			want:    func(s *settings) { s.Limits.Timeout, s.Limits.Retries = 0, 0 },
			ignored: []string{"1:limits.timeout: can only lower it", "1:limits.retries: can only lower it"}},
		{name: "off", project: "limits: {network: false}\n", want: func(s *settings) { s.Limits.Network = false }},
		{name: "off is not on", user: "limits: {network: false}\n", project: "limits: {network: true}\n",
			want: func(s *settings) { s.Limits.Network = false }, ignored: []string{"1:limits.network: can only turn it off"}},
		{name: "on", project: "journal: {enabled: true}\n", want: func(s *settings) { s.Journal.Enabled = true }},
		{name: "on is not off", user: "journal: {enabled: true}\n", project: "journal: {enabled: false}\n",
			want: func(s *settings) { s.Journal.Enabled = true }, ignored: []string{"1:journal.enabled: can only turn it on"}},
		{name: "subset", project: "tools: {allow: [run, read]}\n", want: func(s *settings) { s.Tools.Allow = []string{"read", "run"} }},
		{name: "subset drops what is new", project: "tools:\n  allow: [read, evil]\n",
			want: func(s *settings) { s.Tools.Allow = []string{"read"} }, ignored: []string{`2:tools.allow: "evil" is not in it`}},
		{name: "subset adds nothing", project: "tools: {allow: [read, write, run, evil]}\n", ignored: []string{`1:tools.allow: "evil" is not in it`}},
		{name: "subset never empties", project: "tools: {allow: []}\n", ignored: []string{"1:tools.allow: nothing would be left"}},
		{name: "subset of others", project: "tools: {allow: [evil]}\n", ignored: []string{"1:tools.allow: nothing would be left"}},
		{name: "subset of nothing", user: "tools: {allow: []}\n", project: "tools: {allow: [read]}\n",
			want: func(s *settings) { s.Tools.Allow = nil }, ignored: []string{"1:tools.allow: nothing would be left"}},
		{name: "add", project: "tools: {deny: [curl, rm, curl], profiles: {mine: [web]}}\nrules: [{match: a, action: deny}]\nservers: {new: {url: x, enabled: true, timeout: 9h}}\n",
			want: func(s *settings) {
				s.Tools.Deny = []string{"rm", "curl"}
				s.Tools.Profiles["mine"] = []string{"web"}
				s.Rules = []ruleSetting{{Match: "a", Action: "deny"}}
				s.Servers["new"] = server{URL: "x", Enabled: true, Timeout: 9 * time.Hour}
			}},
		{name: "add cannot remove", project: "tools: {deny: []}\nrules: []\nservers: {}\n"},
		{name: "add cannot change", project: "tools: {profiles: {minimal: [fs, exec]}}\nservers: {docs: {url: http://evil}}\n",
			ignored: []string{"1:tools.profiles.minimal: already there", "2:servers.docs.url: cannot set it"}},
		{name: "an entry that is there can be tightened", project: "servers: {docs: {enabled: false, timeout: 1s}}\n",
			want: func(s *settings) {
				docs := s.Servers["docs"]
				docs.Enabled, docs.Timeout = false, time.Second
				s.Servers["docs"] = docs
			}},
		{name: "an entry that is there cannot be widened", project: "servers: {docs: {timeout: 1h, headers: {a: b}}}\n",
			ignored: []string{"1:servers.docs.timeout: not lower", "1:servers.docs.headers.a: cannot add entries"}},
		{name: "no rule", project: "mode: auto\njournal:\n  retention: 1h\n  max_size: 1MiB\ntools: {alias: {a: b, c: d}, token: hunter2}\n",
			ignored: []string{"1:mode: cannot set it; it takes effect only when you set it in your own config, or trust this file (toolcrib trust)",
				"3:journal.retention: cannot set it", "4:journal.max_size: cannot set it",
				"5:tools.alias.a: cannot add entries here (and 1 more like it)", "5:tools.token: cannot set it"}},
		{name: "no rule, same value", project: "mode: ask\n", ignored: []string{"1:mode: cannot set it"}},
		{name: "an absent block stays absent", project: "tls: {port: 1}\n", ignored: []string{"1:tls: cannot add this block"}},
		{name: "an absent block stays absent, empty", project: "tls:\n", ignored: []string{"1:tls: cannot add this block"}},
		{name: "a block that is there", user: "tls: {port: 443, cert: a}\n", project: "tls: {port: 80, cert: b}\n",
			want: func(s *settings) { s.TLS = &tlsSetting{Port: 80, Cert: "a"} }, ignored: []string{"1:tls.cert: cannot set it"}},
		{name: "merges and aliases are no way around", project: "servers: {docs: &a {timeout: 2h}, b: *a}\nlimits: {<<: {timeout: 3h}}\n",
			want:    func(s *settings) { s.Servers["b"] = server{Timeout: 2 * time.Hour} },
			ignored: []string{"1:servers.docs.timeout: not lower", "2:limits.timeout: not lower"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			project := write(t, "toolcrib.yaml", c.project)
			loaded := load(t, Options{User: write(t, "c.yaml", c.user), Project: project})
			want := standard()
			if c.want != nil {
				c.want(&want)
			}
			sameSettings(t, loaded.Value, want)
			if len(loaded.Warnings) != len(c.ignored) {
				t.Fatalf("warnings are %v, want %q", loaded.Warnings, c.ignored)
			}
			for i, w := range loaded.Warnings {
				place, words, _ := strings.Cut(c.ignored[i], ": ")
				if fmt.Sprintf("%d:%s", w.Line, w.Key) != place || !strings.Contains(w.Message, words) || w.File != project || w.Column == 0 {
					t.Errorf("warning is %v, want %s", w, c.ignored[i])
				}
				if strings.Contains(w.String(), "hunter2") {
					t.Errorf("the warning shows a secret: %v", w)
				}
			}
		})
	}
}

// A project file is held against the result of every other layer, so that a flag cannot be used to undo it by order.
func TestProjectComesLast(t *testing.T) {
	project := write(t, "toolcrib.yaml", "workers: 5\nlimits:\n  timeout: 50s\ntools:\n  deny: [curl]\n  allow: [a]\n")
	loaded := load(t, Options{
		Project: project,
		Environ: []string{"TOOLCRIB_LIMITS_TIMEOUT=10s", "TOOLCRIB_TOOLS_DENY=wget"},
		Flags:   map[string]string{"workers": "20", "tools.allow": "a,b"},
	})
	v := loaded.Value
	if v.Workers != 5 || v.Limits.Timeout != 10*time.Second {
		t.Errorf("workers %d, timeout %s", v.Workers, v.Limits.Timeout)
	}
	if diff := cmp.Diff([]string{"wget", "curl"}, v.Tools.Deny); diff != "" {
		t.Error(diff)
	}
	for key, want := range map[string]string{
		"workers": project + ":1", "limits.timeout": "env TOOLCRIB_LIMITS_TIMEOUT", "tools.deny": "env TOOLCRIB_TOOLS_DENY",
		"tools.deny[1]": project + ":5", "tools.allow": project + ":6",
	} {
		if got := loaded.Origins[key].String(); got != want {
			t.Errorf("origin of %s is %s, want %s", key, got, want)
		}
	}
}

// Large lists must not take time that grows with the square of their length.
func TestProjectLargeLists(t *testing.T) {
	var b strings.Builder
	b.WriteString("tools:\n  deny:\n")
	for i := range 60_000 {
		fmt.Fprintf(&b, "  - x%d\n", i)
	}
	start := time.Now()
	loaded := load(t, Options{Project: write(t, "toolcrib.yaml", b.String())})
	if n := len(loaded.Value.Tools.Deny); n != 60_001 {
		t.Errorf("%d elements", n)
	}
	// A second and a half is normal on a slow machine; the square of the length takes minutes.
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestBounded(t *testing.T) {
	if got := strings.Join(bounded([]string{"a", "b", "c", "d", "e", "f", "g"}), " "); got != "a b c d e and 2 more" {
		t.Errorf("got %q", got)
	}
}

// Elements of a list are compared by what they mean, whatever they are made of.
func TestProjectAddComparesElements(t *testing.T) {
	type element struct {
		Vars  map[string]string `yaml:"vars"`
		Block *tlsPlain         `yaml:"block"`
		Inner tlsPlain          `yaml:"inner"`
		List  []string          `yaml:"list"`
	}
	type holder struct {
		Add    []element `yaml:"add" project:"add"`
		Subset []element `yaml:"subset" project:"subset"`
		Pins   []int     `yaml:"pins" project:"subset" secret:"true"`
		Pin    int       `yaml:"pin" project:"lower" secret:"true"`
	}
	elements := "[{vars: {a: '1', b: '2'}}, {block: {}}, {inner: {cert: x}, list: [a, b]}]"
	user := write(t, "c.yaml", "add: "+elements+"\nsubset: "+elements+"\npins: [1234]\npin: 1234\n")
	project := write(t, "toolcrib.yaml", `
add:
- {list: [], vars: {b: '2', a: '1'}}   # there already
- {block: {cert: ''}}                  # there already
- {inner: {cert: x}, list: ["a,b"]}    # another one
- {}                                   # another one
- {block: }                            # there already
subset: [{block: {}}, {block: {cert: new}}]
pins: [1234, 777888]
pin: 777888
`)
	loaded, err := Load(holder{}, Options{User: user, Project: project})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(loaded.Value.Add); n != 5 {
		t.Errorf("%d elements: %+v", n, loaded.Value.Add)
	}
	if s := loaded.Value.Subset; len(s) != 1 || s[0].Block == nil || s[0].Block.Cert != "" {
		t.Errorf("the subset is %+v", s)
	}
	if loaded.Origins["add[3]"].Line != 5 || loaded.Origins["add[4]"].Line != 6 {
		t.Errorf("origins %v", loaded.Origins)
	}
	if len(loaded.Warnings) != 3 || !strings.Contains(loaded.Warnings[0].Message, "element 2 is not in it") {
		t.Fatalf("warnings %v", loaded.Warnings)
	}
	for _, w := range loaded.Warnings {
		if strings.Contains(w.String(), "777888") || strings.Contains(w.String(), "1234") {
			t.Errorf("a secret is shown: %v", w)
		}
	}
}

// TestDrop: where an empty list means nothing, a project may take everything
// away, and gives nothing by naming something else.
func TestDrop(t *testing.T) {
	type dirs struct {
		Drop []string `yaml:"drop" project:"drop" doc:"Directories."`
	}
	for project, want := range map[string]struct {
		left    []string
		warning string
	}{
		"drop: [b]\n":       {[]string{"b"}, ""},
		"drop: []\n":        {[]string{}, ""},
		"drop: [src]\n":     {[]string{}, `"src" is not in it`},
		"drop: [a, /etc]\n": {[]string{"a"}, `"/etc" is not in it`},
		"drop: [b, a]\n":    {[]string{"a", "b"}, ""},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, projectFile)
		if err := os.WriteFile(path, []byte(project), 0o600); err != nil {
			t.Fatal(err)
		}
		loaded, err := Load(dirs{Drop: []string{"a", "b"}}, Options{Project: path})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(loaded.Value.Drop, want.left) {
			t.Errorf("%s leaves %q", project, loaded.Value.Drop)
		}
		if text := fmt.Sprint(loaded.Warnings); (want.warning == "") != (len(loaded.Warnings) == 0) || !strings.Contains(text, want.warning) {
			t.Errorf("%s warns %s", project, text)
		}
	}
}
