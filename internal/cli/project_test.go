package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
)

// place is a home and a project in it, for what a project's file does to a person's settings.
type place struct {
	home, dir, other string // other is a further directory
	c                *command
	told             *bytes.Buffer
}

// newPlace writes both files; OTHER in them is the further directory. An empty file is not written.
func newPlace(t *testing.T, own, project string) *place {
	t.Helper()
	p := &place{home: t.TempDir(), dir: t.TempDir(), other: t.TempDir(), told: &bytes.Buffer{}}
	p.c = &command{in: io.NopCloser(strings.NewReader("")), out: io.Discard, err: p.told, environ: []string{"HOME=" + p.home, "TOOLCRIB_HOME=" + p.home}, dir: p.dir}
	p.own(t, own)
	if project != "" {
		p.project(t, project)
	}
	return p
}

func (p *place) own(t *testing.T, text string) {
	p.write(t, filepath.Join(p.home, "config.yaml"), text)
}
func (p *place) project(t *testing.T, text string) {
	p.write(t, filepath.Join(p.dir, "toolcrib.yaml"), text)
}

func (p *place) write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, "OTHER", p.other)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// open opens the crib as far as a judgement needs it.
func (p *place) open(t *testing.T) *app.App {
	t.Helper()
	a, err := p.c.openFor(t.Context(), app.ToCheck, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.c.closeApp(t.Context(), a) })
	return a
}

// decide is what would become of a call.
func decideCall(t *testing.T, a *app.App, tool string, input map[string]any) string {
	t.Helper()
	data, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	j, err := a.Judge(t.Context(), toolcrib.Call{Tool: tool, Input: data, Caller: toolcrib.Caller{Frontend: "cli"}})
	if err != nil {
		t.Fatal(err)
	}
	return j.Decision.String()
}

// TestProjectMovesNoRule: a project's file may take directories from the grant, and what
// relative names mean stays as the person has it.
func TestProjectMovesNoRule(t *testing.T) {
	t.Parallel()
	own := `
grant: {write: [".", "OTHER"]}
mode: yolo
permissions: {deny: ["files/*(./secrets/**)"]}
`
	for name, project := range map[string]string{"alone": "", "drops a directory": `grant: {write: ["OTHER"]}`, "drops all": `grant: {write: []}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, own, project)
			a := p.open(t)
			for _, path := range []string{"./secrets/k", "secrets/k", filepath.Join(p.dir, "secrets", "k")} {
				if got := decideCall(t, a, "read_file", map[string]any{"path": path}); got != "deny" {
					t.Errorf("read_file %s: %s", path, got)
				}
			}
			if got, want := a.Crib.Files.Base, p.dir; got != want {
				t.Errorf("relative names begin in %s, want %s", got, want)
			}
		})
	}
}

// TestProjectFreezesNothing: whatever becomes of a project's file while a server runs, a
// token that is taken away is gone, and what the person changes counts.
func TestProjectFreezesNothing(t *testing.T) {
	t.Parallel()
	const token = "tokens: {ci: {sha256: " + "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" + "}}\n"
	const sound = "permissions: {deny: [delete_file]}\n"
	for name, tt := range map[string]struct {
		before, after string // of the project's file; empty: there is none
		remove, write string // what delete_file and write_file get afterwards
	}{
		"a broken one appears":         {"", "mode: plannn\n", "ask", "ask"},
		"one with a bad rule appears":  {"", "permissions: {deny: [delete_file, 'x(']}\n", "deny", "ask"},
		"it breaks":                    {sound, "mode: plannn\n", "deny", "allow"},
		"it is no YAML any more":       {sound, "permissions: [\n", "deny", "allow"},
		"a rule of it breaks":          {sound, "permissions: {deny: [delete_file, 'x(']}\n", "deny", "allow"},
		"it goes":                      {sound, "", "deny", "allow"},
		"one that was broken goes":     {"mode: plannn\n", "", "ask", "ask"},
		"one that was broken is sound": {"mode: plannn\n", sound, "deny", "allow"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, "mode: plan\n"+token, tt.before)
			a := p.open(t)
			if len(a.Tokens()) != 1 {
				t.Fatalf("tokens %v", a.Tokens())
			}
			p.own(t, "mode: yolo\n")
			p.project(t, tt.after)
			if tt.after == "" {
				if err := os.Remove(filepath.Join(p.dir, "toolcrib.yaml")); err != nil {
					t.Fatal(err)
				}
			}
			stop := a.FollowPolicy(p.c.policyNow)
			defer stop()
			// An end that no sound program reaches: go test has one of its own.
			for len(a.Tokens()) != 0 && t.Context().Err() == nil {
				time.Sleep(5 * time.Millisecond)
			}
			if got := decideCall(t, a, "delete_file", map[string]any{"path": "x"}); got != tt.remove {
				t.Errorf("delete_file: %s, want %s", got, tt.remove)
			}
			if got := decideCall(t, a, "write_file", map[string]any{"path": "x", "content": "y"}); got != tt.write {
				t.Errorf("write_file: %s, want %s", got, tt.write)
			}
		})
	}
}

// TestUntrustedProjectStopsNothing: no file of a stranger keeps the program from
// starting, what is wrong in it is told by its line, and what is sound of it counts.
func TestUntrustedProjectStopsNothing(t *testing.T) {
	t.Parallel()
	for name, project := range map[string]string{
		"no decision":          "  rules: [{tool: read_file}]",
		"a long message":       "  rules: [{decision: ask, tool: x, message: '" + strings.Repeat("a", 2001) + "'}]",
		"a control character":  `  rules: [{decision: ask, tool: x, message: "\e"}]`,
		"too many rules":       "  ask: [" + manyRules(5001) + "]",
		"too many allows":      "  allow: [" + manyRules(5001) + "]",
		"too many conditions":  "  rules:\n" + manyConditions(201),
		"no name":              "grant: {protected: ['']}",
		"half a pattern":       "grant: {protected: ['[a']}",
		"above all":            "grant: {protected: [../../../..]}",
		"an exception":         "grant: {protected: ['!x']}",
		"a budget without per": "bounds: {budgets: [{calls: 1}]}",
		"an empty budget":      "bounds: {budgets: [{name: x}]}",
		"a negative price":     "bounds: {prices: {'math/*': -5}, budgets: [{rate: 1}]}",
		"a huge price":         "bounds: {prices: {'math/*': 1e308}, budgets: [{rate: 1}]}",
		"labels of nothing":    "safety: {add_labels: {'a(b': [private]}}",
		"allows everything":    "  allow: ['*']",
		"a denied example":     "  rules: [{decision: deny, tool: delete_file, match: [write_file]}]",
		"two with one when":    "  rules:\n    - {decision: deny, tool: delete_file, when: 'true'}\n    - {decision: deny, tool: read_file, when: 'true', match: ['{']}",
		"a number":             "  ask: [list_files, 5]",
		"many unknown keys":    manyKeys(60),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "permissions:\n  deny: [write_file]\n" + project + "\n"
			p := newPlace(t, "mode: yolo\npermissions: {allow: [write_file]}\n", text)
			a := p.open(t)
			if p.c.broken == nil {
				t.Fatal("nothing is wrong with it")
			}
			if told := p.told.String(); !strings.Contains(told, "toolcrib.yaml:") {
				t.Errorf("no line: %.300s", told)
			}
			if got := decideCall(t, a, "write_file", map[string]any{"path": "x", "content": "y"}); got != "deny" {
				t.Errorf("write_file, which it denies: %s", got)
			}
			if got := decideCall(t, a, "delete_file", map[string]any{"path": "x"}); got == "allow" {
				t.Errorf("delete_file: %s", got)
			}
		})
	}
}

// TestSoundPartsOfProtected: of a list with a mistake the rest counts.
func TestSoundPartsOfProtected(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{"5", "'[a'", "'!x'"} {
		p := newPlace(t, "mode: yolo\n", "grant: {protected: ['*.private', "+wrong+"]}\n")
		if got := decideCall(t, p.open(t), "read_file", map[string]any{"path": "x.private"}); got != "deny" {
			t.Errorf("beside %s: %s", wrong, got)
		}
	}
}

func manyRules(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "x%d, ", i)
	}
	return b.String()
}

func manyConditions(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "    - {decision: allow, tool: read_file, when: '%d > 0'}\n", i)
	}
	return b.String()
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "unknown%d: 1\n", i)
	}
	return b.String()
}

// TestManyUnknownNames: a file full of names that mean nothing is told in a few lines, and
// does not hold up the start.
func TestManyUnknownNames(t *testing.T) {
	t.Parallel()
	var names strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&names, "    name%dx: [private]\n", i)
	}
	p := newPlace(t, "permissions: {deny: [raed_file]}\n", "safety:\n  add_labels:\n"+names.String())
	list := p.open(t).Unmatched(t.Context(), nil)
	if len(list) != 22 || !strings.Contains(list[0].String(), "Did you mean read_file?") || !strings.Contains(list[21].String(), "2980 more names") {
		t.Errorf("%d: %v", len(list), list)
	}
}

// TestProjectsAroundTighten: a file in a part of a project takes nothing away of what the
// project's own file says, be it trusted or not, and a broken one around stops nothing.
func TestProjectsAroundTighten(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		outer, inner  string
		trusted       bool
		write, remove string
	}{
		"untrusted":        {"permissions: {deny: [write_file]}\n", "mode: yolo\n", false, "deny", "allow"},
		"trusted":          {"permissions: {deny: [write_file]}\n", "mode: yolo\n", true, "deny", "allow"},
		"mode":             {"mode: plan\n", "mode: auto-edit\n", false, "deny", "deny"},
		"allows narrow":    {"permissions: {allow: [write_file]}\n", "permissions: {allow: [delete_file]}\nmode: default\n", false, "ask", "ask"},
		"broken":           {"permissions: {deny: [write_file, 'x(']}\n", "log: {level: debug}\n", false, "deny", "ask"},
		"broken, trusted":  {"permissions: {deny: [write_file, 'x(']}\n", "permissions: {deny: [delete_file]}\n", true, "deny", "deny"},
		"no YAML, trusted": {"permissions: [\n", "permissions: {allow: [delete_file]}\n", true, "ask", "allow"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, "mode: yolo\n", tt.outer)
			if name == "allows narrow" {
				p.own(t, "permissions: {allow: [write_file, delete_file]}\n")
			}
			p.dir = filepath.Join(p.dir, "part")
			if err := os.Mkdir(p.dir, 0o700); err != nil {
				t.Fatal(err)
			}
			p.project(t, tt.inner)
			p.c.dir = p.dir
			if tt.trusted {
				paths, _, err := p.c.paths()
				if err != nil {
					t.Fatal(err)
				}
				if err := trustList(paths).Add(filepath.Join(p.dir, "toolcrib.yaml"), []byte(tt.inner), time.Now()); err != nil {
					t.Fatal(err)
				}
			}
			a := p.open(t)
			if got := decideCall(t, a, "write_file", map[string]any{"path": "x", "content": "y"}); got != tt.write {
				t.Errorf("write_file: %s, want %s", got, tt.write)
			}
			if got := decideCall(t, a, "delete_file", map[string]any{"path": "x"}); got != tt.remove {
				t.Errorf("delete_file: %s, want %s", got, tt.remove)
			}
		})
	}
}

// TestCaseIsNamed: an error in a file of cases says which case it is of.
func TestCaseIsNamed(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{"{tool: no_such_tool, want: deny}", "{tool: read_file, input: '{', want: deny}", "{tool: read_file, input: '{}', want: deny}", "{tool: read_file, token: nobody, want: deny}"} {
		p := newPlace(t, "", "")
		file := filepath.Join(p.dir, "cases.yaml")
		p.write(t, file, "cases:\n  - {tool: list_files, want: allow}\n  - "+wrong+"\n")
		err := p.c.policyTest(t.Context(), file)
		p.c.complain(err)
		if told := p.told.String(); exitStatus(err) != exitUsage || !strings.Contains(told, "case 2") {
			t.Errorf("%s: %d, %s", wrong, exitStatus(err), told)
		}
	}
}

// TestTokensComeOverHTTP: who has a token is judged as over HTTP, whatever rules say of
// callers at the terminal.
func TestTokensComeOverHTTP(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "tokens: {ci: {sha256: "+strings.Repeat("a", 64)+"}}\npermissions: {rules: [{decision: deny, tool: list_files, when: 'caller.via == \"mcp-http\"'}]}\n", "")
	a := p.open(t)
	for token, want := range map[string]string{"": "allow", "ci": "deny"} {
		if r, err := p.c.tryCase(t.Context(), a, policyCase{Tool: "list_files", Input: "{}", Token: token, Want: want}); err != nil || !r.OK {
			t.Errorf("%q: %+v, %v", token, r, err)
		}
	}
}

// TestMistakesHaveTheirLine: settings that make sense only together are told where they stand.
func TestMistakesHaveTheirLine(t *testing.T) {
	t.Parallel()
	for own, want := range map[string]string{
		"agents:\n  x:\n    profile: codin\n": "config.yaml:3: agents.x.profile: there is no profile \"codin\"; did you mean coding?",
		"agents: {strict: {}}\ntokens:\n  ci: {agent: strct, sha256: " + strings.Repeat("a", 64) + "}\n": "config.yaml:3: tokens.ci.agent: there is no agent \"strct\"; did you mean strict?",
		"tokens:\n  ci:\n    sha256: abc\n": "config.yaml:3: tokens.ci.sha256: want the 64",
		"profile: codin\n":                  "config.yaml:1: profile: there is no profile",
	} {
		p := newPlace(t, own, "")
		_, err := p.c.openFor(t.Context(), app.ToCheck, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", own, err, want)
		}
	}
}

// TestNamesAreFoundWhereTheyStand: in the file that says them, though others say the same.
func TestNamesAreFoundWhereTheyStand(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "organisation: raed_file\norganisations: {raed_file: {}, lst_files: {}}\n", "mode: plan\npermissions:\n  deny:\n    - raed_file\nsafety:\n  add_labels:\n    lst_files: [private]\n")
	a := p.open(t)
	var got []string
	for _, u := range a.Unmatched(t.Context(), p.c.whereIs) {
		got = append(got, u.String())
	}
	for _, want := range []string{"toolcrib.yaml:4: permissions of the project", "toolcrib.yaml:7: safety.add_labels"} {
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}
