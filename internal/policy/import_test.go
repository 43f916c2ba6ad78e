package policy

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

type importFunc func([]byte) (Imported, error)

func importers() map[string]importFunc {
	return map[string]importFunc{"claude.json": ImportClaude, "codex.rules": ImportCodex, "gemini.toml": ImportGemini, "opencode.jsonc": ImportOpencode}
}

// TestImportGolden: what becomes of a file, and what does not, can be read in
// testdata.
func TestImportGolden(t *testing.T) {
	for name, read := range importers() {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := read(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		cribtest.Golden(t, "testdata/"+name+".golden", append(text, '\n'))
		checkImported(t, data, got)
	}
}

// checkImported: what was imported can be loaded.
func checkImported(t testing.TB, data []byte, got Imported) {
	t.Helper()
	if _, err := NewRules([]Layer{{Rank: RankUser, Permissions: got.Permissions}}, testOptions()); err != nil && !strings.Contains(err.Error(), "at most") {
		t.Errorf("%.300q becomes what cannot be read: %v", data, err)
	}
}

// TestImportDropsNothing: every rule that is put into a file is found in what it
// becomes or in what was left.
func TestImportDropsNothing(t *testing.T) {
	for _, tt := range []struct {
		read          importFunc
		before, after string
		rules         []string
	}{
		{ImportClaude, `{"permissions":{"allow":["`, `"]}}`, []string{"Bash(zebra)", "Bash(zebra *)", "Zebra", "zebra", "mcp__zebra", "Read(./zebra)", "WebFetch(domain:zebra.example)", "Zebra(x)", "Bash(zebra"}},
		{ImportClaude, `{"`, `":{"x":1}}`, []string{"zebra"}},
		{ImportCodex, "", "\n", []string{`prefix_rule(pattern=["zebra"])`, `zebra(x="y")`, `zebra = 1`, `zebra`, `prefix_rule(pattern=["a"], zebra="b")`, `prefix_rule(zebra)`, `if zebra:`, `load("zebra")`, `"zebra"`, "prefix_rule(pattern=[\"zebra\""}},
		{ImportGemini, "[[rule]]\n", "\n", []string{`zebra = 1`, "toolName = \"zebra\"\ndecision = \"allow\"", "toolName = \"run_shell_command\"\ncommandPrefix = \"zebra\"\ndecision = \"deny\"", "mcpName = \"zebra\"\ndecision=\"deny\"", "decision = \"zebra\"", "zebra = 2020-01-01", "zebra.x = 1"}},
		{ImportGemini, "", "\n", []string{"zebra = 1", "[zebra]", "[[zebra]]\nx = 1", "[zebra.x]"}},
		{ImportOpencode, `{"permission":{`, `}}`, []string{`"zebra":"allow"`, `"bash":{"zebra":"allow"}`, `"bash":{"*":"ask","zebra":"deny"}`, `"bash":{"zebra":7}`, `"edit":{"zebra/*":"ask"}`, `"webfetch":{"zebra":"deny"}`, `"zebra":{"a":{"b":1}}`}},
	} {
		for _, rule := range tt.rules {
			got, err := tt.read([]byte(tt.before + rule + tt.after))
			if err != nil {
				t.Errorf("%s: %v", rule, err)
				continue
			}
			text, err := json.Marshal(got)
			if err != nil || !strings.Contains(strings.ToLower(string(text)), "zebra") {
				t.Errorf("%s is gone: %s %v", rule, text, err)
			}
		}
	}
}

// TestImportNeverWidens: no form of an allow becomes an allow for more.
func TestImportNeverWidens(t *testing.T) {
	for read, texts := range map[string][]string{
		"claude": {
			`{"permissions":{"allow":["*","mcp__*","mcp__a*","Bash(*&&*)","Bash(ls*)","Bash(sh -c *)","Bash(env *)","Bash(git -c *)","Bash($X)","Edit(**/../x)"]}}`,
		},
		"codex": {`prefix_rule(pattern=["bash"])`, `prefix_rule(pattern=["env"])`, `prefix_rule(pattern=["python3","-c"])`},
		"gemini": {"[[rule]]\ntoolName=\"*\"\ndecision=\"allow\"", "[[rule]]\ndecision=\"allow\"", "[[rule]]\nmcpName=\"*\"\ndecision=\"allow\"",
			"[[rule]]\ntoolName=\"read_file\"\nmcpName=[\"a\"]\ndecision=\"allow\"", "[[rule]]\ntoolName=\"read_file\"\nsubagent=[\"a\"]\ndecision=\"allow\"",
			"[[rule]]\ntoolName=\"run_shell_command\"\ncommandPrefix=[]\ndecision=\"allow\"", "[[rule]]\ntoolName=\"run_shell_command\"\ncommandPrefix=[[\"ls\"]]\ndecision=\"allow\"", "[[rule]]\nmcpName=\"a\"\ntoolName=[]\ndecision=\"allow\"",
			"[[rule]]\ntoolName=\"read_file\"\ndecision=\"allow\"\n[rule.toolAnnotations]\nreadOnlyHint=true", "[[rule]]\ntoolName=\"read_file\"\ndecision=\"allow\"\n[rule.x]\n", "[[rule]]\ntoolName=\"run_shell_command\"\nargsPattern=\"x\"\ndecision=\"allow\""},
		"opencode": {`{"permission":"allow"}`, `{"permission":{"*":"allow"}}`, `{"permission":{"bash":{"ls*":"allow"}}}`},
	} {
		fn := map[string]importFunc{"claude": ImportClaude, "codex": ImportCodex, "gemini": ImportGemini, "opencode": ImportOpencode}[read]
		for _, text := range texts {
			got, err := fn([]byte(text))
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
			if len(got.Permissions.Allow) > 0 || slices.ContainsFunc(got.Permissions.Rules, func(c Condition) bool { return c.Decision == toolcrib.Allow.String() }) {
				t.Errorf("%s becomes %+v", text, got.Permissions)
			}
			if len(got.Left) == 0 {
				t.Errorf("%s: nothing is told", text)
			}
		}
	}
}

func TestImportRefuses(t *testing.T) {
	for name, read := range importers() {
		if _, err := read(make([]byte, maxImport+1)); err == nil {
			t.Errorf("%s: a huge file is read", name)
		}
	}
	for _, text := range []string{"", "[]", "{", `{"permissions":[]}`, `{} {}`, "null"} {
		if _, err := ImportClaude([]byte(text)); err == nil {
			t.Errorf("%q is read as settings", text)
		}
	}
	for _, text := range []string{"x", "x =", "[[rule", "[[rule]]\nx = 1 2", "[[rule]]\nx = \"a", "[[rule]]\nx = [1", "[[rule]]\nx = {a = 1", "[[rule]]\nx = 1\nx = 2", "[]\n", "x = \"\\q\""} {
		if _, err := ImportGemini([]byte(text)); err == nil {
			t.Errorf("%q is read as a policy", text)
		}
	}
}

func FuzzImportClaude(f *testing.F)   { fuzzImport(f, "claude.json", ImportClaude) }
func FuzzImportCodex(f *testing.F)    { fuzzImport(f, "codex.rules", ImportCodex) }
func FuzzImportGemini(f *testing.F)   { fuzzImport(f, "gemini.toml", ImportGemini) }
func FuzzImportOpencode(f *testing.F) { fuzzImport(f, "opencode.jsonc", ImportOpencode) }

func fuzzImport(f *testing.F, name string, read importFunc) {
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data))
	for line := range strings.SplitSeq(string(data), "\n") {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := read([]byte(text))
		if err != nil {
			return
		}
		checkImported(t, []byte(text), got)
	})
}
