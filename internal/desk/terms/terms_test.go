package terms

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/gitchange"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// commands is a shell guard of a machine with a few programs, and what it would
// be asked.
func commands(t *testing.T) (dir string, bin string, terms func(command string, reasons ...toolcrib.Verdict) desk.Terms) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("command lines are understood for sh only")
	}
	dir, bin = t.TempDir(), t.TempDir()
	for _, d := range []*string{&dir, &bin} {
		clean, err := filepath.EvalSymlinks(*d)
		if err != nil {
			t.Fatal(err)
		}
		*d = clean
		if err := os.Chmod(clean, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"git", "npm", "make", "touch", "cat", "sh", "python3", "rm"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!"+name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	opt := shellguard.SystemOptions(dir)
	opt.Look, opt.Trusted, opt.Writable = shellguard.LookIn(bin), []string{bin}, []string{dir}
	shell := &shellguard.Guard{AllowShell: true, Bounded: true, Options: opt}
	of := currentTerms(shell)
	return dir, bin, func(command string, reasons ...toolcrib.Verdict) desk.Terms {
		input, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		return of(toolcrib.Question{Spec: toolcrib.Entry{Box: "shell", Native: "run_command"}, Input: input, Reasons: reasons})
	}
}

func currentTerms(shell *shellguard.Guard) func(toolcrib.Question) desk.Terms {
	return Of(func() *shellguard.Guard { return shell }, func(toolcrib.Entry) []desk.File { return nil }, func(name string) Box {
		return Box{Own: name == "files" || name == "shell" || name == "web", Many: name == "ovosbox", SetUp: "as " + name}
	})
}

// TestWhatGitObeysIsNotRemembered: an answer about history or hooks is for what was shown.
func TestWhatGitObeysIsNotRemembered(t *testing.T) {
	_, _, of := commands(t)
	ask := toolcrib.Verdict{Decision: toolcrib.Ask, Guard: gitchange.Guard, Rule: gitchange.History}
	told := toolcrib.Verdict{Decision: toolcrib.Allow, Guard: gitchange.Guard}
	if of("git push", told).Floor || !of("git push", told, ask).Floor {
		t.Errorf("asked every time: %v, %v", of("git push", told).Floor, of("git push", told, ask).Floor)
	}
}

func TestOfferedRules(t *testing.T) {
	dir, _, of := commands(t)
	if err := os.WriteFile(filepath.Join(dir, "script.py"), nil, 0o600); err != nil { // a script that is not there is not certain
		t.Fatal(err)
	}
	for command, want := range map[string][]string{
		"git push origin main":              {"run_command(git push *)"},
		"npm run build":                     {"run_command(npm run build *)"},
		"npm install left-pad":              {"run_command(npm install *)"},
		"make test":                         {"run_command(make test *)"},
		"git push && make test":             {"run_command(git push *)", "run_command(make test *)"},
		"git push; touch done":              {"run_command(=touch done)", "run_command(git push *)"},
		"git commit -m hello | cat":         {"run_command(git commit *)"},
		"touch a":                           nil, // no more than the exact arguments
		"git push > out":                    nil, // no rule is about a redirection
		"git push $(cat x)":                 nil,
		"git $X":                            nil,
		"./build.sh":                        nil,
		"sh -c 'git push'":                  nil,
		"python3 script.py":                 {"run_command(python3 script.py *)"},
		"make test && ./x":                  nil,
		"git -c core.pager=x push":          nil,
		"git push origin main && nosuch it": nil,
		"git push 'unclosed":                nil,
	} {
		got := of(command).Rules
		if command == "sh -c 'git push'" { // the guard looks into it; what it offers is about git
			if slices.ContainsFunc(got, func(r string) bool { return !strings.Contains(r, "git push") }) {
				t.Errorf("%s: %q", command, got)
			}
			continue
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

// The floor is asked every time: nothing about it can be remembered.
func TestFloorTerms(t *testing.T) {
	_, _, of := commands(t)
	floor := toolcrib.Verdict{Decision: toolcrib.Ask, Guard: "shell", Rule: "floor", Reason: "it wipes"}
	if got := of("git push origin main", floor); !got.Floor || got.Rules != nil || len(got.Parts) != 1 {
		t.Errorf("%+v", got)
	}
	note := floor
	note.Decision = toolcrib.Allow
	if got := of("git push origin main", note); got.Floor {
		t.Errorf("%+v", got)
	}
	// Their arguments do not say what would be written: no answer may stand for another content.
	for _, spec := range []toolcrib.Entry{{Box: "code", Native: "save_output"}, {Box: "lsp", Native: "lsp_rename"}} {
		if got := currentTerms(nil)(toolcrib.Question{Spec: spec}); !got.Floor {
			t.Errorf("%s: an answer would be remembered", spec.Native)
		}
	}
	other := currentTerms(nil)(toolcrib.Question{Spec: toolcrib.Entry{Box: "files"}, Reasons: []toolcrib.Verdict{floor}})
	if !other.Floor || other.Bind != "" {
		t.Errorf("%+v", other)
	}
}

// What would run is part of what was approved: another program, or another
// script, is another question.
func TestBindTerms(t *testing.T) {
	dir, bin, of := commands(t)
	script := filepath.Join(dir, "build.sh")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(script, "echo 1")
	for command, file := range map[string]string{
		"git push": filepath.Join(bin, "git"), "./build.sh": script, "sh build.sh": script, "sh " + script: script, "python3 ./build.sh x": script,
	} {
		before := of(command).Bind
		if before == "" || before != of(command).Bind {
			t.Errorf("%s: it is not bound to anything that stays: %q", command, before)
		}
		old, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		changed := []byte(strings.ToUpper(string(old)))
		write(file, string(changed))
		if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil { // as long and as old as before
			t.Fatal(err)
		}
		if of(command).Bind == before {
			t.Errorf("%s: another program is taken for the same", command)
		}
		write(file, string(old))
		if of(command).Bind != before {
			t.Errorf("%s: the same program is taken for another", command)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if of(command).Bind == before {
			t.Errorf("%s: no program is taken for the same", command)
		}
		write(file, string(old))
	}
}
