package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestClientSearchesReadNoProtectedFile: a search of the client opens every file that its
// patterns name, so that it is judged as reading them. What it does not open is not held
// against it.
func TestClientSearchesReadNoProtectedFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ignored bool // .env stands in .gitignore of a repository
		more    string
		input   string
		want    string
	}{
		{input: `"glob":".env*"`, want: "no"},
		{input: `"glob":".env"`, want: "no"},
		{input: `"glob":"**/.env"`, want: "no"},
		{input: `"glob":"./.env"`, want: "no"},
		{input: `"glob":"*"`, want: "no"},
		{input: `"glob":"**"`, want: "no"},
		{input: `"glob":"*.{go,env}"`, want: "no"},
		{input: `"glob":".e[nm]v"`, want: "no"},
		{input: `"glob":"*.go .env"`, want: "no"},
		{input: `"glob":"*.go,.env"`, want: "no"},
		{input: `"glob":"{.env,{a,b}}"`, want: "no"},
		{input: `"glob":"!*.go"`, want: "no"},
		{input: `"glob":"!.env .env"`, want: "no"},
		{input: `"glob":"!/.env"`, want: "no"}, // which directory that counts from only the client knows
		{input: `"type":"env"`, want: "no"},
		{input: `"type":"go"`, want: "no"}, // what is of a type only the client knows
		{input: ``, want: "no"},
		{input: `"path":"."`, want: "no"},
		{input: `"path":"conf","glob":".env*"`, want: "no"},
		{input: `"path":"conf"`, want: "no"},
		{input: `"path":"link"`, want: "no"},
		{input: `"path":"hard.txt"`, want: "no"},
		{input: `"path":"linked"`, want: "no"},
		{input: `"path":"ok"`, want: "pass"},
		{input: `"path":"ok","glob":"*.txt"`, want: "pass"},
		{input: `"glob":"*.go"`, want: "pass"},
		{input: `"glob":"*.{go,ts}"`, want: "pass"},
		{input: `"glob":"src/**/*.ts"`, want: "pass"},
		{input: `"glob":"*.txt"`, want: "no"}, // one of them is .env by another name
		{input: `"glob":"!.env* !hard.txt"`, want: "pass"},
		{input: `"glob":"!.env*,!*.txt"`, want: "pass"},
		{input: `"glob":"*.go !.env"`, want: "pass"},
		// What .gitignore excludes is left out, unless a glob names it or another file takes it back.
		{ignored: true, input: ``, want: "pass"},
		{ignored: true, input: `"glob":"*.go"`, want: "pass"},
		{ignored: true, input: `"glob":".env*"`, want: "no"},
		{ignored: true, input: `"glob":"*"`, want: "no"},
		{ignored: true, more: ".ignore", input: ``, want: "no"},
		{ignored: true, more: "conf/.rgignore", input: ``, want: "no"},
	} {
		s := newHookSite(t, hookRules)
		s.write(filepath.Join(s.dir, "conf", ".env.local"), "KEY=2")
		s.write(filepath.Join(s.dir, "main.go"), "package main")
		if err := os.Symlink(".env", filepath.Join(s.dir, "link")); err != nil {
			t.Skip(err)
		}
		if err := errors.Join(os.Symlink("conf", filepath.Join(s.dir, "linked")), os.Link(filepath.Join(s.dir, ".env"), filepath.Join(s.dir, "hard.txt"))); err != nil {
			t.Skip(err)
		}
		if c.ignored {
			s.write(filepath.Join(s.dir, ".git", "HEAD"), "ref: refs/heads/main\n")
			s.write(filepath.Join(s.dir, ".gitignore"), ".env*\nhard.txt\n")
		}
		if c.more != "" {
			s.write(filepath.Join(s.dir, filepath.FromSlash(c.more)), "!.env*\n")
		}
		input := strings.TrimSuffix(`{"pattern":"KEY",`+c.input, ",") + "}"
		got := s.word("claude-code", "PreToolUse", "Grep", input)
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("Grep %s (ignored: %v, %s): %s, want %s", input, c.ignored, c.more, got, c.want)
		}
	}
}

// TestClientReadsNoProtectedFileByAnotherName: a link, a hard link and a pattern lead to
// the file that they mean, in every tool of every client.
func TestClientReadsNoProtectedFileByAnotherName(t *testing.T) {
	t.Parallel()
	s := newHookSite(t, hookRules)
	if err := errors.Join(os.Symlink("../.env", filepath.Join(s.dir, "ok", "link")), os.Link(filepath.Join(s.dir, ".env"), filepath.Join(s.dir, "ok", "hard.txt")),
		os.Link(filepath.Join(s.dir, "ok", "a.txt"), filepath.Join(s.dir, "ok", "b.txt"))); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct{ client, tool, input, want string }{
		{"claude-code", "Read", `{"file_path":"ok/link"}`, "no"},
		{"claude-code", "Read", `{"file_path":"ok/hard.txt"}`, "no"},
		{"claude-code", "Read", `{"file_path":"ok/b.txt"}`, "pass"},
		{"claude-code", "Edit", `{"file_path":"ok/hard.txt","old_string":"a","new_string":"b"}`, "no"},
		{"claude-code", "Write", `{"file_path":"ok/hard.txt","content":"x"}`, "no"},
		{"claude-code", "Bash", `{"command":"cat ok/hard.txt"}`, "ask"},
		{"claude-code", "Bash", `{"command":"cat ok/link"}`, "ask"},
		{"claude-code", "Bash", `{"command":"grep -r KEY ok"}`, "ask"},
		{"claude-code", "Bash", `{"command":"cat ok/b.txt"}`, "pass"},
		{"claude-code", "Bash", `{"command":"cat ok/*"}`, "ask"},
		{"gemini", "read_file", `{"file_path":"ok/hard.txt"}`, "no"},
		{"gemini", "read_many_files", `{"include":[".env*"]}`, "no"},
		{"gemini", "read_many_files", `{"include":["**/*"]}`, "no"},
		{"gemini", "read_many_files", `{"include":["ok"]}`, "no"},
		{"gemini", "read_many_files", `{"include":["*.go"]}`, "pass"},
		{"gemini", "grep_search", `{"pattern":"KEY","include_pattern":".env*"}`, "no"},
		{"gemini", "grep_search", `{"pattern":"KEY","include_pattern":"*.go"}`, "pass"},
	} {
		event := "PreToolUse"
		if c.client == "gemini" {
			event = "BeforeTool"
		}
		if got := s.word(c.client, event, c.tool, c.input); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %s %s: %s, want %s", c.client, c.tool, c.input, got, c.want)
		}
	}
	no := s.word("claude-code", "PreToolUse", "Grep", `{"pattern":"KEY"}`)
	if !strings.Contains(no, fmt.Sprintf("%q", ".env")) || !strings.Contains(no, "glob") {
		t.Errorf("the model does not learn what to do: %s", no)
	}
}

// TestGeminiReadsPatternsWidely: Gemini's tool for many files matches in any letter case and
// with extended forms, takes a backslash for a slash and follows links, and its search hands
// patterns to git. What our reading of a pattern misses it would open unseen.
func TestGeminiReadsPatternsWidely(t *testing.T) {
	t.Parallel()
	s := newHookSite(t, "permissions:\n  deny: [\"read_file(./denied/**)\"]\n")
	for _, name := range []string{"conf/.env", "denied/x.txt", "src/a/main.go", "src/top.ts", "README.md", "app/[id]/page.tsx", ".git/HEAD"} {
		s.write(filepath.Join(s.dir, filepath.FromSlash(name)), "x")
	}
	s.write(filepath.Join(s.dir, ".gitignore"), ".env\n")
	if err := errors.Join(os.Symlink("../conf", filepath.Join(s.dir, "ok", "dir")), os.Symlink("../.env", filepath.Join(s.dir, "ok", "link"))); err != nil {
		t.Skip(err)
	}
	dir := filepath.ToSlash(s.dir)
	for want, includes := range map[string][]string{
		"no": {
			".EN*", ".[E]NV", "{.ENV,x}", "*.ENV", "**/.EN?", "CONF/*", "CONF/.ENV", ".ENV", "Conf", "@(.env)", "conf/@(.env)", ".en@(v)", "*(.)env", "**/+([.a-z])", ".!(git)", "+(.)@(e|x)nv", "@(@(.e)n|x)v",
			"denied\\x.txt", "denied/x.txt", "DENIED/X.txt", "DENIED/*", "de*/x.txt", "./conf/.E*", "ok/{.,a}./.e*", "[[:punct:]]env", "**", "*", ".", "ok/dir/*", "ok/d*/.e*", "OK/l*", "ok/**/.env", ".e{n,m}v", "{a,{.env,c}}", ".{e..e}nv",
			dir + "/.EN*", strings.ToUpper(dir) + "/.EN*", "{.,a}./x", "@(a)/../x",
		},
		"pass": {"src/**/*.go", "README.md", "readme.md", "**/*.ts", "**/*.{ts,tsx}", "src/**", "src/*", "SRC", "ok/*.txt", "ok\\a.txt", "**/*.@(js|ts)x", "app/[id]/page.tsx", "*.md", "o*/**/*.txt", "**/*.[jt]s", "gone/*", dir + "/src/**/*.go"},
	} {
		for _, include := range includes {
			for _, more := range []string{"", `,"file_filtering_options":{"respect_git_ignore":false}`} {
				input := fmt.Sprintf(`{"include":[%q]%s}`, include, more)
				if got := s.word("gemini", "BeforeTool", "read_many_files", input); !strings.HasPrefix(got, want) {
					t.Errorf("%s: %s, want %s", input, got, want)
				}
			}
		}
	}
	for want, patterns := range map[string][]string{
		"no":   {"*.EN*", ".[E]NV", "@(.env)", "conf", "co*v", "conf/", ":(icase).ENV", ":!x", "../.env", "!*.go", `.e\nv`, `conf\.env`, "{.env,x}", dir + "/.env"},
		"pass": {"*.go", "*.{ts,tsx}", "src/**/*.go", "*.@(ts|tsx)x", "*.[jt]s"},
	} {
		for _, pattern := range patterns {
			input := fmt.Sprintf(`{"pattern":"KEY","include_pattern":%q}`, pattern)
			if got := s.word("gemini", "BeforeTool", "grep_search", input); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s, want %s", input, got, want)
			}
		}
	}
}

// TestClientSearchesARepository: a search at the root of an ordinary repository is no
// reading of what git keeps there, by any client.
func TestClientSearchesARepository(t *testing.T) {
	t.Parallel()
	s := newHookSite(t, hookRules)
	if err := os.Remove(filepath.Join(s.dir, ".env")); err != nil {
		t.Fatal(err)
	}
	s.write(filepath.Join(s.dir, "main.go"), "package main")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "x"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = s.dir
		cmd.Env = append(os.Environ(), "HOME="+s.home, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	s.write(filepath.Join(s.dir, ".git", "hooks", "pre-commit"), "#!/bin/sh\n")
	hidden := func() { s.write(filepath.Join(s.dir, "vendored", ".hg", ".env"), "KEY=2") }
	for _, c := range []struct {
		client, tool, input, want string
		before                    func()
	}{
		{client: "claude-code", tool: "Grep", input: `{"pattern":"KEY","glob":"*"}`, want: "pass"},
		{client: "claude-code", tool: "Grep", input: `{"pattern":"KEY","glob":"ok/**"}`, want: "pass"},
		{client: "claude-code", tool: "Bash", input: `{"command":"grep -r KEY ."}`, want: "pass"},
		{client: "claude-code", tool: "Grep", input: `{"pattern":"KEY"}`, want: "pass", before: hidden},
		{client: "claude-code", tool: "Grep", input: `{"pattern":"KEY","path":"."}`, want: "pass"},
		{client: "claude-code", tool: "Grep", input: `{"pattern":"KEY","glob":"*.go"}`, want: "pass"},
		{client: "claude-code", tool: "Grep", input: `{"pattern":"KEY","glob":"!*.md"}`, want: "pass"},
		{client: "claude-code", tool: "Grep", input: `{"pattern":"KEY","path":"vendored/.hg"}`, want: "no"},
		{client: "claude-code", tool: "Grep", input: `{"pattern":"KEY","glob":"*"}`, want: "no"}, // it names .hg as well, and counts later
		{client: "claude-code", tool: "Grep", input: `{"pattern":"KEY","glob":"**/.hg/**"}`, want: "no"},
		{client: "gemini", tool: "grep_search", input: `{"pattern":"KEY"}`, want: "pass"},
		{client: "gemini", tool: "search_file_content", input: `{"pattern":"KEY"}`, want: "pass"},
		{client: "gemini", tool: "grep_search", input: `{"pattern":"KEY","dir_path":"vendored/.hg"}`, want: "no"},
		{client: "gemini", tool: "read_many_files", input: `{"include":["vendored/**"],"useDefaultExcludes":false}`, want: "no"},
	} {
		event := "PreToolUse"
		if c.client == "gemini" {
			event = "BeforeTool"
		}
		if c.before != nil {
			c.before()
		}
		if got := s.word(c.client, event, c.tool, c.input); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %s %s: %s, want %s", c.client, c.tool, c.input, got, c.want)
		}
	}
}

// TestClientSearchesBesideSettings: the settings of a project are kept from being written, and
// from tools that name them. A search of the whole project is no reason to be refused: they hold
// no secret. What else lies among them counts.
func TestClientSearchesBesideSettings(t *testing.T) {
	t.Parallel()
	s := newHookSite(t, hookRules)
	if err := os.Remove(filepath.Join(s.dir, ".env")); err != nil {
		t.Fatal(err)
	}
	s.write(filepath.Join(s.dir, "toolcrib.yaml"), "permissions:\n  ask: [delete_file]\n")
	s.write(filepath.Join(s.dir, ".toolcrib", "bundles.lock"), "{}\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "-f", "."}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = s.dir
		cmd.Env = append(os.Environ(), "HOME="+s.home, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	check := func(want string, calls ...[2]string) {
		t.Helper()
		for _, c := range calls {
			if got := s.word("claude-code", "PreToolUse", c[0], c[1]); !strings.HasPrefix(got, want) {
				t.Errorf("%s %s: %s, want %s", c[0], c[1], got, want)
			}
		}
	}
	tree := [][2]string{{"Grep", `{"pattern":"KEY"}`}, {"Grep", `{"pattern":"KEY","glob":"*"}`}, {"Grep", `{"pattern":"KEY","glob":"*.yaml"}`}, {"Grep", `{"pattern":"KEY","path":"."}`}}
	commands := [][2]string{{"Bash", `{"command":"grep -r KEY ."}`}, {"Bash", `{"command":"git diff"}`}}
	check("pass", append(tree, commands...)...)
	check("no", [][2]string{
		{"Grep", `{"pattern":"KEY","path":"toolcrib.yaml"}`}, {"Grep", `{"pattern":"KEY","path":".toolcrib"}`}, {"Read", `{"file_path":"toolcrib.yaml"}`},
		{"Write", `{"file_path":"toolcrib.yaml","content":"x"}`}, {"Edit", `{"file_path":".toolcrib/bundles.lock","old_string":"{","new_string":"["}`},
	}...)
	check("ask", [2]string{"Bash", `{"command":"cat toolcrib.yaml"}`}, [2]string{"Bash", `{"command":"echo x > toolcrib.yaml"}`})
	s.write(filepath.Join(s.dir, ".toolcrib", ".env"), "KEY=1")
	check("no", tree[0], tree[1], tree[3])
	check("ask", commands[0])
}

// TestReadRulesBindClientSearches: what rules deny to be read, or want asked about, no
// search of the client reads either.
func TestReadRulesBindClientSearches(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"deny", "ask"} {
		s := newHookSite(t, "permissions:\n  "+verb+": [\"read_file(./secrets/**)\"]\n")
		if err := os.Remove(filepath.Join(s.dir, ".env")); err != nil {
			t.Fatal(err)
		}
		s.write(filepath.Join(s.dir, "secrets", "x.txt"), "KEY=1")
		s.write(filepath.Join(s.dir, "main.go"), "package main")
		for _, c := range []struct{ client, tool, input, want string }{
			{"claude-code", "Read", `{"file_path":"secrets/x.txt"}`, map[string]string{"deny": "no", "ask": "ask"}[verb]},
			{"claude-code", "Grep", `{"pattern":"KEY","path":"secrets"}`, "no"},
			{"claude-code", "Grep", `{"pattern":"KEY","path":"secrets/x.txt"}`, "no"},
			{"claude-code", "Grep", `{"pattern":"KEY"}`, "no"},
			{"claude-code", "Grep", `{"pattern":"KEY","glob":"*.txt"}`, "no"},
			{"claude-code", "Grep", `{"pattern":"KEY","glob":"*.go"}`, "pass"},
			{"claude-code", "Grep", `{"pattern":"KEY","path":"ok"}`, "pass"},
			{"gemini", "grep_search", `{"pattern":"KEY","dir_path":"secrets"}`, "no"},
			{"gemini", "read_many_files", `{"include":["secrets/*"]}`, "no"},
			{"gemini", "read_many_files", `{"include":["ok/*"]}`, "pass"},
		} {
			event := "PreToolUse"
			if c.client == "gemini" {
				event = "BeforeTool"
			}
			if got := s.word(c.client, event, c.tool, c.input); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s: %s %s %s: %s, want %s", verb, c.client, c.tool, c.input, got, c.want)
			}
		}
	}
}
