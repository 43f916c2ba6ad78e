package setup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/config"
)

// withServers gives a setup other servers than those that all start.
func withServers(s *Setup, f fakeServers) {
	f.file = filepath.Join(s.State, "answered.json")
	s.Answered, s.Trial, s.Forget = f.answered, f.trial, f.forget
}

func failing(names ...string) func(string) error {
	return func(name string) error {
		if slices.Contains(names, name) {
			return &Failure{Why: "its program ended with code 3", Wrote: []string{"Error: no " + name}}
		}
		return nil
	}
}

const sixServers = `{
	"mcpServers": {
		"a": {"command": "a-server"},
		"b": {"command": "b-server", "env": {"TOKEN": "ghp_0123456789"}},
		"c": {"command": "c-server"},
		"d": {"command": "d-server"}, // mine
		"e": {"command": "e-server"},
		"f": {"command": "f-server"}
	}
}
`

// TestUnansweredServerStaysInItsFile: an entry goes only when its server has answered through
// Toolcrib, whichever ones fail; the report says where the others are, a later setup takes
// those that answer by then, and undoing gives back every byte.
func TestUnansweredServerStaysInItsFile(t *testing.T) {
	all := []string{"a", "b", "c", "d", "e", "f"}
	for _, bad := range [][]string{nil, {"a"}, {"f"}, {"b", "d", "f"}, all} {
		dir := t.TempDir()
		file := filepath.Join(dir, ".cursor", "mcp.json")
		writeFile(t, file, sixServers)
		before := snapshot(t, dir)
		s := machine(dir, testKey)
		withServers(s, fakeServers{fails: failing(bad...)})
		r := run(t, s)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range all {
			if there := strings.Contains(string(text), name+"-server"); there != slices.Contains(bad, name) {
				t.Errorf("with %q failing, %s is in the file: %v", bad, name, there)
			}
		}
		var told []string
		for _, f := range r.Failed {
			told = append(told, f.Server)
			if !slices.Equal(f.Files, []string{file}) || f.Why == "" || len(f.Wrote) != 1 {
				t.Errorf("%+v", f)
			}
		}
		if !slices.Equal(told, bad) || len(r.Round) > 0 {
			t.Errorf("failed: %q, round: %q; want %q", told, r.Round, bad)
		}
		// They are tried again, and go when they answer.
		s = machine(dir, testKey)
		if r := run(t, s); len(r.Failed) > 0 || r.Changed != (len(bad) > 0) {
			t.Errorf("the second time, after %q: %+v", bad, r)
		}
		if got := reachable(t, s); len(got) > 0 {
			t.Errorf("the second time, after %q: %q", bad, got)
		}
		undo(t, machine(dir, testKey))
		same(t, "undone", before, snapshot(t, dir))
	}
}

// TestServersThatWereNotStartedStay: who does not want them started keeps them.
func TestServersThatWereNotStartedStay(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, ".cursor", "mcp.json")
	writeFile(t, file, sixServers)
	s := machine(dir, testKey)
	s.Ask = func(question string, otherwise bool) (bool, error) {
		return otherwise && !strings.Contains(question, "Start them"), nil
	}
	r := run(t, s)
	text, err := os.ReadFile(file)
	if err != nil || strings.Count(string(text), "-server") != 6 {
		t.Errorf("%s, %v", text, err)
	}
	if len(r.Round) != 6 || !strings.Contains(r.Round[0], whyUnanswered) {
		t.Errorf("round: %q", r.Round)
	}
}

// TestStrictTakesOutFailedServers: --strict means that no client has what Toolcrib cannot
// offer, and the report does not say that such an entry is still there.
func TestStrictTakesOutFailedServers(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, ".cursor", "mcp.json"), sixServers)
	before := snapshot(t, dir)
	s := machine(dir, testKey)
	s.Strict = true
	withServers(s, fakeServers{fails: failing("c")})
	r := run(t, s)
	if got := reachable(t, s); len(got) > 0 || len(r.Failed) != 1 || len(r.Failed[0].Files) > 0 {
		t.Errorf("%q, %+v", got, r.Failed)
	}
	undo(t, s)
	same(t, "undone", before, snapshot(t, dir))
}

// TestEntryChangedMeanwhileStays: an entry that somebody changes while servers start, or
// while a person thinks about the question, is another server than the one that answered.
func TestEntryChangedMeanwhileStays(t *testing.T) {
	for _, moment := range []string{"start", "question"} {
		dir := t.TempDir()
		file := filepath.Join(dir, ".cursor", "mcp.json")
		writeFile(t, file, sixServers)
		s := machine(dir, testKey)
		var once sync.Once
		change := func() {
			once.Do(func() {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Error(err)
				}
				writeFile(t, file, strings.Replace(string(text), `"c-server"`, `"other-server"`, 1))
			})
		}
		withServers(s, fakeServers{begun: func(context.Context, string) {
			if moment == "start" {
				change()
			}
		}})
		s.Ask = func(question string, otherwise bool) (bool, error) {
			if moment == "question" && strings.Contains(question, "out of") {
				change()
			}
			return otherwise, nil
		}
		r := run(t, s)
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), "other-server") || strings.Contains(string(text), "a-server") {
			t.Errorf("%s: %v\n%s", moment, err, text)
		}
		if len(r.Round) != 1 || !strings.Contains(r.Round[0], whyChanged) {
			t.Errorf("%s: round: %q", moment, r.Round)
		}
		undo(t, s)
		text, err = os.ReadFile(file)
		if err != nil || strings.Count(string(text), "-server") != 6 || !strings.Contains(string(text), "other-server") {
			t.Errorf("%s, undone: %v\n%s", moment, err, text)
		}
	}
}

// TestSameServerInTwoClients: it is started once, and stays in both files or goes from both.
func TestSameServerInTwoClients(t *testing.T) {
	for _, works := range []bool{true, false} {
		dir := t.TempDir()
		files := []string{filepath.Join(dir, ".cursor", "mcp.json"), filepath.Join(dir, ".codeium", "windsurf", "mcp_config.json")}
		for _, file := range files {
			writeFile(t, file, `{"mcpServers": {"both": {"command": "both-server"}}}`)
		}
		s := machine(dir, testKey)
		var mu sync.Mutex
		starts := 0
		withServers(s, fakeServers{
			begun: func(context.Context, string) { mu.Lock(); starts++; mu.Unlock() },
			fails: func(string) error {
				if works {
					return nil
				}
				return errors.New("it hangs")
			},
		})
		r := run(t, s)
		if starts != 1 {
			t.Errorf("it was started %d times", starts)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil || strings.Contains(string(text), "both-server") == works {
				t.Errorf("works: %v: %s, %v", works, text, err)
			}
		}
		if !works && (len(r.Failed) != 1 || len(r.Failed[0].Files) != 2) {
			t.Errorf("%+v", r.Failed)
		}
	}
}

// TestServersStartSideBySide: several at once and not all, and never two that fetch the same
// package; meanwhile it is told who is waited for.
func TestServersStartSideBySide(t *testing.T) {
	dir := t.TempDir()
	var entries []string
	fetches := map[string]string{}
	for name := range strings.SplitSeq("abcdefghijklmnop", "") {
		entries = append(entries, `"`+name+`": {"command": "`+name+`-server"}`)
		fetches[name] = "npx " + name
	}
	fetches["b"] = fetches["a"]
	writeFile(t, filepath.Join(dir, ".cursor", "mcp.json"), `{"mcpServers": {`+strings.Join(entries, ",")+`}}`)
	s := machine(dir, testKey)
	var mu sync.Mutex
	running, most := map[string]bool{}, 0
	full := make(chan struct{})
	f := fakeServers{fetches: fetches, begun: func(ctx context.Context, name string) {
		mu.Lock()
		running[name] = true
		most = max(most, len(running))
		if running["a"] && running["b"] {
			t.Error("two that fetch the same package were started at once")
		}
		if len(running) == atOnce {
			select {
			case <-full:
			default:
				close(full)
			}
		}
		mu.Unlock()
		select { // so many are started before one of them is done
		case <-full:
		case <-time.After(time.Minute):
			t.Error("so many are never started at once")
		}
	}, fails: func(name string) error {
		mu.Lock()
		defer mu.Unlock()
		delete(running, name)
		return nil
	}}
	withServers(s, f)
	waited := ""
	s.Tell = func(e Event) {
		if e.Kind == Working {
			waited += e.Text + "\n"
		}
	}
	run(t, s)
	if most != atOnce {
		t.Errorf("%d at once, want %d", most, atOnce)
	}
	if !strings.Contains(waited, "waiting for ") || !strings.Contains(waited, "p") {
		t.Errorf("told: %s", waited)
	}
}

// TestVariablesAreProposed: proxies and the like that servers do not get are passed; with a
// password in them only if a person says so. Undoing takes that back.
func TestVariablesAreProposed(t *testing.T) {
	const before = "# mine\nhub:\n  wait: 3s\n"
	for _, c := range []struct {
		name string
		ask  func(string, bool) (bool, error)
		want []string
	}{
		{"--yes", nil, []string{"ca"}},
		{"Enter", func(_ string, otherwise bool) (bool, error) { return otherwise, nil }, []string{"ca"}},
		{"yes to all", func(string, bool) (bool, error) { return true, nil }, []string{"ca", "proxy"}},
		{"no to all", func(q string, _ bool) (bool, error) { return !strings.Contains(q, "Pass them"), nil }, nil},
	} {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, ".cursor", "mcp.json"), sixServers)
		s := machine(dir, testKey)
		writeFile(t, s.Settings, before)
		s.Ask = c.ask
		s.Unpassed = func() ([]Variables, error) {
			return []Variables{{Word: "proxy", Names: []string{"HTTPS_PROXY"}, Password: true}, {Word: "ca", Names: []string{"SSL_CERT_FILE"}}}, nil
		}
		r := run(t, s)
		text, err := os.ReadFile(s.Settings)
		if err != nil {
			t.Fatal(err)
		}
		var cfg struct {
			Hub struct {
				PassEnv []string `yaml:"pass_env"`
				Wait    string
			}
			MCPServers map[string]any `yaml:"mcp_servers"`
		}
		if err := config.Decode(text, &cfg); err != nil {
			t.Fatal(err)
		}
		got := slices.Sorted(slices.Values(cfg.Hub.PassEnv))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q\n%s\n%+v", c.name, got, c.want, text, r.Steps)
		}
		undo(t, s)
		if text, err := os.ReadFile(s.Settings); err != nil || string(text) != before {
			t.Errorf("%s, undone: %q, %v", c.name, text, err)
		}
	}
}
