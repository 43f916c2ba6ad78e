package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/service"
	"github.com/toolcrib/toolcrib/internal/setup"
)

// TestDoctorLeavesOthersDirectories: for a state that is not there yet nothing around it
// changes its owner.
func TestDoctorLeavesOthersDirectories(t *testing.T) {
	if fix := ownFix("/no-such-directory/of-ours/state"); strings.Contains(fix, "-R") || !strings.HasSuffix(fix, " /no-such-directory/of-ours/state") || strings.Count(fix, "/no-such-directory") != 2 {
		t.Error(fix)
	}
	dir := t.TempDir()
	if fix := ownFix(dir); !strings.HasPrefix(fix, "sudo chown -R ") || !strings.HasSuffix(fix, " "+dir) {
		t.Error(fix)
	}
}

func TestDoctorSeesAFullDisk(t *testing.T) {
	places := diskPlaces("/state", "/tmp", []string{"/work"})
	for left, want := range map[uint64]string{0: "problem", 1 << 20: "problem", 100 << 20: "warning", 10 << 30: "ok"} {
		for _, f := range diskFindings(func(string) (uint64, error) { return left, nil }, places) {
			if f.Status != want || (f.Fix == "") != (want == "ok") {
				t.Errorf("%d bytes: %+v", left, f)
			}
		}
	}
	for _, f := range diskFindings(func(string) (uint64, error) { return 0, errors.New("no") }, places) {
		if f.Status != "warning" {
			t.Errorf("what cannot be told: %+v", f)
		}
	}
}

func TestDoctorSeesClients(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "toolcrib")
	if err := os.WriteFile(exe, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	ours := func(client, command string) setup.Taken {
		return setup.Taken{File: "f", Server: clientfiles.Server{Name: "toolcrib", Command: command, Args: []string{"mcp"}, Source: client}}
	}
	s := &setup.Survey{
		Ours: []setup.Taken{ours("cursor", exe), ours("codex", exe+"-gone"), ours("zed", "toolcrib")},
		Servers: []setup.Taken{
			{Server: clientfiles.Server{Name: "git", Command: "uvx", Source: "cursor"}},
			{Server: clientfiles.Server{Name: "off", Command: "uvx", Source: "cursor", Disabled: true}},
			{Server: clientfiles.Server{Name: "theirs", Command: "uvx", Source: "cursor"}, Project: true},
		},
	}
	var said []string
	for _, f := range clientFindings(s) {
		said = append(said, f.Status+": "+f.Detail+" → "+f.Fix)
	}
	text := strings.Join(said, "\n")
	for _, want := range []string{"ok: Toolcrib is in cursor, zed", "problem: codex starts", "→ toolcrib connect codex", "git (cursor)", "→ toolcrib setup"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not said in\n%s", want, text)
		}
	}
	for _, not := range []string{"off (", "theirs"} {
		if strings.Contains(text, not) {
			t.Errorf("%q is said in\n%s", not, text)
		}
	}
	if got := clientFindings(&setup.Survey{}); len(got) != 0 {
		t.Error("without clients: ", got)
	}
}

func TestDoctorSeesServices(t *testing.T) {
	for _, c := range []struct {
		state       service.State
		status, fix string
	}{
		{service.State{Service: "s", Installed: true, Manager: true, Running: true, Ours: true}, "ok", ""},
		{service.State{Service: "s", Installed: true, Manager: true}, "problem", "toolcrib service install serve"},
		{service.State{Service: "s", Installed: true, Manager: true, Running: true, Ours: true, Differs: []string{"x"}}, "warning", "toolcrib service install serve"},
		{service.State{Service: "s", Installed: true, Detail: "none"}, "warning", lingerFix()},
	} {
		if f := serviceFinding("serve", c.state); f.Status != c.status || f.Fix != c.fix {
			t.Errorf("%+v: %+v", c.state, f)
		}
	}
}

// TestFindingKeepsCommandsWhole: a command that was parted would be two when it is pasted,
// and the second one the file of a project, which may be a program.
func TestFindingKeepsCommandsWhole(t *testing.T) {
	f := finding{"config", "problem", strings.Repeat("words ", 30), "vi /home/ann/" + strings.Repeat("long-", 12) + "/toolcrib.yaml"}
	shown := f.shown(80)
	if !strings.HasSuffix(shown, "→ "+f.Fix+"\n") || strings.Count(shown, "\n") < 4 {
		t.Errorf("it is shown as\n%s", shown)
	}
}
