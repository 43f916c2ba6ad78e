package config

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestShowGolden(t *testing.T) {
	user := write(t, "config.yaml", `
workers: 3
tools:
  token: hunter2
  alias: {"yes": "no", "a b": "# not a comment", multi: "one\ntwo"}
servers:
  docs: {headers: {Authorization: hunter2}}
rules: [{match: "*", action: ask, paths: [/a]}]
`)
	project := write(t, "toolcrib.yaml", "tools:\n  deny: [curl]\nrules:\n- match: rm\n  action: deny\n")
	loaded := load(t, Options{User: user, Project: project, Environ: []string{"TOOLCRIB_MODE=plan"}, Flags: map[string]string{"limits.output": "2MiB"}})
	got, err := Show(loaded)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(got, []byte("hunter2")) {
		t.Errorf("a secret is shown:\n%s", got)
	}
	text := strings.NewReplacer(user, "/home/u/config.yaml", project, "/src/toolcrib.yaml").Replace(string(got))
	golden(t, "show.yaml", []byte(text))
}

// TestShowRoundTrip loads what was shown and expects the same settings.
func TestShowRoundTrip(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			"", " ", "#", "a: b", "- a", "yes", "null", "~", "1", "0x1", "1e3", "2020-01-01", "<<", "*a", "&a", "!x", "|", ">", "%", "@", "`", "'", `"`,
			"a # b", "a\nb", "\t", "\r\n", "\u0085", "\u2028", "\uFEFF", "\x00", "\x7f", "true", "{", "[", "?", ":", "-", "...", "---", "a:", "\\",
		}))
		name := text.Filter(func(s string) bool { return s != "" && len(s) <= maxName })
		list := rapid.SliceOfN(text, 0, 3)
		want := standard()
		want.Workers = rapid.IntRange(1, 64).Draw(t, "workers")
		want.Limits.Load = rapid.Float64Range(0, 1).Draw(t, "load")
		want.Limits.Timeout = time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "timeout"))
		want.Limits.Output = rapid.Int64Range(0, math.MaxInt64).Draw(t, "output")
		want.Tools.Allow = list.Draw(t, "allow")
		want.Tools.Alias = rapid.MapOfN(name, text, 0, 3).Draw(t, "alias")
		want.Tools.Profiles = rapid.MapOfN(name, list, 0, 3).Draw(t, "profiles")
		want.Rules = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ruleSetting {
			return ruleSetting{Match: text.Draw(t, "match"), Action: rapid.SampledFrom([]string{"ask", "deny"}).Draw(t, "action"), Paths: list.Draw(t, "paths")}
		}), 0, 3).Draw(t, "rules")
		want.Servers = rapid.MapOfN(name, rapid.Custom(func(t *rapid.T) server { return server{URL: text.Draw(t, "url")} }), 0, 2).Draw(t, "servers")
		if rapid.Bool().Draw(t, "tls") {
			want.TLS = &tlsSetting{Cert: text.Draw(t, "cert"), Port: rapid.Uint16().Draw(t, "port")}
		}

		shown, err := Show(&Loaded[settings]{Value: want, Origins: map[string]Origin{"mode": {}, "tls": {}, "tools.allow": {}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, shown, 0o600); err != nil {
			t.Fatal(err)
		}
		loaded, err := Load(settings{Hidden: want.Hidden}, Options{User: file})
		if err != nil {
			t.Fatalf("%v\n%s", err, shown)
		}
		if diff := cmp.Diff(want, loaded.Value, cmpopts.IgnoreUnexported(settings{}), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("settings differ (-want +got):\n%s\n%s", diff, shown)
		}
	})
}

func TestShowCannotBeFooled(t *testing.T) {
	loaded := load(t, Options{})
	loaded.Origins["mode"] = Origin{Source: SourceProject, File: "/x\nmode: auto #", Line: 1}
	got, err := Show(loaded)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(got, []byte("\nmode: auto")) {
		t.Errorf("a path made a line of its own:\n%s", got)
	}
	loaded.Value.Mode = "\xff"
	if _, err := Show(loaded); err == nil {
		t.Error("a value that cannot be written was no error")
	}
}

func TestShowJSONHidesWhatShowHides(t *testing.T) {
	type block struct {
		Token string `yaml:"token" secret:"true" doc:"A secret."`
		Wait  int    `yaml:"wait" doc:"A number."`
	}
	type settings struct {
		Net block `yaml:"net" doc:"A block."`
	}
	loaded, err := Load(settings{Net: block{Wait: 3}}, Options{Flags: map[string]string{"net.token": "hunter2"}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := ShowJSON(loaded)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Config struct {
			Net struct{ Wait int }
		}
		Origins map[string]string
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "hunter2") || got.Config.Net.Wait != 3 || got.Origins["net.wait"] != "default" || got.Origins["net.token"] != "flag" {
		t.Errorf("got %s", text)
	}
}
