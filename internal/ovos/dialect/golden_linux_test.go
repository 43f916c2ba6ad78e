package dialect

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// TestRecordedShellRows is for Linux: the rows hold what its programs print.
func TestRecordedShellRows(t *testing.T) {
	root := newTree(t)
	list := rows(t, "ovos-shell-tools", root)
	if len(list) != 20 {
		t.Errorf("%d rows", len(list))
	}
	for _, row := range list {
		var in struct{ Command string }
		if err := json.Unmarshal(row.Kwargs, &in); err != nil {
			t.Fatal(err)
		}
		switch in.Command {
		case "lsblk --version":
			row.notPermitted("lsblk")
		case "ls; echo pwned":
			row.notPermitted("ls;")
		case "(sleep 31337 &) ; echo bg":
			row.Result = map[string]any{"stdout": "bg\n", "stderr": "", "returncode": 0.0, "success": true}
		case "git status --short":
			if _, err := exec.LookPath("git"); err != nil {
				continue // the row is about a program that is not here
			}
		}
		t.Run(in.Command, func(t *testing.T) { shellRoom(t, root, row).check(t, row) })
	}
}

func (row *recorded) notPermitted(word string) {
	row.Result = map[string]any{"stdout": "", "stderr": "Command not permitted by allowed_commands policy: '" + word + "'.", "returncode": -1.0, "success": false}
}

// shellRoom is a room with the shell guard set up as a row says: without
// allowed_commands the original runs everything.
func shellRoom(t *testing.T, root string, row recorded) *room {
	t.Helper()
	g := &shellguard.Guard{
		AllowShell: row.Config.AllowShell, Bounded: true, Options: shellguard.SystemOptions(root),
		Only:     len(row.Config.AllowedCommands) > 0,
		Unasked:  func(toolcrib.Call) bool { return len(row.Config.AllowedCommands) == 0 },
		ReadFile: os.ReadFile,
	}
	for _, text := range row.Config.AllowedCommands {
		rule, err := shellguard.ParseRule(text + " *")
		if err != nil {
			t.Fatal(err)
		}
		g.Rules = append(g.Rules, rule)
	}
	return newRoom(t, setup{root: root, write: true, sandbox: plain{}, guards: []toolcrib.Guard{g},
		opt: Options{MaxTimeout: time.Duration(row.Config.MaxTimeout) * time.Second}})
}

// TestShellRefusalsAreRecognised holds the adapter against the real guard and
// the real tool.
func TestShellRefusalsAreRecognised(t *testing.T) {
	root := newTree(t)
	put(t, root+"/file", "")
	var off, on recorded
	on.Config.AllowShell = true
	for _, tt := range []struct {
		row       recorded
		cwd, want string
	}{
		{off, ".", "Shell execution is disabled (allow_shell=False)."},
		{on, "/nope", "Error executing command: [Errno 2] No such file or directory: '/nope'"},
		{on, "..", "Error executing command: [Errno 2] No such file or directory: '..'"},
		{on, "gone", "Error executing command: [Errno 2] No such file or directory: 'gone'"},
		{on, "file", "Error executing command: [Errno 20] Not a directory: 'file'"},
	} {
		if got := shellRoom(t, root, tt.row).say(t, OVOS, "run_command", ovosRun{"pwd", tt.cwd, "5"}); got != string(notRun(tt.want).Value) {
			t.Errorf("%s: %s", tt.cwd, got)
		}
	}
	if got := newRoom(t, setup{root: root}).say(t, OVOS, "run_command", ovosRun{"pwd", ".", "5"}); got != string(notRun(shellDisabled).Value) {
		t.Errorf("without a program: %s", got)
	}
	asks := recorded{}
	asks.Config.AllowShell, asks.Config.AllowedCommands = true, []string{"ls"}
	if got := shellRoom(t, root, asks).say(t, OVOS, "run_command", ovosRun{"", ".", "5"}); !strings.Contains(got, "policy: ''.") {
		t.Errorf("nothing, which no rule allows: %s", got)
	}
}
