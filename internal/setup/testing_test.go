package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// testKey is a key for the vaults of tests: making one for each takes longer.
var testKey = func() string {
	key, err := vault.NewKey()
	if err != nil {
		panic(err)
	}
	return key
}()

// home makes a home directory with the files of ten clients.
func home(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "me")
	copyTree(t, "testdata/home", dir)
	return dir
}

// few is such a directory with three of them; with TOOLCRIB_TEST_ALL=1 it has all.
func few(t testing.TB) string {
	t.Helper()
	dir := home(t)
	if os.Getenv("TOOLCRIB_TEST_ALL") != "" {
		return dir
	}
	for _, name := range []string{".agenticx", ".codeium", ".config", ".gemini"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func copyTree(t testing.TB, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// machine is a setup of a home directory, with the program left out.
func machine(dir, key string) *Setup {
	state := filepath.Join(dir, ".local", "state", "toolcrib")
	s := &Setup{
		Machine: Machine{GOOS: "linux", Home: dir, Dir: filepath.Join(dir, "work"), Exe: "/opt/toolcrib"},
		State:   state, Settings: filepath.Join(dir, ".config", "toolcrib", "config.yaml"), VaultDir: filepath.Join(state, "vault"),
		Entry: clientfiles.Entry{Command: "/opt/toolcrib", Args: []string{"mcp"}}, OwnURL: "http://127.0.0.1:8787/mcp",
		Looks:    regexp.MustCompile(`ghp_|Bearer `).MatchString,
		Check:    func(string) error { return nil },
		Unpassed: func() ([]Variables, error) { return nil, nil },
		Tell:     func(Event) {},
	}
	servers := fakeServers{file: filepath.Join(state, "answered.json")}
	s.Answered, s.Trial, s.Forget = servers.answered, servers.trial, servers.forget
	s.Servers = func() (map[string]settings.MCPServer, error) {
		text, err := os.ReadFile(s.Settings)
		if errors.Is(err, os.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		var cfg struct {
			MCPServers map[string]struct {
				Command, URL string
				Args         []string
				Env, Headers map[string]string
				Disabled     bool
			} `yaml:"mcp_servers"`
		}
		if err := config.Decode(text, &cfg); err != nil {
			return nil, err
		}
		out := map[string]settings.MCPServer{}
		for name, s := range cfg.MCPServers {
			out[name] = settings.MCPServer{Command: s.Command, URL: s.URL, Args: s.Args, Env: s.Env, Headers: s.Headers, Disabled: s.Disabled}
		}
		return out, nil
	}
	s.Vault = func() (*vault.Vault, error) {
		return vault.Open(vault.Config{Dir: s.VaultDir}, vault.FromEnv("KEY", func(string) (string, bool) { return key, true }))
	}
	return s
}

// fakeServers stands for the hub: it starts nothing, and keeps in a file which servers
// have answered, as the hub does for the next process.
type fakeServers struct {
	file    string
	fails   func(name string) error // nil: all start
	fetches map[string]string
	begun   func(ctx context.Context, n string) // nil, or called at each start
}

func (f fakeServers) answered(context.Context) (map[string]bool, error) {
	out := map[string]bool{}
	text, err := os.ReadFile(f.file)
	if errors.Is(err, os.ErrNotExist) {
		return out, nil
	}
	return out, errors.Join(err, json.Unmarshal(text, &out))
}

func (f fakeServers) save(names []string, answered bool) error {
	all, err := f.answered(context.Background())
	if err != nil {
		return err
	}
	for _, name := range names {
		if all[name] = answered; !answered {
			delete(all, name)
		}
	}
	text, err := json.Marshal(all)
	return errors.Join(err, os.MkdirAll(filepath.Dir(f.file), 0o700), os.WriteFile(f.file, text, 0o600))
}

func (f fakeServers) forget(_ context.Context, names []string) error { return f.save(names, false) }

func (f fakeServers) trial(_ context.Context, names []string) (*Trial, error) {
	var mu sync.Mutex
	return &Trial{
		Start: func(ctx context.Context, name string) (Tools, error) {
			if f.begun != nil {
				f.begun(ctx, name)
			}
			if f.fails != nil {
				if err := f.fails(name); err != nil {
					return Tools{}, err
				}
			}
			mu.Lock()
			defer mu.Unlock()
			return Tools{Count: 2, Confirmed: 1, Doubted: 1}, f.save([]string{name}, true)
		},
		Fetches: func(name string) string { return f.fetches[name] },
		Close:   func(context.Context) {},
	}, nil
}

// snapshot is every file of a home directory but the state of Toolcrib.
func snapshot(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		switch {
		case rel == ".local":
			return fs.SkipDir
		case d.IsDir():
			files[rel+"/"] = ""
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			files[rel], err = os.Readlink(path)
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		files[rel] = fmt.Sprintf("%v\n%s", info.Mode(), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func same(t testing.TB, what string, want, got map[string]string) {
	t.Helper()
	for name, text := range want {
		if now, ok := got[name]; !ok || now != text {
			t.Errorf("%s: %s is not as it was:\n%s\nnow:\n%s", what, name, text, now)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %s was not there before", what, name)
		}
	}
}

// reachable are the servers that clients would start themselves, by the files of one
// person.
func reachable(t testing.TB, s *Setup) (names []string) {
	t.Helper()
	for _, p := range clientfiles.Places(s.GOOS, s.Home, s.Env, "") {
		for _, p := range p.Files(os.ReadDir) {
			text, err := os.ReadFile(p.Path)
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			list, err := s.Codec().Entries(p.Client, text)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range list {
				if server, _ := s.server(p.Client, text, h); !h.Skipped && !server.Disabled && server.Command != s.Entry.Command {
					names = append(names, p.Client+": "+h.Name)
				}
			}
			if bytes.Contains(text, []byte("modelcontextprotocol/")) || bytes.Contains(text, []byte("ghp_")) {
				t.Errorf("%s still has a server or a token:\n%s", p.Path, text)
			}
		}
	}
	slices.Sort(names)
	return names
}

func secrets(t testing.TB, s *Setup) (names []string) {
	t.Helper()
	v, err := s.Vault()
	if err != nil {
		t.Fatal(err)
	}
	list, err := v.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range list {
		names = append(names, i.Name)
	}
	return names
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func run(t testing.TB, s *Setup) *Report {
	t.Helper()
	r, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func undo(t testing.TB, s *Setup) *Undone {
	t.Helper()
	u, err := s.Undo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// warnings are all that a setup warned of, in one text.
func warnings(r *Report) string {
	var b strings.Builder
	for _, o := range r.Steps {
		b.WriteString(strings.Join(o.Warn, "\n") + "\n" + o.Error + "\n")
	}
	return b.String() + strings.Join(r.Round, "\n")
}

func noKeyring(context.Context) error { return errors.New("there is none") }
