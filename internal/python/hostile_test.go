package python

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/toolfile"
)

// TestEnvironmentLies: an environment that names the directory of a person's keys as the
// home of its interpreter does not have it shown.
func TestEnvironmentLies(t *testing.T) {
	m := newMachine(t)
	m.write("home/.ssh/id_rsa", "key")
	keys := filepath.Join(m.dir, "home", ".ssh")
	for _, home := range []string{keys, filepath.Join(keys, "bin"), filepath.Join(m.dir, "home"), m.dir} {
		m.write("env/pyvenv.cfg", "home = "+home+"\n")
		m.write("tools/mine.py", "# toolcrib:\n#   python: "+filepath.Join(m.dir, "env")+"\ndef f(): pass\n")
		h := m.hosts(Folder{Files: toolfile.Folder{Dir: filepath.Join(m.dir, "tools")}})
		s, ok := h.Find(t.Context(), settings.Config{}, nil, false).Servers["mine"]
		if !ok {
			t.Fatal(h.Last().Faults)
		}
		if slices.ContainsFunc(s.Tools, func(dir string) bool { return strings.HasPrefix(keys, dir) }) {
			t.Errorf("home = %s: the program sees %q", home, s.Tools)
		}
	}
}

// TestSkillsOfPackages: code in a sandbox names skills, and does not have files read that
// it cannot read itself.
func TestSkillsOfPackages(t *testing.T) {
	m := newMachine(t)
	inside, outside := m.write("env/lib/python3.11/site-packages/acme/SKILL.md", ""), m.write("home/notes/SKILL.md", "---\nname: x\n---\n")
	read, written := m.write("read/SKILL.md", ""), m.write("written/SKILL.md", "")
	link := filepath.Join(filepath.Dir(inside), "link.md")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	type one map[string]string
	says, err := json.Marshal(map[string]any{"skills": []one{{"name": "a", "path": inside}, {"name": "b", "path": outside}, {"name": "c", "path": link}, {"name": "d", "path": read}, {"name": "e", "path": written}}})
	if err != nil {
		t.Fatal(err)
	}
	m.says = string(says)
	p := settings.Python{OPM: true, Read: []string{filepath.Join(m.dir, "read")}, Write: []string{filepath.Join(m.dir, "written")}}
	if found := m.find(m.hosts(), p, false); !slices.Equal(found.Skills, []string{inside, read}) || len(found.Faults) != 3 {
		t.Errorf("%q %v", found.Skills, found.Faults)
	}
}

// TestTooManyToolboxes: an interpreter that says it has thousands does not have thousands
// of programs started.
func TestTooManyToolboxes(t *testing.T) {
	m := newMachine(t)
	var list installed
	for i := range 10_000 {
		list.Toolboxes = append(list.Toolboxes, toolbox{EntryPoint: fmt.Sprint("e", i), ID: fmt.Sprint("e", i)})
	}
	says, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	m.says = string(says)
	found := m.find(m.hosts(), settings.Python{OPM: true}, false)
	if len(found.Servers) > mostServers || len(found.Faults) != 1 || !strings.Contains(fmt.Sprint(found.Faults), "toolboxes") {
		t.Errorf("%d servers, %v", len(found.Servers), found.Faults)
	}
}

// TestFailureIsRemembered: one that fails, or takes until its time is over, is not waited
// for at every call.
func TestFailureIsRemembered(t *testing.T) {
	m := newMachine(t)
	m.says = "nothing"
	for i, anew := range []bool{false, false, true, false} {
		found := m.find(m.hosts(), settings.Python{OPM: true}, anew)
		if want := []int{1, 1, 2, 2}[i]; m.asked != want || len(found.Faults) != 1 {
			t.Errorf("look %d: asked %d times, want %d: %v", i, m.asked, want, found.Faults)
		}
	}
	m.says = threeBoxes
	m.write("env/lib/python3.11/site-packages/new-1.0.dist-info/entry_points.txt", "")
	if found := m.find(m.hosts(), settings.Python{OPM: true}, false); len(found.Servers) != 2 {
		t.Errorf("after pip install: %v", found.Faults)
	}
}

// TestCopiesAreNoLinks: what runs is not put where a link leads.
func TestCopiesAreNoLinks(t *testing.T) {
	m := newMachine(t)
	m.write("tools/mine.py", "def f(): pass\n")
	elsewhere := t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(m.dir, "place")); err != nil {
		t.Fatal(err)
	}
	h := m.hosts(Folder{Files: toolfile.Folder{Dir: filepath.Join(m.dir, "tools")}})
	if found := h.Find(t.Context(), settings.Config{}, nil, false); len(found.Servers) > 0 || !strings.Contains(fmt.Sprint(found.Faults), "is a link") {
		t.Errorf("%v %v", found.Servers, found.Faults)
	}
}
