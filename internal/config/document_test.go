package config

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestReferenceGolden(t *testing.T) {
	got, err := Reference(standard())
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "reference.md", got)
}

func TestSchemaGolden(t *testing.T) {
	got, err := Schema(standard())
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "schema.json", got)
	if !json.Valid(got) {
		t.Error("the schema is not JSON")
	}
	for range 20 {
		again, err := Schema(standard())
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, again) {
			t.Fatal("the same type gave other bytes")
		}
	}
}

func TestSchemaHidesSecrets(t *testing.T) {
	secret := standard()
	secret.Tools.Token = "hunter2"
	secret.Servers["docs"] = server{Headers: map[string]string{"Authorization": "hunter2"}}
	schema, err := Schema(secret)
	if err != nil {
		t.Fatal(err)
	}
	reference, err := Reference(secret)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"schema": schema, "reference": reference} {
		if bytes.Contains(text, []byte("hunter2")) {
			t.Errorf("the %s prints a secret:\n%s", name, text)
		}
	}
}

func TestUndocumented(t *testing.T) {
	type inner struct {
		Deep int `yaml:"deep"`
	}
	type outer struct {
		Named string           `yaml:"named" doc:"Fine."`
		Bare  int              `yaml:"bare"`
		Blank int              `yaml:"blank" doc:"  "`
		Block inner            `yaml:"block" doc:"Fine."`
		Map   map[string]inner `yaml:"map" doc:"Fine."`
	}
	_, errReference := Reference(outer{})
	_, errSchema := Schema(outer{})
	for _, err := range []error{errReference, errSchema} {
		if err == nil {
			t.Fatal("a setting without a description was accepted")
		}
		for _, key := range []string{"bare", "blank", "block.deep", "map.NAME.deep"} {
			if !strings.Contains(err.Error(), key+" has no doc tag") {
				t.Errorf("the error does not name %s: %v", key, err)
			}
		}
		if strings.Contains(err.Error(), "named has") {
			t.Errorf("the error names a documented setting: %v", err)
		}
	}
	if _, err := Load(outer{}, Options{}); err != nil {
		t.Errorf("Load needs no descriptions: %v", err)
	}
}

func TestBadDefaults(t *testing.T) {
	for name, change := range map[string]func(*settings){
		"mode":                 func(s *settings) { s.Mode = "never" },
		"workers":              func(s *settings) { s.Workers = 0 },
		"journal.retention":    func(s *settings) { s.Journal.Retention = time.Minute },
		"limits.timeout":       func(s *settings) { s.Limits.Timeout = -1 },
		"rules[0].action":      func(s *settings) { s.Rules = []ruleSetting{{Action: "shrug"}} },
		"servers.docs.timeout": func(s *settings) { s.Servers["docs"] = server{Timeout: -1} },
	} {
		s := standard()
		change(&s)
		if _, err := Schema(s); err == nil || !strings.Contains(err.Error(), name+": the default is not allowed") {
			t.Errorf("%s: got %v", name, err)
		}
		if _, err := Reference(s); err == nil {
			t.Errorf("%s: Reference accepts it", name)
		}
	}
}

func TestReferenceCells(t *testing.T) {
	for in, want := range map[string]string{
		"a":   "`a`",
		"a|b": "`a\\|b`",
		"a`b": "``a`b``",
		"`a":  "`` `a ``",
	} {
		if got := code(in); got != want {
			t.Errorf("code(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestSmallThings documents a struct that has what the larger one has not.
func TestSmallThings(t *testing.T) {
	type small struct {
		Empty   struct{}      `yaml:"empty" doc:"Nothing."`
		Narrow  int8          `yaml:"narrow" doc:"Small." max:"100"`
		Wide    int64         `yaml:"wide" doc:"Large."`
		Sizes   []int64       `yaml:"sizes" unit:"bytes" doc:"Several."`
		Choices []string      `yaml:"choices" enum:",a" doc:"Several."`
		Present *tlsSetting   `yaml:"present" doc:"There."`
		Rules   []ruleSetting `yaml:"rules" doc:"Several."`
		Nested  []struct {
			TLS  *tlsPlain         `yaml:"tls" doc:"Maybe."`
			Vars map[string]string `yaml:"vars" doc:"Several."`
		} `yaml:"nested" doc:"Deep."`
	}
	value := small{Sizes: []int64{7, 1024}, Choices: []string{""}, Present: &tlsSetting{Port: 1}, Rules: []ruleSetting{{Match: "<a>", Action: "ask"}}}
	value.Nested = append(value.Nested, struct {
		TLS  *tlsPlain         `yaml:"tls" doc:"Maybe."`
		Vars map[string]string `yaml:"vars" doc:"Several."`
	}{Vars: map[string]string{"a": "b"}})
	schema, err := Schema(value)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "small.json", schema)
	reference, err := Reference(value)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "small.md", reference)
	loaded, err := Load(value, Options{})
	if err != nil {
		t.Fatal(err)
	}
	shown, err := Show(loaded)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "small.yaml", shown)
	again, err := Load(small{}, Options{User: write(t, "c.yaml", string(shown))})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(value, again.Value, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

type tlsPlain struct {
	Cert string `yaml:"cert" doc:"File."`
}
