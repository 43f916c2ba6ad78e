package python

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/mcp/client"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/toolfile"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// machine is a made-up one: interpreters are empty files, and what they say is said by
// the test.
type machine struct {
	t      *testing.T
	dir    string
	says   string // on standard output
	words  string // on standard error
	asked  int
	launch mcphub.Launch
}

func newMachine(t *testing.T) *machine {
	m := &machine{t: t, dir: t.TempDir()}
	m.write("env/pyvenv.cfg", "home = "+filepath.Join(m.dir, "base", "bin")+"\n")
	m.write("env/bin/python3", "")
	m.write("env/bin/python.exe", "")
	m.write("env/Scripts/python.exe", "")
	m.write("env/lib/python3.11/site-packages/acme-1.0.dist-info/entry_points.txt", "")
	m.write("base/bin/python3", "")
	return m
}

func (m *machine) write(name, text string) string {
	m.t.Helper()
	path := filepath.Join(m.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		m.t.Fatal(err)
	}
	return path
}

func (m *machine) start(_ context.Context, l mcphub.Launch) (client.Process, error) {
	m.asked++
	m.launch = l
	done := make(chan struct{})
	close(done)
	if m.words != "" {
		if _, err := io.WriteString(l.Stderr, m.words); err != nil {
			return client.Process{}, err
		}
	}
	_, in := io.Pipe()
	return client.Process{Stdin: in, Stdout: strings.NewReader(m.says), Done: done, Kill: func() {}, Err: func() error { return errors.New("its program ended with code 1") }}, nil
}

func (m *machine) hosts(folders ...Folder) *Hosts {
	return New(Needs{
		Start:  m.start,
		Expand: func(_ context.Context, text string) (string, error) { return text, nil },
		Look: func(name string) (string, error) {
			if name == "python3" || name == "node" {
				return m.write("base/bin/"+name, ""), nil
			}
			return "", errors.New("it is not in PATH")
		},
		Directory: func(text string) (string, error) {
			if !filepath.IsAbs(text) {
				return "", errors.New("it is not there")
			}
			return text, nil
		},
		Check: func(name string) error {
			if name == "math" || strings.Contains(name, "__") || len(name) > nameMost {
				return fmt.Errorf("%q cannot be the name of a server", name)
			}
			return nil
		},
		Place: filepath.Join(m.dir, "place"), State: filepath.Join(m.dir, "state"), Home: filepath.Join(m.dir, "home"), Folders: folders,
	})
}

func (m *machine) find(h *Hosts, p settings.Python, anew bool) Found {
	if p.Python == "" {
		p.Python = filepath.Join(m.dir, "env")
	}
	return h.Find(m.t.Context(), settings.Config{Python: map[string]settings.Python{"mine": p}}, nil, anew)
}

const threeBoxes = `{"toolboxes":[
	{"entry_point":"my-math","toolbox_id":"my_math","distribution":"acme","version":"1.0","error":""},
	{"entry_point":"ovos-math-tools","toolbox_id":"ovos-math-tools","distribution":"ovos-agentic-loop","version":"0.1.0","error":""},
	{"entry_point":"sad","toolbox_id":"sad","distribution":"acme","version":"1.0","error":"ModuleNotFoundError: No module named 'x'"},
	{"entry_point":"evil${secret:bank}","toolbox_id":"evil","distribution":"acme","version":"1.0","error":""}],
	"skills":[{"name":"a","path":"/opt/skills/SKILL.md","distribution":"acme","error":""},{"name":"b","path":"","distribution":"acme","error":"it names no file"}]}`

// TestInstalledToolboxes: each is a server of its own, by the name that its id makes; one
// that cannot be loaded is told in its own words, and the others are there.
func TestInstalledToolboxes(t *testing.T) {
	m := newMachine(t)
	m.says = threeBoxes
	given := filepath.Join(m.dir, "given")
	h := m.hosts()
	p := settings.Python{OPM: true, Write: []string{given}, Hosts: []string{"example.com"}, Config: map[string]string{"my_math": `{"deep":{"key":"${secret:k}"},"big":12345678901234567890}`}, Env: map[string]string{"A": "b"}, Secrets: map[string]string{"TOKEN": "t"}}
	found := m.find(h, p, false)
	var names []string
	for name := range found.Servers {
		names = append(names, name)
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"my_math", "opm-ovos-math-tools"}, names); diff != "" {
		t.Fatalf("%s %v", diff, found.Faults)
	}
	s := found.Servers["my_math"]
	if !s.Bare || !s.Unpinned || !s.Own || s.Sandbox != "" || s.Sampling != mcphub.ConsentDeny {
		t.Errorf("%+v", s)
	}
	want := &toolcrib.Grant{Dirs: []files.Dir{{Path: given, Write: true}}, Hosts: []string{"example.com"}}
	if diff := cmp.Diff(want, s.Grant); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, m.launch.Grant); diff != "" || m.launch.Sandbox != s.Sandbox {
		t.Errorf("it was asked with another grant: %s", diff)
	}
	for _, dir := range []string{"env", "base"} {
		if !slices.Contains(s.Tools, filepath.Join(m.dir, dir)) {
			t.Errorf("it does not see %s: %q", dir, s.Tools)
		}
	}
	args := strings.Join(s.Args, " ")
	if !strings.Contains(args, "serve --opm my-math --config") || !strings.Contains(args, "12345678901234567890") || strings.Contains(args, "secret") {
		t.Errorf("its arguments are %s", args)
	}
	if !slices.Contains(slices.Sorted(maps.Values(s.Env)), "${secret:k}") || s.Env["TOKEN"] != "${secret:t}" || s.Env["A"] != "b" {
		t.Errorf("its variables are %v", s.Env)
	}
	if found.Servers["opm-ovos-math-tools"].Bare {
		t.Error("tools that are called as ours are not qualified")
	}
	if id, is := h.ID("opm-ovos-math-tools"); !is || id != "ovos-math-tools" {
		t.Errorf("on the bus it is %q %v", id, is)
	}
	if _, is := h.ID("math"); is {
		t.Error("a box of ours is taken for one of the field")
	}
	said := fmt.Sprint(found.Faults)
	for _, part := range []string{"No module named 'x'", "evil", "it names no file"} {
		if !strings.Contains(said, part) {
			t.Errorf("nothing is said of %q: %s", part, said)
		}
	}
	if diff := cmp.Diff([]string{"/opt/skills/SKILL.md"}, found.Skills); diff != "" {
		t.Error(diff)
	}
}

// TestAskedAnew: an interpreter is asked once, until something is installed or somebody
// reloads.
func TestAskedAnew(t *testing.T) {
	m := newMachine(t)
	m.says = threeBoxes
	p := settings.Python{OPM: true}
	want := 0
	look := func(what string, anew bool, more int) {
		t.Helper()
		want += more
		if found := m.find(m.hosts(), p, anew); len(found.Servers) != 2 || m.asked != want {
			t.Errorf("%s: asked %d times, want %d; %d servers", what, m.asked, want, len(found.Servers))
		}
	}
	// Who only looks is told that nobody has asked, and starts nothing.
	only := m.hosts()
	only.needs.Start = nil
	if found := m.find(only, p, false); len(found.Faults) != 1 || !errors.Is(found.Faults[0], mcphub.ErrUnlisted) || m.asked != 0 {
		t.Errorf("%v, asked %d times", found.Faults, m.asked)
	}
	look("at first", false, 1)
	if found := m.find(only, p, false); len(found.Servers) != 2 || m.asked != want {
		t.Errorf("what was kept is shown: %v", found.Faults)
	}
	look("again", false, 0)
	look("a reload", true, 1)
	m.write("env/lib/python3.11/site-packages/new-1.0.dist-info/entry_points.txt", "")
	look("after pip install", false, 1)
	p.Read = []string{m.dir}
	look("with another grant", false, 1)
	p.Skip = []string{"my_*"}
	if found := m.find(m.hosts(), p, false); len(found.Servers) != 1 || m.asked != want {
		t.Errorf("a toolbox that is left out: %v", found.Servers)
	}
}

// TestInterpreterFails: what it says is told, and what else there is stays.
func TestInterpreterFails(t *testing.T) {
	m := newMachine(t)
	m.says, m.words = "Traceback", "Traceback (most recent call last):\nSyntaxError: host needs Python 3.9\n"
	file := m.write("mine/tools.py", "def f(): pass\n")
	found := m.find(m.hosts(), settings.Python{OPM: true, Files: []string{file}}, false)
	if said := fmt.Sprint(found.Faults); !strings.Contains(said, "host needs Python 3.9") || !strings.Contains(said, "code 1") {
		t.Errorf("it said %s", said)
	}
	if _, ok := found.Servers["tools"]; !ok {
		t.Errorf("its file went with it: %v", found.Faults)
	}
	for text, want := range map[string]string{
		filepath.Join(m.dir, "mine"):       "no virtual environment",
		filepath.Join(m.dir, "nowhere"):    "nowhere",
		"python4":                          "there is no python4",
		m.write("home/bin/python3", "#!x"): "would see all of that",
	} {
		found := m.find(m.hosts(), settings.Python{Python: text, OPM: true}, false)
		if said := fmt.Sprint(found.Faults); !strings.Contains(said, want) || len(found.Servers) > 0 {
			t.Errorf("%s: %s", text, said)
		}
	}
}

// TestBadSettings: each mistake is told with its key, and takes only its own entry.
func TestBadSettings(t *testing.T) {
	m := newMachine(t)
	for want, p := range map[string]settings.Python{
		"python.mine.read: nowhere":      {Read: []string{"nowhere"}, Modules: []string{"a"}},
		"python.mine.hosts":              {Hosts: []string{"http://x/"}, Modules: []string{"a"}},
		"python.mine.effects.f":          {Effects: map[string]string{"f": "harmless"}, Modules: []string{"a"}},
		"is no pattern":                  {Skip: []string{"["}, Modules: []string{"a"}},
		"is no name of a module":         {Modules: []string{"-c", "a;b", "a..b"}},
		"write the whole path":           {Files: []string{"tools.py"}},
		"python.mine.config.my_math":     {OPM: true, Config: map[string]string{"my_math": "[1]"}, Toolboxes: []string{"my_math"}},
		"only with the whole network":    {OPM: true, Bus: true, Toolboxes: []string{"my_math"}},
		"cannot be the name of a server": {Files: []string{m.write("x/math.py", "def f(): pass\n")}},
	} {
		m.says = threeBoxes
		found := m.find(m.hosts(), p, false)
		if said := fmt.Sprint(found.Faults); !strings.Contains(said, want) || len(found.Servers) > 0 {
			t.Errorf("%s: %s %v", want, said, found.Servers)
		}
	}
}

// TestWhatRunsIsWhatWasRead: a copy is run, and one that was tampered with is mended
// before it starts.
func TestWhatRunsIsWhatWasRead(t *testing.T) {
	m := newMachine(t)
	dir := filepath.Join(m.dir, "tools")
	m.write("tools/mine.py", "def f(): pass\n")
	h := m.hosts(Folder{Files: toolfile.Folder{Dir: dir}})
	s, ok := h.Find(t.Context(), settings.Config{}, nil, false).Servers["mine"]
	if !ok {
		t.Fatal(h.Last().Faults)
	}
	copied := s.Args[len(s.Args)-1]
	if err := os.WriteFile(copied, []byte("evil"), 0o600); err != nil {
		t.Fatal(err)
	}
	start := h.Starting(m.start)
	if _, err := start(t.Context(), mcphub.Launch{Args: s.Args, Grant: s.Grant, Stderr: io.Discard}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(copied); err != nil || string(text) != "def f(): pass\n" {
		t.Errorf("%q would run: %v", text, err)
	}
	other := m.write("place/x/y.py", "evil")
	if _, err := start(t.Context(), mcphub.Launch{Args: []string{other}, Grant: s.Grant, Stderr: io.Discard}); err == nil {
		t.Error("a file that nobody read was started")
	}
	// A change is another server; the file of a project counts by its content.
	m.write("tools/mine.py", "def g(): pass\n")
	if again := h.Find(t.Context(), settings.Config{}, nil, false).Servers["mine"]; again.Args[len(again.Args)-1] == copied {
		t.Error("a changed file is the same server")
	}
	for _, trusted := range []bool{true, false} {
		h := m.hosts(Folder{Files: toolfile.Folder{Dir: dir}, Trusted: func(_ string, content []byte) bool { return trusted && string(content) == "def g(): pass\n" }})
		s, is := h.Find(t.Context(), settings.Config{}, nil, false).Servers["mine"]
		if is != trusted || s.Own {
			t.Errorf("trusted %v: %v %v", trusted, is, s.Own)
		}
	}
}

// TestProjectFiles: what a project brings gets no secret and no way out of the sandbox.
func TestProjectFiles(t *testing.T) {
	m := newMachine(t)
	for name, header := range map[string]string{"a.py": "secrets: {TOKEN: bank}", "b.py": "sandbox: host", "c.py": "env: {A: '${secret:bank}'}"} {
		m.write("tools/"+name, "# toolcrib:\n#   "+header+"\ndef f(): pass\n")
	}
	h := m.hosts(Folder{Files: toolfile.Folder{Dir: filepath.Join(m.dir, "tools")}, Trusted: func(string, []byte) bool { return true }})
	if found := h.Find(t.Context(), settings.Config{}, nil, false); len(found.Servers) > 0 || len(found.Faults) < 3 {
		t.Errorf("%v %v", found.Servers, found.Faults)
	}
}

// TestNarrowed: what all tools of a server may do is the most that its program can.
func TestNarrowed(t *testing.T) {
	dirs := []files.Dir{{Path: "/w", Write: true}, {Path: "/r"}}
	read := []files.Dir{{Path: "/w"}, {Path: "/r"}}
	for effects, want := range map[string]toolcrib.Grant{
		"":                 {Dirs: dirs, Hosts: []string{"h"}},
		"f=pure":           {Dirs: dirs, Hosts: []string{"h"}}, // of the others nothing is known
		"*=pure":           {},
		"*=reads":          {Dirs: read},
		"*=reads,network":  {Dirs: read, Hosts: []string{"h"}},
		"*=pure f=writes":  {Dirs: dirs},
		"*=reads f=writes": {Dirs: dirs},
	} {
		d := declaration{dirs: dirs, hosts: []string{"h"}}
		for one := range strings.FieldsSeq(effects) {
			tool, text, _ := strings.Cut(one, "=")
			var e toolcrib.Effects
			if err := e.UnmarshalText([]byte(text)); err != nil {
				t.Fatal(err)
			}
			if d.effects == nil {
				d.effects = map[string]toolcrib.Effects{}
			}
			d.effects[tool] = e
		}
		if diff := cmp.Diff(want, *d.grant()); diff != "" {
			t.Errorf("%s: %s", effects, diff)
		}
	}
	if dirs[0].Write != true {
		t.Error("the declaration itself was changed")
	}
}

// TestBoxNames: whatever an id is, its name can be that of a server.
func TestBoxNames(t *testing.T) {
	for id, want := range map[string]string{"my_math": "my_math", "ovos-math-tools": "ovos-math-tools", "acme.tools": "acme-tools"} {
		if got := boxName(id); got != want {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.String().Draw(t, "id")
		name := boxName(id)
		if name == "" || len(name) > nameMost || strings.Contains(name, "__") || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
			t.Fatalf("%q becomes %q", id, name)
		}
	})
}

// FuzzInstalled: whatever an interpreter says, it is understood or told.
func FuzzInstalled(f *testing.F) {
	f.Add([]byte(threeBoxes))
	f.Add([]byte(`{"toolboxes":null}`))
	f.Add([]byte("[]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m := newMachine(t)
		m.says = string(text)
		found := m.find(m.hosts(), settings.Python{OPM: true}, false)
		if !json.Valid([]byte(strings.TrimSpace(string(text)))) && len(found.Faults) == 0 {
			t.Error("nothing is said")
		}
		for name, s := range found.Servers {
			if len(name) > nameMost || slices.ContainsFunc(s.Args, func(a string) bool { return strings.Contains(a, "${") }) {
				t.Errorf("%q %q", name, s.Args)
			}
		}
	})
}

// TestEffectsByGrant: tools whose effects nobody wrote count as what their sandbox lets
// them do. A header is not asked where the settings say what is granted.
func TestEffectsByGrant(t *testing.T) {
	m := newMachine(t)
	m.says = threeBoxes
	file := m.write("home/plain.py", "def f(): pass\n")
	for name, c := range map[string]struct {
		p    settings.Python
		want map[string]toolcrib.Effects
	}{
		"nothing":  {settings.Python{}, map[string]toolcrib.Effects{"*": toolcrib.Pure}},
		"reads":    {settings.Python{Read: []string{m.dir}}, map[string]toolcrib.Effects{"*": toolcrib.Reads}},
		"writes":   {settings.Python{Write: []string{m.dir}}, map[string]toolcrib.Effects{"*": toolcrib.Reads | toolcrib.Writes | toolcrib.Destroys}},
		"network":  {settings.Python{Hosts: []string{"example.com"}}, nil},
		"secrets":  {settings.Python{Secrets: map[string]string{"A": "b"}}, nil},
		"host":     {settings.Python{Sandbox: "host"}, nil},
		"some":     {settings.Python{Effects: map[string]string{"get_*": "reads"}}, map[string]toolcrib.Effects{"get_*": toolcrib.Reads, "*": toolcrib.Pure}},
		"not said": {settings.Python{Effects: map[string]string{"*": "undeclared"}}, map[string]toolcrib.Effects{"*": 0}},
	} {
		c.p.OPM, c.p.Files = true, []string{file}
		found := m.find(m.hosts(), c.p, false)
		for _, box := range []string{"my_math", "plain"} {
			if diff := cmp.Diff(c.want, found.Servers[box].Effects); diff != "" {
				t.Errorf("%s, %s: %s %v", name, box, diff, found.Faults)
			}
		}
	}
}

// TestEffectsByFunction: a header tells functions apart; the entry of the settings knows
// better about tools that it names, and what follows from its grant gives way.
func TestEffectsByFunction(t *testing.T) {
	m := newMachine(t)
	file := m.write("home/plain.py", "# toolcrib:\n#   effects: {look: [reads], ask: [network], \"*\": pure}\n#   hosts: [a.example]\n\ndef look(): pass\n")
	for name, c := range map[string]struct {
		p    settings.Python
		want map[string]toolcrib.Effects
	}{
		"the header":     {settings.Python{}, map[string]toolcrib.Effects{"look": toolcrib.Reads, "ask": toolcrib.Network, "*": toolcrib.Pure}},
		"a tool":         {settings.Python{Effects: map[string]string{"look": "writes"}}, map[string]toolcrib.Effects{"look": toolcrib.Writes, "ask": toolcrib.Network, "*": toolcrib.Pure}},
		"all of the box": {settings.Python{Effects: map[string]string{"*": "runs"}}, map[string]toolcrib.Effects{"*": toolcrib.Runs}},
	} {
		c.p.Files = []string{file}
		found := m.find(m.hosts(), c.p, false)
		if diff := cmp.Diff(c.want, found.Servers["plain"].Effects); diff != "" {
			t.Errorf("%s: %s %v", name, diff, found.Faults)
		}
	}
}
