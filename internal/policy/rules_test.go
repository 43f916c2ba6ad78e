package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

func testOptions() RuleOptions {
	return RuleOptions{Own: []string{"files", "shell", "web"}, Base: work, Home: home, Resolve: shelltest.NewMachine().EvalSymlinks, Conditions: &Conditions{}}
}

func TestRuleGrammar(t *testing.T) {
	opt := testOptions()
	every := []string{
		"read_file", "files/read_file", "files/*", "box:files", "run_command(git status)", "run_command(npm run *)", "run_command(npm test:*)", "run_command(*)",
		"read_file(./src/**)", "write_file(~/notes/**)", "write_file(src/{a,b}/*.go)", "edit_file(/etc/hosts)", "list_files(*)", "web_fetch(domain:example.com)",
		"web_fetch(domain:*.example.com)", "mcp__server__tool", "mcp__server", "mcp__server__get_*", "mcp__server__tool(repo:a/b)", "group:exec", "group:exec(ls *)",
		"group:fs(./x)", "effects:pure,reads", "group:fs+effect:writes", "  read_file  ",
	}
	for _, text := range every {
		for _, d := range []toolcrib.Decision{isDeny, isAsk, isAllow} {
			if _, err := parsePermission(d, text, &opt); err != nil {
				t.Errorf("%s: %v", d, err)
			}
		}
	}
	for _, text := range []string{
		"*", "*+effect:writes", "effect:writes", "effect:reads+effect:writes", "mcp__*", "mcp__s*__x", "mcp__*__read", "*/read_file", "read_*", "*_file", "?", "group:mcp", "group:api", "group:skill", "run_command(sudo *)", "run_command(ls*)",
		"run_command(npm * build)", "run_command(bash *)", "run_command(rm -rf *.o)", "run_command(env X=1 ls)", "web_fetch(domain:*.com)", "web_fetch(domain:*)",
	} {
		if _, err := parsePermission(isAllow, text, &opt); err == nil {
			t.Errorf("allow %s is taken", text)
		}
		if strings.Contains(text, "rm -rf *.o") {
			continue
		}
		for _, d := range []toolcrib.Decision{isDeny, isAsk} {
			if _, err := parsePermission(d, text, &opt); err != nil && text != "web_fetch(domain:*.com)" {
				t.Errorf("%s: %v", d, err)
			}
		}
	}
	for _, text := range []string{
		"", " ", "()", "read_file(", "read_file)", "read_file()", "read_file(a", "re ad", "read_file(../x)", "read_file(a/../b)", "read_file(~bob/x)", "read_file(a**b)", "read_file([)",
		"read_file({a)", "read_file(a})", "read_file(a\x00b)", "group:", "group:a b", "box:", "effect:", "effect:kills", "effect:reads,writes", "effects:", "kind:x", "/x", "x/", "mcp__", "mcp____x",
		"some_tool(value)", "some_tool(:x)", "web_fetch(domain:)", "web_fetch(domain:a/b)", "web_fetch(domain:exämple.com)", "web_fetch(domain:a..b)", "run_command(a; b)", "run_command(a > b)",
		"run_command($X)", "run_command(a\nb)", "read_file+", "+", "mcp__s__t(x)",
	} {
		for _, d := range []toolcrib.Decision{isDeny, isAsk, isAllow} {
			if p, err := parsePermission(d, text, &opt); err == nil {
				t.Errorf("%s %q is taken: %+v", d, text, p)
			}
		}
	}
}

// decide is the verdict of rules alone: what no rule means is not decided.
func decide(t testing.TB, p Permissions, spec toolcrib.Entry, input any) string {
	t.Helper()
	rules, err := NewRules([]Layer{{Rank: RankUser, Permissions: p}}, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	said := rules.judge(&toolcrib.Review{Spec: spec, Input: mustJSON(t, input)}, nil)
	if said.rule == nil {
		return ""
	}
	return said.decision.String()
}

// TestRulesAndNames: a name that someone else took gets nothing, and escapes
// nothing.
func TestRulesAndNames(t *testing.T) {
	evil := toolcrib.Entry{Spec: toolcrib.Spec{Group: "fs", Effects: writes}, Box: "evil", Native: "write_file"}
	mcp := toolcrib.Entry{Spec: toolcrib.Spec{Group: "mcp"}, Box: "github", Native: "get_issue"}
	posing := toolcrib.Entry{Spec: toolcrib.Spec{Group: "fs"}, Box: "github", Native: "get_issue"}
	for _, tt := range []struct {
		rule string
		spec toolcrib.Entry
		gets bool // as an allow
		hit  bool // as a deny
	}{
		{"write_file", fileTool("write_file"), true, true},
		{"write_file", evil, false, true},
		{"files/write_file", evil, false, false},
		{"evil/write_file", evil, true, true},
		{"write_file(./x)", evil, false, true},
		{"evil/*", evil, true, true},
		{"group:fs", fileTool("write_file"), true, true},
		{"group:fs", evil, false, true},
		{"effects:writes", evil, false, true},
		{"effects:reads,writes", fileTool("write_file"), true, true},
		{"effects:reads,writes", shellTool("run_command"), false, false},
		{"group:fs+effect:writes", toolcrib.Entry{Spec: toolcrib.Spec{Group: "fs"}, Box: "files", Native: "x"}, true, true}, // undeclared
		{"effects:reads", toolcrib.Entry{Box: "files", Native: "x"}, false, false},
		{"mcp__github__get_issue", mcp, true, true},
		{"mcp__github", mcp, true, true},
		{"mcp__github__get_*", mcp, true, true},
		{"mcp__github__set_*", mcp, false, false},
		{"mcp__git", mcp, false, false},
		{"mcp__github", posing, false, true},
		{"mcp__github", toolcrib.Entry{Spec: toolcrib.Spec{Group: "mcp"}, Box: "mcp__github", Native: "x"}, true, true},
		{"get_issue", mcp, false, true},
		{"run_command", shellTool("start_command"), true, true},
		{"run_command", shellTool("command_input"), true, true},
		{"run_command", shellTool("stop_command"), false, false},
		{"start_command", shellTool("run_command"), false, false},
		{"run_command", toolcrib.Entry{Box: "evil", Native: "start_command"}, false, false},
		{"shell/run_command", shellTool("start_command"), true, true},
		{"write_file", toolcrib.Entry{Native: "write_file"}, false, true}, // of no box
		{"group:fs(./x)", fileTool("write_file"), true, true},
		{"group:fs(./x)", toolcrib.Entry{Spec: toolcrib.Spec{Group: "fs"}, Box: "web", Native: "save"}, false, true}, // nobody knows what its path means
	} {
		in := map[string]string{"path": "x", "command": "ls", "job": "a"}
		if got := decide(t, Permissions{Allow: []string{tt.rule}}, tt.spec, in) == "allow"; got != tt.gets {
			t.Errorf("allow %s, %s/%s: %v", tt.rule, tt.spec.Box, tt.spec.Native, got)
		}
		if got := decide(t, Permissions{Deny: []string{tt.rule}}, tt.spec, in) == "deny"; got != tt.hit {
			t.Errorf("deny %s, %s/%s: %v", tt.rule, tt.spec.Box, tt.spec.Native, got)
		}
	}
}

func TestRulesAboutDomains(t *testing.T) {
	fetch := toolcrib.Entry{Spec: toolcrib.Spec{Group: "web", Effects: reads | network}, Box: "web", Native: "web_fetch"}
	for _, tt := range []struct {
		url              string
		host, below, hit bool // allow domain:example.com, allow domain:*.example.com, deny domain:example.com
	}{
		{"https://example.com/a?b#c", true, false, true},
		{"http://example.com", true, false, true},
		{"https://EXAMPLE.com.", true, false, true},
		{"https://example.com:443/", true, false, true},
		{"https://example.com:8443/", false, false, true},
		{"http://example.com:443/", false, false, true},
		{"ftp://example.com/", false, false, true},
		{"https://api.example.com", false, true, true},
		{"https://example.com.evil.test", false, false, false},
		{"https://evilexample.com", false, false, false},
		{"https://example.com@evil.test/", false, false, false},
		{"https://evil.test@example.com/", false, false, true},
		{"https://evil.test/https://example.com", false, false, false},
		{"https://evil.test\\@example.com", false, false, true}, // readers differ
		{"https://exam\tple.com", false, false, true},
		{"https:example.com", false, false, true},
		{"//example.com/x", false, false, true},
		{"example.com", false, false, true},
		{"https://[::1]/", false, false, false},
		{"https://exampl\u0435.com", false, false, true}, // a Cyrillic e
		{"https://example%2ecom", false, false, true},
		{"", false, false, true},
	} {
		in := map[string]string{"url": tt.url}
		if got := decide(t, Permissions{Allow: []string{"web_fetch(domain:example.com)"}}, fetch, in) == "allow"; got != tt.host {
			t.Errorf("allow %q: %v", tt.url, got)
		}
		if got := decide(t, Permissions{Allow: []string{"web_fetch(domain:*.example.com)"}}, fetch, in) == "allow"; got != tt.below {
			t.Errorf("allow below %q: %v", tt.url, got)
		}
		if got := decide(t, Permissions{Deny: []string{"web_fetch(domain:example.com)"}}, fetch, in) == "deny"; got != tt.hit {
			t.Errorf("deny %q: %v", tt.url, got)
		}
	}
	if got := decide(t, Permissions{Deny: []string{"web_fetch(domain:example.com)"}}, fetch, map[string]any{"link": "https://x.test"}); got != "deny" {
		t.Errorf("an address nobody finds: %q", got)
	}
}

// An address is the same machine in every form, for a rule that takes away.
func TestRulesAboutAddresses(t *testing.T) {
	fetch := toolcrib.Entry{Spec: toolcrib.Spec{Group: "web", Effects: reads | network}, Box: "web", Native: "web_fetch"}
	for url, want := range map[string]string{
		"http://127.0.0.1/":                 "allow deny",
		"http://[::ffff:127.0.0.1]/":        "deny",
		"http://[::ffff:7f00:1]/":           "deny",
		"http://[0:0:0:0:0:FFFF:127.0.0.1]": "deny",
		"http://[64:ff9b::127.0.0.1]/":      "deny",
		"http://[64:ff9b::7f00:1]:8080/":    "deny",
		"http://127.0.0.1.:80/":             "allow deny",
		"http://127.1/":                     "deny", // some take it for the same
		"http://2130706433/":                "deny",
		"http://0x7f.0.0.1/":                "deny",
		"http://0x7f000001/":                "deny",
		"http://127.0.0.2/":                 "",
		"http://[::1]/":                     "",
		"http://127.0.0.1.example/":         "",
	} {
		in := map[string]string{"url": url}
		var got []string
		for _, p := range []Permissions{{Allow: []string{"web_fetch(domain:127.0.0.1)"}}, {Deny: []string{"web_fetch(domain:127.0.0.1)"}}} {
			if d := decide(t, p, fetch, in); d == "allow" || d == "deny" {
				got = append(got, d)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}

func TestRulesAboutArguments(t *testing.T) {
	tool := toolcrib.Entry{Spec: toolcrib.Spec{Group: "mcp"}, Box: "github", Native: "merge"}
	for _, tt := range []struct {
		rule  string
		args  map[string]any
		allow bool
		deny  bool
	}{
		{"mcp__github__merge(repo:a/b)", map[string]any{"repo": "a/b"}, true, true},
		{"mcp__github__merge(repo:a/b)", map[string]any{"repo": "a/bc"}, false, false},
		{"mcp__github__merge(repo:a/*)", map[string]any{"repo": "a/b/c"}, true, true},
		{"mcp__github__merge(repo:a/b)", map[string]any{}, false, false},
		{"mcp__github__merge(repo:a/b)", map[string]any{"repo": []string{"a/b"}}, false, true},
		{"mcp__github__merge(n:3)", map[string]any{"n": 3}, true, true},
		{"mcp__github__merge(force:true)", map[string]any{"force": true}, true, true},
		{"mcp__github__merge(force:true)", map[string]any{"force": nil}, false, true},
	} {
		if got := decide(t, Permissions{Allow: []string{tt.rule}}, tool, tt.args) == "allow"; got != tt.allow {
			t.Errorf("allow %s %v: %v", tt.rule, tt.args, got)
		}
		if got := decide(t, Permissions{Deny: []string{tt.rule}}, tool, tt.args) == "deny"; got != tt.deny {
			t.Errorf("deny %s %v: %v", tt.rule, tt.args, got)
		}
	}
}

// TestDenyBeforeAskBeforeAllow: however special a rule is.
func TestDenyBeforeAskBeforeAllow(t *testing.T) {
	for _, tt := range []struct {
		p    Permissions
		want string
	}{
		{Permissions{Allow: []string{"write_file(./a/b/c)"}, Deny: []string{"files/*"}}, "deny"},
		{Permissions{Allow: []string{"write_file(./a/b/c)"}, Ask: []string{"group:fs"}}, "ask"},
		{Permissions{Ask: []string{"write_file(./a/b/c)"}, Deny: []string{"*"}}, "deny"},
		{Permissions{Allow: []string{"files/*"}, Deny: []string{"write_file(./x)"}}, "allow"},
		{Permissions{Allow: []string{"write_file(./a/**)"}}, "allow"},
		{Permissions{Allow: []string{"write_file(./b/**)"}}, ""},
	} {
		if got := decide(t, tt.p, fileTool("write_file"), map[string]string{"path": "a/b/c"}); got != tt.want {
			t.Errorf("%+v: %q", tt.p, got)
		}
	}
}

// TestMentions: what rules are about can be held against the tools there are.
func TestMentions(t *testing.T) {
	rules, err := NewRules([]Layer{{Rank: RankUser, Source: "permissions", Permissions: Permissions{
		Deny: []string{"wirte_file", "bash_exec", "write_file(./x)", "run_command(rm *)", "mcp__gone"}, Allow: []string{"evil/x", "group:fs", "a__b__c"},
	}}}, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	specs := []toolcrib.Entry{fileTool("write_file"), shellTool("start_command")}
	var got []string
	for _, m := range rules.Mentions() {
		if !slices.ContainsFunc(specs, func(s toolcrib.Entry) bool { return m.Means(&s) }) {
			got = append(got, m.Where)
		}
		if box, name, _, ok := m.Tools.Named(); m.Where == "permissions: deny mcp__gone" && (box != "gone" || name != "*" || !ok) {
			t.Errorf("%s names %q %q", m.Where, box, name)
		}
		if m.TwoWays() != (m.Where == "permissions: allow a__b__c") {
			t.Errorf("%s: can it be read in two ways: %v", m.Where, m.TwoWays())
		}
	}
	want := "permissions: deny bash_exec,permissions: deny mcp__gone,permissions: deny wirte_file,permissions: allow a__b__c,permissions: allow evil/x"
	if strings.Join(got, ",") != want {
		t.Errorf("rules that mean no tool: %v", got)
	}
}
