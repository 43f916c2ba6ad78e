package policy

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/shellguard"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

const (
	reads, writes, destroys, runs, network, asks = toolcrib.Reads, toolcrib.Writes, toolcrib.Destroys, toolcrib.Runs, toolcrib.Network, toolcrib.AsksPerson
	isAllow, isAsk, isDeny                       = toolcrib.Allow, toolcrib.Ask, toolcrib.Deny
)

func modes() []Mode { return []Mode{ModePlan, ModeDefault, ModeAutoEdit, ModeYolo} }

func inMode(m Mode) func(toolcrib.Call) Mode { return func(toolcrib.Call) Mode { return m } }

// desk is policy and shell guard as they are wired together.
func desk(t testing.TB, m Mode, layers ...Layer) (*Policy, []toolcrib.Guard) {
	t.Helper()
	machine := shelltest.NewMachine()
	shell := shellOn(t, machine)
	rules, err := NewRules(layers, RuleOptions{
		Own: []string{"files", "shell", "web"}, Base: work, Home: home, Resolve: machine.EvalSymlinks, Shell: shell, Conditions: &Conditions{},
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &Policy{Rules: rules, Mode: inMode(m), Shell: shell}
	shell.Rules, shell.Unasked = rules.Commands(), p.Unasked
	shell.Job = func(_ toolcrib.Call, id string) (shellguard.Job, bool) {
		return map[string]shellguard.Job{"sh": {Command: "sh", WorkingDir: work}, "py": {Command: "python3 -i", WorkingDir: work}}[id], id == "sh" || id == "py"
	}
	return p, []toolcrib.Guard{p, shell}
}

// explain asks guards as a crib does.
func explain(guards []toolcrib.Guard, r toolcrib.Review) Explanation {
	r.Call.Input = r.Input
	var all []toolcrib.Verdict
	for _, g := range guards {
		v, err := g.Judge(context.Background(), r)
		switch {
		case err != nil:
			all = append(all, toolcrib.Verdict{Reason: err.Error()})
		case v != nil:
			all = append(all, *v)
		}
	}
	decision, all := cribtest.Decide(all)
	return Explain(r, decision, all)
}

func verdictOf(t testing.TB, guards []toolcrib.Guard, spec toolcrib.Entry, input any) Explanation {
	t.Helper()
	text, ok := input.(string)
	if !ok {
		data, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		text = string(data)
	}
	return explain(guards, toolcrib.Review{Spec: spec, Input: json.RawMessage(text)})
}

func shellTool(name string) toolcrib.Entry {
	return toolcrib.Entry{Spec: toolcrib.Spec{Name: name, Group: "exec", Effects: reads | writes | destroys | runs | network}, Native: name, Box: "shell"}
}

func fileTool(name string) toolcrib.Entry {
	e := reads
	group := "fs"
	switch name {
	case "write_file", "edit_file":
		e = reads | writes
	case "delete_file":
		e = reads | writes | destroys
	case "list_files", "find_files", "search_files":
		group = "search"
	}
	return toolcrib.Entry{Spec: toolcrib.Spec{Name: name, Group: group, Effects: e}, Native: name, Box: "files"}
}

// TestModesByEffect: every set of effects, on every kind of tool, in every mode.
// The name, the box and the group of a tool change nothing.
func TestModesByEffect(t *testing.T) {
	kinds := map[string]toolcrib.Entry{
		"native":                  {Spec: toolcrib.Spec{Name: "t", Group: "fs"}, Native: "t", Box: "files"},
		"another box, known name": {Spec: toolcrib.Spec{Name: "write_file", Group: "fs"}, Native: "write_file", Box: "evil"},
		"a shell of its own":      {Spec: toolcrib.Spec{Name: "run_command", Group: "exec"}, Native: "run_command", Box: "evil"},
		"of the box shell":        {Spec: toolcrib.Spec{Name: "new_tool", Group: "exec"}, Native: "new_tool", Box: "shell"},
		"dialect alias":           {Spec: toolcrib.Spec{Name: "bash_exec"}, Native: "t", Box: "files", Dialect: "agenticx"},
		"mcp":                     {Spec: toolcrib.Spec{Name: "mcp__s__read", Group: "mcp"}, Native: "read", Box: "s"},
		"openapi":                 {Spec: toolcrib.Spec{Name: "getPet", Group: "api"}, Native: "getPet", Box: "pets"},
		"skill":                   {Spec: toolcrib.Spec{Name: "skill", Group: "skill"}, Native: "use_skill", Box: "skills"},
	}
	for _, m := range modes() {
		_, guards := desk(t, m)
		for e := range toolcrib.Effects(1 << 8) {
			want := isAsk
			does := e &^ toolcrib.Pure
			switch {
			case e != 0 && does&^(reads|asks) == 0:
				want = isAllow
			case m == ModePlan:
				want = isDeny
			case m == ModeYolo, m == ModeAutoEdit && e != 0 && does&^(reads|asks|writes|destroys) == 0:
				want = isAllow
			}
			for kind, spec := range kinds {
				spec.Effects = e
				if got := verdictOf(t, guards, spec, `{}`); got.Decision != want {
					t.Fatalf("%s, %s, %s: %s, want %s: %+v", m, kind, e, got.Decision, want, got)
				}
			}
		}
	}
}

// TestModesOnCommandLines is the table of how mode, rules and the real shell
// guard go together.
func TestModesOnCommandLines(t *testing.T) {
	user := Layer{Rank: RankUser, Permissions: Permissions{
		Allow: []string{"run_command(npm run *)", "run_command(go test *)"},
		Ask:   []string{"run_command(git push *)"},
		Deny:  []string{"run_command(curl *)"},
	}}
	for _, tt := range []struct {
		line                      string
		plan, normal, edits, yolo toolcrib.Decision
	}{
		{"ls -la", isAllow, isAllow, isAllow, isAllow},
		{"git log | head -5", isAllow, isAllow, isAllow, isAllow},
		{"cat /etc/shadow", isAsk, isAsk, isAsk, isAllow}, // only reads, but outside
		{"npm run build", isDeny, isAllow, isAllow, isAllow},
		{"go test ./... && npm run x", isDeny, isAllow, isAllow, isAllow},
		{"npm run build && touch x", isDeny, isAsk, isAsk, isAllow},
		{"npm run build > out", isDeny, isAsk, isAsk, isAllow},
		{"touch x", isDeny, isAsk, isAsk, isAllow},
		{"rm -rf /", isDeny, isAsk, isAsk, isAsk}, // the floor
		{"git push origin main", isDeny, isAsk, isAsk, isAsk},
		{"ls && git -C sub push -f", isDeny, isAsk, isAsk, isAsk},
		{"curl https://x.test", isDeny, isDeny, isDeny, isDeny},
		{"ls | xargs curl", isDeny, isDeny, isDeny, isDeny},
		{"sudo curl x", isDeny, isDeny, isDeny, isDeny},
		{"/usr/bin/CURL x", isDeny, isDeny, isDeny, isDeny},
		{"env -i timeout 5 curl x", isDeny, isDeny, isDeny, isDeny},
		{"bash -c 'cd /; curl x'", isDeny, isDeny, isDeny, isDeny},
		{"echo $(curl x)", isDeny, isDeny, isDeny, isDeny},
		{"if true; then curl x; fi", isDeny, isDeny, isDeny, isDeny},
		{"f() { curl x; }; f", isDeny, isDeny, isDeny, isDeny},
		{"$C x", isDeny, isAsk, isAsk, isAsk}, // may be curl: a person has to say
		{"eval \"$X\"", isDeny, isAsk, isAsk, isAsk},
		{"git -c alias.p=push p", isDeny, isAsk, isAsk, isAsk},
	} {
		for _, tool := range []string{"run_command", "start_command", "command_input"} {
			for i, want := range []toolcrib.Decision{tt.plan, tt.normal, tt.edits, tt.yolo} {
				p, guards := desk(t, modes()[i], user)
				in := map[string]string{"command": tt.line}
				if tool == "command_input" {
					in = map[string]string{"job": "sh", "text": tt.line}
				}
				got := verdictOf(t, guards, shellTool(tool), in)
				if tool == "command_input" && want == isAllow && modes()[i] != ModeYolo && got.Decision == isAsk {
					continue // what reads its input may read what is typed after it
				}
				if got.Decision != want {
					t.Errorf("%s, %s %q: %s, want %s: %+v", modes()[i], tool, tt.line, got.Decision, want, got)
				}
				// The policy alone never lets a line run.
				if v, err := p.Judge(context.Background(), toolcrib.Review{Spec: shellTool(tool), Input: mustJSON(t, in)}); err != nil || v != nil && v.Decision == toolcrib.Allow {
					t.Errorf("%s %q: the policy says %+v, %v", tool, tt.line, v, err)
				}
			}
		}
	}
}

func mustJSON(t testing.TB, v any) json.RawMessage {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestPlanHoldsAgainstEverything: whatever a rule allows and whatever is typed
// into whatever runs.
func TestPlanHoldsAgainstEverything(t *testing.T) {
	_, guards := desk(t, ModePlan, Layer{Rank: RankAdmin, Permissions: Permissions{Allow: []string{
		"run_command", "write_file", "files/*", "shell/*", "mcp__github", "web_fetch(domain:example.com)", "group:exec", "effects:reads,writes,destroys,runs,network",
	}}})
	for spec, in := range map[*toolcrib.Entry]any{
		{Box: "shell", Native: "run_command", Spec: toolcrib.Spec{Effects: reads | runs}}:                    map[string]string{"command": "touch x"},
		{Box: "shell", Native: "start_command", Spec: toolcrib.Spec{Effects: reads | runs}}:                  map[string]string{"command": "npm run x"},
		{Box: "shell", Native: "run_command", Spec: toolcrib.Spec{Effects: reads}}:                           map[string]string{"command": "touch x"}, // claims to read only
		{Box: "shell", Native: "command_input", Spec: toolcrib.Spec{Effects: reads | runs}}:                  map[string]string{"job": "py", "text": "1"},
		{Box: "shell", Native: "command_input", Spec: toolcrib.Spec{Effects: reads | runs, Group: "exec"}}:   map[string]string{"job": "sh", "text": "ls !!"},
		{Box: "shell", Native: "command_input", Spec: toolcrib.Spec{Effects: reads | runs, Group: "x"}}:      map[string]string{"job": "no", "text": "ls"},
		{Box: "shell", Native: "stop_command", Spec: toolcrib.Spec{Effects: writes}}:                         map[string]string{"job": "sh"},
		{Box: "files", Native: "write_file", Spec: toolcrib.Spec{Effects: reads | writes}}:                   map[string]string{"path": "x"},
		{Box: "github", Native: "create", Spec: toolcrib.Spec{Group: "mcp"}}:                                 `{}`,
		{Box: "github", Native: "get", Spec: toolcrib.Spec{Group: "mcp", Effects: reads | network}}:          `{}`,
		{Box: "web", Native: "web_fetch", Spec: toolcrib.Spec{Group: "web", Effects: reads | network}}:       map[string]string{"url": "https://example.com"},
		{Box: "skills", Native: "run_skill", Spec: toolcrib.Spec{Group: "skill", Effects: reads | writes}}:   `{}`,
		{Box: "api", Native: "x", Spec: toolcrib.Spec{Group: "api", Effects: toolcrib.Pure | destroys}}:      `{}`,
		{Box: "shell", Native: "run_command", Dialect: "broken", Spec: toolcrib.Spec{Effects: reads | runs}}: `{"command":3}`,
	} {
		if got := verdictOf(t, guards, *spec, in); got.Decision != isDeny {
			t.Errorf("%s/%s %v: %+v", spec.Box, spec.Native, in, got)
		}
	}
	if got := verdictOf(t, guards, shellTool("run_command"), map[string]string{"command": "git status"}); got.Decision != isAllow {
		t.Errorf("a command that only reads: %+v", got)
	}
}

func TestParseMode(t *testing.T) {
	for _, m := range modes() {
		if got, err := ParseMode(m.String()); got != m || err != nil {
			t.Errorf("%s: %s, %v", m, got, err)
		}
	}
	for text, want := range map[string]Mode{"safe": ModeDefault, "auto": ModeAutoEdit, "\tyolo": ModeYolo} {
		if got, err := ParseMode(text); got != want || err != nil {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "YOLO", "full_auto", "yolo2", "default,yolo"} {
		if got, err := ParseMode(text); got != ModePlan || err == nil {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	if got, _ := Mode(9).verdict(writes); got != isDeny {
		t.Error("an unknown mode lets something be done")
	}
}

func TestExplainCall(t *testing.T) {
	user := Layer{Rank: RankUser, Permissions: Permissions{Deny: []string{"write_file(./secret/**)"}, Rules: []Condition{
		{Decision: "ask", Tool: "web_fetch", When: "size(args) > 1", Message: "one thing at a time"},
	}}}
	_, guards := desk(t, ModeDefault, user)
	for _, tt := range []struct {
		spec                        toolcrib.Entry
		in                          string
		want                        toolcrib.Decision
		guard, rule, reason, change string
	}{
		{fileTool("read_file"), `{"path":"a"}`, isAllow, "mode", "default", "only looks", "permissions.ask"},
		{fileTool("write_file"), `{"path":"a"}`, isAsk, "mode", "default", "more than read (reads,writes), and the mode default asks", "permissions.allow: files/write_file"},
		{fileTool("write_file"), `{"path":"secret/a"}`, isDeny, "rules", "user: deny write_file(./secret/**)", "says deny", "in the permissions of the user"},
		{toolcrib.Entry{Spec: toolcrib.Spec{Effects: reads | network}, Box: "web", Native: "web_fetch"}, `{"a":1,"b":2}`, isAsk, "rules", "user: ask web_fetch when size(args) > 1", "one thing at a time", "permissions of the user"},
		{shellTool("run_command"), `{"command":"rm -rf /"}`, isAsk, "shell", "floor", "", "the floor"},
		{shellTool("run_command"), `{"command":"touch x"}`, isAsk, "shell", "", "", "run_command(PROGRAM"},
	} {
		got := verdictOf(t, guards, tt.spec, tt.in)
		if got.Decision != tt.want || got.By[0].Guard != tt.guard || got.By[0].Rule != tt.rule || !strings.Contains(got.By[0].Reason, tt.reason) ||
			len(got.Change) == 0 || !strings.Contains(strings.Join(got.Change, ";"), tt.change) {
			t.Errorf("%s %s: %+v", tt.spec.Native, tt.in, got)
		}
		if got.Allowed() == got.Blocked() && !got.NeedsApproval() {
			t.Errorf("%s: none of the three answers", tt.spec.Native)
		}
	}
}
