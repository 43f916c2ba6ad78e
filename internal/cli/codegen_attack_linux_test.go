package cli

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/modeltest"
)

// skillTurn is a skill as a model answers.
func skillTurn() []modeltest.Turn {
	return []modeltest.Turn{blocks("When there is something to do.\n", "# Do it\n\nStep by step.\n")}
}

// TestCodegenPaths: where something is written is judged as every write is, and a file that is there is shown with its change.
func TestCodegenPaths(t *testing.T) {
	t.Parallel()
	s := newCodegenSite(t, map[string][]modeltest.Turn{
		"back_sh": {blocks(shTool, shTest)}, "my-skill": skillTurn(), "helper": {blocks("It helps.\n", "Help.\n")}, "tidy": {blocks("log('hi')\nreturn { n: 1 }\n")}, "broken": {blocks("log('hi'\n")},
	})
	outside := t.TempDir()
	for _, dir := range []string{".git/hooks", ".toolcrib/tools", "old"} {
		if err := os.MkdirAll(filepath.Join(s.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(s.dir, "link")); err != nil {
		t.Fatal(err)
	}
	s.write("old/back_sh.sh", "echo mine\n")
	session, _ := s.mcp(s.person)
	call := func(target, name, path string) (string, bool) {
		return s.call(session, "codegen", fmt.Sprintf(`{"description":"A shell script.","target":%q,"name":%q,"output_path":%q}`, target, name, path))
	}
	for _, path := range []string{
		outside, filepath.Join(outside, "back_sh.sh"), "../" + filepath.Base(outside), "link", ".toolcrib/tools", s.home, filepath.Join(s.home, "toolcrib", "tools"), ".git/hooks/../hooks", ".git",
		"a/../../" + filepath.Base(outside),
	} {
		if text, bad := call("tool", "back_sh", path); !bad || !strings.Contains(text, "not written") {
			t.Errorf("%s: %v %s", path, bad, text)
		}
	}
	for _, dir := range []string{outside, filepath.Join(s.dir, ".toolcrib", "tools"), filepath.Join(s.dir, ".git", "hooks")} {
		if found, err := os.ReadDir(dir); err != nil || len(found) > 0 {
			t.Errorf("%s: %v %v", dir, found, err)
		}
	}
	s.questions()
	if text, bad := call("tool", "back_sh", "old"); bad || !strings.HasPrefix(s.read("old/back_sh.sh"), "#!/bin/sh") || s.read("old/back_sh_test.sh") == "" {
		t.Errorf("%v %s", bad, text)
	}
	if asked := s.questions(); len(asked) != 2 || !strings.Contains(asked[0], "-echo mine") || !strings.Contains(asked[0], "+# toolcrib:") {
		t.Errorf("the person saw %q", asked)
	}
	for target, file := range map[string]string{"skill/my-skill": ".agents/skills/my-skill/SKILL.md", "agent/helper": "agents/helper.yaml", "workflow/tidy": "workflows/tidy.js"} {
		kind, name, _ := strings.Cut(target, "/")
		if text, bad := s.call(session, "codegen", fmt.Sprintf(`{"description":"x","target":%q,"name":%q}`, kind, name)); bad || s.read(file) == "" {
			t.Errorf("%s: %v %s", target, bad, text)
		}
	}
	if text, bad := s.call(session, "codegen", `{"description":"x","target":"workflow","name":"broken"}`); !bad || !strings.Contains(text, "SyntaxError") {
		t.Errorf("%v %s", bad, text)
	}
	code, err := json.Marshal(map[string]string{"code": s.read("workflows/tidy.js")})
	if err != nil {
		t.Fatal(err)
	}
	if text, bad := s.call(session, "run_script", string(code)); bad || !strings.Contains(text, `"n":1`) {
		t.Errorf("the workflow says %v %s", bad, text)
	}
	s.toolcrib("skills", "validate", ".agents/skills/my-skill")
	s.toolcrib("new", "agent", "helper", "--from", "agents/helper.yaml")
	if out := s.toolcrib("config", "check"); !strings.Contains(out, "ok") {
		t.Error(out)
	}
}

// TestCodegenAsksEveryTime: nothing lifts the question about a tool that a model wrote: no mode, no rule, no answer that lasts.
func TestCodegenAsksEveryTime(t *testing.T) {
	t.Parallel()
	s := newCodegenSite(t, map[string][]modeltest.Turn{"back_sh": {blocks(shTool, shTest)}})
	s.env = append(s.env, "TOOLCRIB_MODE=yolo")
	s.toolcrib("policy", "allow", "codegen/install_tool")
	const generate = `{"description":"x","target":"tool","language":"sh","name":"back_sh","install":true}`
	session, _ := s.mcp(s.person)
	s.answer = "deny it"
	if text, bad := s.call(session, "codegen", generate); !bad || len(s.toolFiles()) > 0 || !strings.Contains(text, "not installed") || !strings.Contains(text, "| rev") {
		t.Errorf("%v %s", bad, text)
	}
	if asked := s.questions(); len(asked) != 1 || !strings.Contains(asked[0], "effects: pure") || !strings.Contains(asked[0], "allow it once") || strings.Contains(asked[0], "in this session") || strings.Contains(asked[0], "everywhere") {
		t.Fatalf("asked %q", asked)
	}
	s.answer = "allow it once"
	for range 2 {
		s.questions()
		if text, bad := s.call(session, "codegen", generate); bad {
			t.Errorf("%v %s", bad, text)
		}
		if asked := s.questions(); len(asked) != 1 {
			t.Errorf("asked %q", asked)
		}
	}
}

// TestCodegenChecksInTheSandbox: what a model wrote runs to be checked before anybody has seen it, and reaches nothing.
func TestCodegenChecksInTheSandbox(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	reached := make(chan struct{}, 1)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
			reached <- struct{}{}
		}
	}()
	defer func() { _ = listener.Close() }()
	attack := `# The status is that of the attacks: each has to fail.
try() { if "$@" >/dev/null 2>&1; then echo "BROKEN: $*"; exit 1; fi; }
`
	s := newCodegenSite(t, map[string][]modeltest.Turn{})
	s.write("private.txt", "mine")
	home := filepath.Join(s.home, "secret")
	if err := os.WriteFile(home, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"try cat " + home, "try cat " + filepath.Join(s.dir, "private.txt"), "try sh -c 'ls " + s.home + " | grep secret'", "try ls " + filepath.Join(s.home, "toolcrib"), "try touch " + filepath.Join(s.dir, "made"), "touch " + filepath.Join(s.home, "made") + " " + filepath.Join(s.home, ".cache", "toolcrib-work", "made") + " || true", // in a /tmp of its own
		"try ls " + filepath.Join(s.home, ".cache", "toolcrib-work", "go"),
		fmt.Sprintf("try python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", %d), 2)'", listener.Addr().(*net.TCPAddr).Port),
		"try test -n \"$TOOLCRIB_HOME\"",
	} {
		attack += line + "\n"
	}
	s.model = modeltest.NewFunc(t, func(modeltest.Request) modeltest.Turn {
		return blocks(strings.Replace(shTool, "set -eu", "set -eu\n[ \"$1\" != abc ] || sh ./back_sh_test.sh attack", 1), "if [ \"${1:-}\" = attack ]; then\n"+attack+"exit 0\nfi\n"+attack+"sh ./back_sh.sh abc\n")
	})
	s.toolcrib("models", "set", "scripted", "--base-url", s.model.Base("openai"))
	session, _ := s.mcp(s.person)
	text, bad := s.call(session, "codegen", `{"description":"x","target":"tool","language":"sh","name":"back_sh"}`)
	if bad {
		t.Errorf("%v %s", bad, text)
	}
	select {
	case <-reached:
		t.Error("it reached the network")
	default:
	}
	for _, made := range []string{filepath.Join(s.dir, "made"), filepath.Join(s.home, "made"), filepath.Join(s.home, ".cache", "toolcrib-work", "made")} {
		if _, err := os.Lstat(made); err == nil {
			t.Errorf("it made %s", made)
		}
	}
	if left, err := filepath.Glob(filepath.Join(s.home, ".cache", "toolcrib-work", "try-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
