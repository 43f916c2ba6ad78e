package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEnvironment(t *testing.T) {
	loaded := load(t, Options{Environ: []string{
		"TOOLCRIB_WORKERS=1", "TOOLCRIB_WORKERS=2", "TOOLCRIB_MODE=auto", "TOOLCRIB_LIMITS_NETWORK=off", "TOOLCRIB_LIMITS_OUTPUT=2 MiB",
		"TOOLCRIB_LIMITS_TIMEOUT=2d", "TOOLCRIB_LIMITS_LOAD=0.125", "TOOLCRIB_JOURNAL_MAX_SIZE=1GB", "TOOLCRIB_TOOLS_ALLOW=",
		"TOOLCRIB_TOOLS_ALIAS=a=b=c", "TOOLCRIB_TLS_PORT=99", "CRIB_TOKEN=", "PATH=/bin", "=C:=C:\\", "broken",
	}})
	want := standard()
	want.Workers, want.Mode = 2, "auto"
	want.Limits.Network, want.Limits.Output, want.Limits.Timeout, want.Limits.Load = false, 2<<20, 2*day, 0.125
	want.Journal.MaxSize = 1e9
	want.Tools.Allow = []string{}
	want.Tools.Alias = map[string]string{"a": "b=c"}
	want.TLS = &tlsSetting{Port: 99}
	sameSettings(t, loaded.Value, want)
	if len(loaded.Value.Tools.Allow) != 0 {
		t.Errorf("an empty variable did not empty the list: %q", loaded.Value.Tools.Allow)
	}
}

func TestEnvironmentProblems(t *testing.T) {
	for entry, want := range map[string]string{
		"TOOLCRIB_WORKERS=many":                "workers: environment variable TOOLCRIB_WORKERS: expected a whole number from 1 to 64, got \"many\"",
		"TOOLCRIB_WORKERS=":                    "unset the variable",
		"TOOLCRIB_WORKERS=007":                 "a leading zero could mean octal",
		"TOOLCRIB_LIMITS_NETWORK=maybe":        "limits.network: environment variable TOOLCRIB_LIMITS_NETWORK: expected true or false",
		"TOOLCRIB_LIMITS_LOAD=NaN":             "not a finite number",
		"TOOLCRIB_LIMITS_LOAD=inf":             "not a finite number",
		"TOOLCRIB_TOOLS_ALLOW=a,,b":            "element 2 is empty",
		"TOOLCRIB_TOOLS_ALLOW=a,":              "element 2 is empty",
		"TOOLCRIB_TOOLS_ALIAS=a":               "entry 1: expected name=value",
		"TOOLCRIB_TOOLS_ALIAS=a=b,=c,d":        "entry 2: expected name=value, with a name of 1 to 256 bytes; entry 3:",
		"TOOLCRIB_MODE=\xff":                   "not valid UTF-8",
		"TOOLCRIB_MODE=" + "\x1b]0;title\x07x": `got "\x1b]0;title\ax"`,
	} {
		list := loadProblems(t, Options{Environ: []string{entry}})
		if len(list) != 1 || !strings.Contains(list[0].Error(), want) {
			t.Errorf("%s: got %v, want %s", entry, list, want)
		}
		if strings.ContainsAny(list[0].Error(), "\x1b\n") {
			t.Errorf("%s: control characters reach the terminal: %q", entry, list[0].Error())
		}
	}
}

func TestSecretInEnvironmentIsNotShown(t *testing.T) {
	type secrets struct {
		Pins   []int          `yaml:"pins" secret:"true" min:"1000"`
		Kind   string         `yaml:"kind" secret:"true" enum:"hunter1,b"`
		Counts map[string]int `yaml:"counts" secret:"true"`
	}
	_, err := Load(secrets{}, Options{
		Environ: []string{"TOOLCRIB_PINS=hunter2,77", "TOOLCRIB_KIND=hunter2", "TOOLCRIB_COUNTS=a=hunter2"},
		Flags:   map[string]string{"pins": "[*hunter2]", "counts": "{a: *hunter2}"},
	})
	if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "77") {
		t.Errorf("got %v", err)
	}
}

func TestUnknownVariables(t *testing.T) {
	loaded := load(t, Options{
		Environ:  []string{"TOOLCRIB_WORKRES=3", "TOOLCRIB_HOME=/x", "TOOLCRIB_DEBUG=1", "TOOLCRIB_ZEBRA=1", "TOOLCRIB_SERVERS=x", "OTHER_WORKRES=1"},
		Reserved: []string{"TOOLCRIB_DEBUG"},
	})
	var got []string
	for _, w := range loaded.Warnings {
		got = append(got, w.String())
	}
	want := []string{
		`environment variable "TOOLCRIB_SERVERS" sets nothing`,
		`environment variable "TOOLCRIB_WORKRES" sets nothing; did you mean TOOLCRIB_WORKERS?`,
		`environment variable "TOOLCRIB_ZEBRA" sets nothing`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A reserved variable sets nothing, even if a setting would have its name, and
// what it holds is not repeated.
func TestReservedVariableSetsNothing(t *testing.T) {
	opt := Options{Environ: []string{"TOOLCRIB_WORKERS=AGE-SECRET-KEY-1"}}
	if list := loadProblems(t, opt); len(list) != 1 {
		t.Fatalf("the test cannot fail: %v", list)
	}
	opt.Reserved = []string{"TOOLCRIB_WORKERS"}
	loaded := load(t, opt)
	sameSettings(t, loaded.Value, standard())
	if len(loaded.Warnings) != 0 {
		t.Errorf("warnings: %v", loaded.Warnings)
	}
}

func TestFlags(t *testing.T) {
	loaded := load(t, Options{Flags: map[string]string{
		"limits.timeout": "1m", "tools.allow": "a, b", "servers.docs.timeout": "2s", "tools.profiles.minimal": "x,y",
		"tools.alias.l": "ls", `tools.alias["a b"]`: "c,d", "rules": "[{match: x, paths: [y]}]", "tls": "{port: 7}",
	}})
	want := standard()
	want.Limits.Timeout = time.Minute
	want.Tools.Allow = []string{"a", "b"}
	want.Tools.Profiles["minimal"] = []string{"x", "y"}
	want.Tools.Alias = map[string]string{"l": "ls", "a b": "c,d"}
	want.Servers["docs"] = server{URL: "https://docs.example", Enabled: true, Timeout: 2 * time.Second}
	want.Rules = []ruleSetting{{Match: "x", Paths: []string{"y"}}}
	want.TLS = &tlsSetting{Port: 7}
	sameSettings(t, loaded.Value, want)

	for key, wanted := range map[string]string{
		"limits.timeuot":      "did you mean limits.timeout?",
		"timeout":             "did you mean limits.timeout?",
		"xyzzy":               `unknown key "xyzzy"`,
		"workers.more":        "nothing below workers",
		"tools.allow.x":       "nothing below tools.allow",
		"rules":               "write it as a list of blocks on one line: '[{name: value}]'",
		"servers":             "write it as a block on one line: '{name: value}'",
		"servers.docs":        "write it as a block on one line: '{name: value}'",
		"tls":                 "write it as a block on one line: '{name: value}'",
		"journal":             "write it as a block on one line: '{name: value}'",
		"":                    "empty",
		"a..b":                "empty",
		"workers":             "expected a whole number",
		`tools.alias[""]`:     "1 to 256 bytes",
		"a\x1b[31m":           "flag",
		"servers.docs.url\n.": "flag",
	} {
		list := loadProblems(t, Options{Flags: map[string]string{key: "oops"}})
		if len(list) != 1 || !strings.Contains(list[0].Error(), wanted) {
			t.Errorf("%q: got %v, want %s", key, list, wanted)
		}
		if strings.ContainsAny(list[0].Error(), "\x1b\n") {
			t.Errorf("%q: control characters reach the terminal: %q", key, list[0].Error())
		}
	}
}
