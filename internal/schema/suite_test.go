package schema

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

// suiteDir finds the official JSON Schema test suite, which travels inside a module that the project depends on anyway.
func suiteDir(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/jsonschema-go").Output()
	if err != nil {
		t.Fatalf("finding the module with the test suite: %v", err)
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "jsonschema", "testdata")
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("the test suite is not where it should be: %v", err)
	}
	return dir
}

type suiteGroup struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// reference compiles a schema by the other library alone, without anything of this package.
func reference(text []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if err := c.AddResource("https://reference.invalid/schema.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("https://reference.invalid/schema.json")
}

func referenceValid(t rapid.TB, s *jsonschema.Schema, text []byte) bool {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("decoding %s: %v", text, err)
	}
	return s.Validate(v) == nil
}

// withDraft adds $schema where a group of an older draft has none.
func withDraft(t *testing.T, schema json.RawMessage, address string) []byte {
	t.Helper()
	var m map[string]json.RawMessage
	if json.Unmarshal(schema, &m) != nil || m["$schema"] != nil {
		return schema
	}
	m["$schema"] = json.RawMessage(`"` + address + `"`)
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestSuite holds both validators against the official suite, and the fast one against the full one on every case that
// it claims. The floors keep the claims from shrinking unnoticed.
func TestSuite(t *testing.T) {
	for _, draft := range []struct {
		dir, address string
		fast, full   int // floors
	}{
		{"draft2020-12", "https://json-schema.org/draft/2020-12/schema", 770, 280},
		{"draft7", "http://json-schema.org/draft-07/schema#", 830, 55},
	} {
		t.Run(draft.dir, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(suiteDir(t), draft.dir, "*.json"))
			if err != nil || len(files) == 0 {
				t.Fatalf("no files of the suite: %v", err)
			}
			fast, full, remote, groups, fastGroups, defaults := 0, 0, 0, 0, 0, 0
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				var list []suiteGroup
				if err := json.Unmarshal(text, &list); err != nil {
					t.Fatal(err)
				}
				for _, g := range list {
					groups++
					name := filepath.Base(file) + ": " + g.Description
					schema := withDraft(t, g.Schema, draft.address)
					s, err := Compile(schema)
					if err != nil {
						if strings.Contains(err.Error(), "must not refer to other documents") && strings.Contains(string(schema), "localhost") {
							remote += len(g.Tests)
							continue
						}
						t.Errorf("%s: %v", name, err)
						continue
					}
					ref, err := reference(schema)
					if err != nil {
						t.Errorf("%s: the reference refuses the schema: %v", name, err)
						continue
					}
					if s.Fast() {
						fastGroups++
					}
					defaults += len(s.BadDefaults())
					for _, c := range g.Tests {
						d, err := Parse(c.Data, Limits{})
						if err != nil {
							t.Errorf("%s: %s: %v", name, c.Description, err)
							continue
						}
						problems := s.Validate(d)
						if got := problems == nil; got != c.Valid {
							t.Errorf("%s: %s: valid=%v, want %v\nschema %s\ndata %s\n%v", name, c.Description, got, c.Valid, schema, c.Data, problems)
						}
						asserts := draft.dir == "draft7" && strings.Contains(string(schema), `"format"`)
						if want := referenceValid(t, ref, c.Data); !asserts && (problems == nil) != want {
							t.Errorf("%s: %s: the reference says valid=%v", name, c.Description, want)
						}
						if s.Fast() {
							fast++
						} else {
							full++
						}
						d.Release()
					}
				}
			}
			t.Logf("%d groups, %d of them fast; cases: %d fast, %d full, %d left out because they need another document",
				groups, fastGroups, fast, full, remote)
			if defaults != 3 {
				t.Errorf("%d defaults are bad, want 3", defaults)
			}
			if fast < draft.fast || full < draft.full {
				t.Errorf("the claims shrank: %d fast (at least %d), %d full (at least %d)", fast, draft.fast, full, draft.full)
			}
		})
	}
}
