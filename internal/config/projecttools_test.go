package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// toolPlace makes a project with a file of tools.
func toolPlace(t *testing.T, dir, name, content string) string {
	t.Helper()
	file := filepath.Join(ProjectToolDir(dir), name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o755)); err != nil {
		t.Fatal(err)
	}
	return file
}

func toolTrust(t *testing.T) Trust {
	dir := t.TempDir()
	return Trust{Path: filepath.Join(dir, "state", "trust.json"), Seals: seals(filepath.Join(dir, "seal"))}
}

func TestFindProjectTools(t *testing.T) {
	root := t.TempDir()
	project := filepath.Join(root, "home", "project")
	deep := filepath.Join(project, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(root, "home")
	if got := FindProjectTools(deep, home); got != "" {
		t.Errorf("found %s in nothing", got)
	}
	// What lies in the home directory or above it is in no project.
	toolPlace(t, root, "x.sh", "x")
	toolPlace(t, home, "x.sh", "x")
	if got := FindProjectTools(deep, home); got != "" {
		t.Errorf("found %s where no project is", got)
	}
	toolPlace(t, project, "x.sh", "x")
	if got := FindProjectTools(deep, home); got != ProjectToolDir(project) {
		t.Errorf("found %q", got)
	}
	toolPlace(t, filepath.Dir(deep), "y.sh", "y")
	if got := FindProjectTools(deep, home); got != ProjectToolDir(filepath.Dir(deep)) {
		t.Errorf("the nearest one does not count: %q", got)
	}
	if got := FindProjectTools("relative", home); got != "" {
		t.Errorf("found %q from a relative path", got)
	}
}

// TestTrustOfTools: trust is in one content of one file in one project.
func TestTrustOfTools(t *testing.T) {
	list, now, project := toolTrust(t), time.Unix(1, 0), t.TempDir()
	file := toolPlace(t, project, "x.sh", "good")
	good := []byte("good")
	if list.HoldsTool(file, good) || list.KnowsTool(file) {
		t.Error("trusted before it was")
	}
	if err := list.AddTools([]ToolFile{{Path: file, Content: good}}, now); err != nil {
		t.Fatal(err)
	}
	if !list.HoldsTool(file, good) || !list.KnowsTool(file) {
		t.Error("not trusted after it was")
	}
	if list.HoldsTool(file, []byte("good ")) || list.HoldsTool(toolPlace(t, project, "y.sh", "good"), good) {
		t.Error("another content or file is trusted too")
	}
	if list.Holds(file, good) {
		t.Error("a tool counts as settings")
	}
	settings := filepath.Join(project, "toolcrib.yaml")
	if err := errors.Join(os.WriteFile(settings, good, 0o600), list.Add(settings, good, now)); err != nil {
		t.Fatal(err)
	}
	if list.HoldsTool(settings, good) {
		t.Error("settings count as a tool")
	}
	// The same project by another way is the same one.
	way := filepath.Join(t.TempDir(), "way")
	if err := os.Symlink(project, way); err != nil {
		t.Fatal(err)
	}
	if !list.HoldsTool(filepath.Join(ProjectToolDir(way), "x.sh"), good) {
		t.Error("the same project by another way is not trusted")
	}
	was, err := list.RemoveTools(ProjectToolDir(way))
	if err != nil || len(was) != 1 || list.HoldsTool(file, good) {
		t.Errorf("revoking: %v, %v", was, err)
	}
	if !list.Holds(settings, good) {
		t.Error("revoking tools takes the settings along")
	}
	if was, err := list.RemoveTools(ProjectToolDir(project)); err != nil || was != nil {
		t.Errorf("revoking twice: %v, %v", was, err)
	}
}

// TestLinkedToolsAreNotTrusted: a project cannot borrow what was trusted in another one.
func TestLinkedToolsAreNotTrusted(t *testing.T) {
	good := []byte("good")
	for name, link := range map[string]func(trusted, hostile string) error{
		"the folder .toolcrib": func(trusted, hostile string) error {
			return os.Symlink(filepath.Join(trusted, ".toolcrib"), filepath.Join(hostile, ".toolcrib"))
		},
		"the folder tools": func(trusted, hostile string) error {
			return errors.Join(os.Mkdir(filepath.Join(hostile, ".toolcrib"), 0o755), os.Symlink(ProjectToolDir(trusted), ProjectToolDir(hostile)))
		},
		"the file": func(trusted, hostile string) error {
			return errors.Join(os.MkdirAll(ProjectToolDir(hostile), 0o755),
				os.Symlink(filepath.Join(ProjectToolDir(trusted), "x.sh"), filepath.Join(ProjectToolDir(hostile), "x.sh")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			list, trusted, hostile := toolTrust(t), t.TempDir(), t.TempDir()
			file := toolPlace(t, trusted, "x.sh", "good")
			if err := errors.Join(list.AddTools([]ToolFile{{Path: file, Content: good}}, time.Unix(1, 0)), link(trusted, hostile)); err != nil {
				t.Fatal(err)
			}
			borrowed := filepath.Join(ProjectToolDir(hostile), "x.sh")
			if list.HoldsTool(borrowed, good) || list.KnowsTool(borrowed) {
				t.Error("what another project was trusted with is trusted here")
			}
			if list.AddTools([]ToolFile{{Path: borrowed, Content: good}}, time.Unix(2, 0)) == nil {
				t.Error("a link can be trusted")
			}
			files, err := ReadProjectTools(ProjectToolDir(hostile))
			for _, f := range files {
				if f.Content != nil || f.Err == nil {
					t.Errorf("%s is read: %q", f.Path, f.Content)
				}
				err = errors.Join(err, f.Err)
			}
			if err == nil || !strings.Contains(err.Error(), "put a copy there") || strings.Contains(err.Error(), trusted) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestReadProjectTools: what is in the folder is told whole, and what cannot be read stops nothing else.
func TestReadProjectTools(t *testing.T) {
	project := t.TempDir()
	toolPlace(t, project, "b.sh", "b")
	toolPlace(t, project, "a.yaml", "a")
	toolPlace(t, project, ".hidden", "h")
	toolPlace(t, project, "huge.py", strings.Repeat("x", maxFile+1))
	if err := os.Mkdir(filepath.Join(ProjectToolDir(project), "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	files, err := ReadProjectTools(ProjectToolDir(project))
	if err != nil || len(files) != 3 {
		t.Fatalf("%v, %v", files, err)
	}
	if string(files[0].Content) != "a" || string(files[1].Content) != "b" || files[2].Err == nil || files[2].Content != nil {
		t.Errorf("%+v", files[:2])
	}
	if !strings.Contains(files[2].Err.Error(), "larger than") {
		t.Errorf("%v", files[2].Err)
	}
	full := t.TempDir()
	for i := range maxProjectBytes/maxFile + 1 {
		toolPlace(t, full, strings.Repeat("x", i+1), strings.Repeat("x", maxFile))
	}
	if _, err := ReadProjectTools(ProjectToolDir(full)); err == nil || !strings.Contains(err.Error(), "nobody reads so much") {
		t.Errorf("%v", err)
	}
	for i := range maxProjectTools {
		toolPlace(t, project, "n"+strings.Repeat("x", i), "n")
	}
	if _, err := ReadProjectTools(ProjectToolDir(project)); err == nil || !strings.Contains(err.Error(), "more than 200 files") {
		t.Errorf("%v", err)
	}
}
