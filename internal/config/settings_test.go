package config

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// mode shows that named types work.
type mode string

// settings has one setting of each kind; the shape is that of the real thing.
type settings struct {
	Mode    mode              `yaml:"mode" enum:"ask,auto,plan" doc:"When a person is asked."`
	Workers int               `yaml:"workers" min:"1" max:"64" project:"lower" doc:"How many calls run at once."`
	Journal journal           `yaml:"journal" doc:"What is written down."`
	Limits  limits            `yaml:"limits" doc:"Bounds of one call."`
	Tools   tools             `yaml:"tools" doc:"What is on the shelves."`
	Servers map[string]server `yaml:"servers" project:"add" doc:"Tool servers by name."`
	Rules   []ruleSetting     `yaml:"rules" project:"add" doc:"Rules, in their order."`
	TLS     *tlsSetting       `yaml:"tls" doc:"Encryption of the listener."`
	Hidden  int               `yaml:"-"`
	private int
}

type journal struct {
	Enabled   bool          `yaml:"enabled" project:"on" doc:"Whether calls are recorded."`
	Retention time.Duration `yaml:"retention" min:"1h" doc:"How long records are kept."`
	MaxSize   int64         `yaml:"max_size" unit:"bytes" min:"1MiB" doc:"Size at which old records go."`
}

type limits struct {
	Timeout time.Duration `yaml:"timeout" project:"lower" doc:"How long a call may take."`
	Output  int64         `yaml:"output" unit:"bytes" project:"lower" doc:"How much a tool may answer."`
	Retries uint8         `yaml:"retries" project:"lower" doc:"How often a safe call is repeated."`
	Load    float64       `yaml:"load" min:"0" max:"1" project:"lower" doc:"Share of the machine that may be used."`
	Network bool          `yaml:"network" project:"off" doc:"Whether tools may reach the network."`
}

type tools struct {
	Allow    []string            `yaml:"allow" project:"subset" doc:"Tools that exist."`
	Deny     []string            `yaml:"deny" project:"add" doc:"Tools that do not exist."`
	Alias    map[string]string   `yaml:"alias" doc:"Other names | for tools."`
	Profiles map[string][]string `yaml:"profiles" project:"add" doc:"Named sets of groups."`
	Token    string              `yaml:"token" secret:"true" env:"CRIB_TOKEN" doc:"Credential of the catalog."`
}

type server struct {
	URL     string            `yaml:"url" doc:"Where it listens."`
	Enabled bool              `yaml:"enabled" project:"off" doc:"Whether it is used."`
	Timeout time.Duration     `yaml:"timeout" project:"lower" doc:"How long an answer may take."`
	Headers map[string]string `yaml:"headers" secret:"true" doc:"Sent with each request."`
}

type ruleSetting struct {
	Match  string   `yaml:"match" doc:"Pattern of tool names."`
	Action string   `yaml:"action" enum:"deny,ask,allow" doc:"What happens."`
	Paths  []string `yaml:"paths" doc:"Only below these."`
}

type tlsSetting struct {
	Cert string `yaml:"cert" doc:"Certificate file."`
	Port uint16 `yaml:"port" project:"lower" doc:"Where it listens."`
}

func standard() settings {
	return settings{
		Hidden:  6,
		private: 7,
		Mode:    "ask",
		Workers: 8,
		Journal: journal{Enabled: false, Retention: 90 * day, MaxSize: 1 << 30},
		Limits:  limits{Timeout: time.Minute, Output: 64_000, Retries: 2, Load: 0.5, Network: true},
		Tools: tools{
			Allow:    []string{"read", "write", "run"},
			Deny:     []string{"rm"},
			Profiles: map[string][]string{"minimal": {"fs"}},
		},
		Servers: map[string]server{"docs": {URL: "https://docs.example", Enabled: true, Timeout: 10 * time.Second}},
	}
}

// write puts text into a file of a fresh directory.
func write(t testing.TB, name, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil { // whatever the umask: system files are particular about it
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// load is Load with the settings above and a file in place of a path.
func load(t testing.TB, opt Options) *Loaded[settings] {
	t.Helper()
	loaded, err := Load(standard(), opt)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return loaded
}

// loadProblems gives the problems of a load that must fail.
func loadProblems(t testing.TB, opt Options) []*Problem {
	t.Helper()
	loaded, err := Load(standard(), opt)
	if err == nil {
		t.Fatalf("Load succeeded: %+v", loaded.Value)
	}
	if loaded != nil {
		t.Errorf("Load gave a result together with the error %v", err)
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("%T is not a joined error: %v", err, err)
	}
	var list []*Problem
	for _, one := range joined.Unwrap() {
		var p *Problem
		if !errors.As(one, &p) {
			t.Fatalf("%T is not a problem: %v", one, one)
		}
		list = append(list, p)
	}
	return list
}

// golden compares with a file in testdata, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run with -update to write it)", err)
	}
	// A checkout on Windows may have changed the line ends.
	if normal := strings.ReplaceAll(string(want), "\r\n", "\n"); normal != string(got) {
		t.Errorf("%s is stale (run with -update and look at the change):\n%s", path, got)
	}
}
