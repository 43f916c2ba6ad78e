package schema

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// suiteDirs finds the official JSON Schema test suite, which travels inside a module that the project depends on anyway, in
// two drafts. JSON_SCHEMA_TEST_SUITE may name a checkout of the suite itself, which has them all.
func suiteDirs(t *testing.T) (tests, remotes string) {
	t.Helper()
	if dir := os.Getenv("JSON_SCHEMA_TEST_SUITE"); dir != "" {
		return filepath.Join(dir, "tests"), filepath.Join(dir, "remotes")
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/jsonschema-go").Output()
	if err != nil {
		t.Fatalf("finding the module with the test suite: %v", err)
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "jsonschema", "testdata")
	return dir, filepath.Join(dir, "remotes")
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

type suiteDraft struct {
	dir, address string
	cases        int // how many there are at least
}

func suiteDrafts() []suiteDraft {
	return []suiteDraft{
		{"draft2020-12", "https://json-schema.org/draft/2020-12/schema", 1099},
		{"draft2019-09", "https://json-schema.org/draft/2019-09/schema", 1200},
		{"draft7", "http://json-schema.org/draft-07/schema#", 913},
		{"draft6", "http://json-schema.org/draft-06/schema#", 800},
		{"draft4", "http://json-schema.org/draft-04/schema#", 600},
	}
}

// remoteSchemas reads the documents that some cases refer to, by their addresses.
func remoteSchemas(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	list := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || strings.HasPrefix(name, "v1") || strings.HasPrefix(name, "draft3") || strings.HasPrefix(name, "draft-next") {
			return err // drafts that are not supported
		}
		list["http://localhost:1234/"+filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// bundle puts a case into one text, as a schema must be here: with $schema, and with the documents that it refers to among
// its definitions, each under its own address.
func bundle(t *testing.T, schema json.RawMessage, d suiteDraft, remotes map[string][]byte) []byte {
	t.Helper()
	var m map[string]any
	if json.Unmarshal(schema, &m) != nil {
		return schema
	}
	if m["$schema"] == nil {
		m["$schema"] = d.address
	}
	if strings.Contains(string(schema), "localhost:1234") {
		place := "$defs"
		if strings.Contains(d.address, "draft-0") {
			place = "definitions"
		}
		defs, ok := m[place].(map[string]any)
		if !ok {
			defs = map[string]any{}
			m[place] = defs
		}
		for address, text := range remotes {
			if own := draftOfRemote(address, d); own.dir == d.dir || strings.Contains(string(schema), address) {
				defs[address] = embedded(t, address, own, text)
			}
		}
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// draftOfRemote says by which draft a document is meant: that of its folder, or that of the case.
func draftOfRemote(address string, d suiteDraft) suiteDraft {
	for _, other := range suiteDrafts() {
		if strings.Contains(address, "/"+other.dir+"/") {
			return other
		}
	}
	return d
}

func embedded(t *testing.T, address string, d suiteDraft, text []byte) any {
	t.Helper()
	id := "$id"
	if d.dir == "draft4" {
		id = "id"
	}
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	m, ok := doc.(map[string]any)
	_, ref := m["$ref"]
	own, _ := m[id].(string)
	if !ok || own != "" && own != address || ref && strings.Contains(d.address, "draft-0") {
		m = map[string]any{"allOf": []any{doc}}
	}
	m[id] = address
	if m["$schema"] == nil {
		m["$schema"] = d.address
	}
	return m
}

// TestSuite holds the validator against the official suite.
func TestSuite(t *testing.T) {
	tests, dir := suiteDirs(t)
	remotes := remoteSchemas(t, dir)
	ran := 0
	for _, draft := range suiteDrafts() {
		files, err := filepath.Glob(filepath.Join(tests, draft.dir, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == 0 {
			continue
		}
		ran++
		t.Run(draft.dir, func(t *testing.T) {
			groups, cases, foreign := 0, 0, 0
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
					name := filepath.Base(file) + ": " + g.Description
					schema := bundle(t, g.Schema, draft, remotes)
					s, err := Compile(schema)
					if err != nil {
						if filepath.Base(file) == "vocabulary.json" && strings.Contains(err.Error(), "schema at /$schema: ") {
							foreign += len(g.Tests)
							continue // a draft of somebody's own: its keywords may mean anything
						}
						t.Errorf("%s: %v\n%s", name, err, g.Schema)
						continue
					}
					groups++
					other, left := Foreign(schema)
					if len(left) > 0 {
						t.Errorf("%s: of a schema that can be checked, something is left out: %v", name, left[0])
					}
					for _, c := range g.Tests {
						cases++
						problems := s.Validate(parsed(t, string(c.Data)))
						if got := problems == nil; got != c.Valid {
							t.Errorf("%s: %s: valid=%v, want %v\nschema %s\ndata %s\n%v", name, c.Description, got, c.Valid, g.Schema, c.Data, problems)
						}
						if got := other.Validate(parsed(t, string(c.Data))) == nil; got != c.Valid {
							t.Errorf("%s: %s: as somebody else's schema, valid=%v, want %v", name, c.Description, got, c.Valid)
						}
					}
				}
			}
			t.Logf("%d groups, %d cases; %d cases in a draft of their own", groups, cases, foreign)
			if cases < draft.cases {
				t.Errorf("only %d cases, at least %d are expected", cases, draft.cases)
			}
		})
	}
	if ran < 2 {
		t.Errorf("the suite has %d of the drafts, at least two are expected", ran)
	}
}
