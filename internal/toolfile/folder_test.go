package toolfile

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	f := Folder{Dir: filepath.Join(dir, "tools")}
	if list, err := f.Read(); err != nil || list != nil || f.Marks() != "" {
		t.Fatalf("a folder that is not there: %v, %v", list, err)
	}
	write(t, filepath.Join(f.Dir, "b.sh"), "#!/bin/sh\n", 0o755)
	write(t, filepath.Join(f.Dir, "a.yaml"), "command: [ls]\n", 0o644)
	write(t, filepath.Join(f.Dir, ".hidden.yaml"), "x", 0o644)
	write(t, filepath.Join(f.Dir, "below", "c.yaml"), "x", 0o644)
	write(t, filepath.Join(dir, "elsewhere.yaml"), "command: [id]\n", 0o644)
	names := func(f Folder) (names []string) {
		list, err := f.Read()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			names = append(names, filepath.Base(s.Path))
		}
		return names
	}
	if got := names(f); !slices.Equal(got, []string{"a.yaml", "b.sh"}) {
		t.Errorf("%q", got)
	}
	list, _ := f.Read()
	if string(list[0].Content) != "command: [ls]\n" || runtime.GOOS != "windows" && list[0].Executable || !list[1].Executable {
		t.Errorf("%+v", list)
	}
	before := f.Marks()
	if before == "" || f.Marks() != before {
		t.Error("the marks are others without a reason")
	}
	write(t, filepath.Join(f.Dir, "a.yaml"), "command: [ls, -l]\n", 0o644)
	if f.Marks() == before {
		t.Error("a change leaves no mark")
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Symlink(filepath.Join(dir, "elsewhere.yaml"), filepath.Join(f.Dir, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	if got := names(f); !slices.Contains(got, "link.yaml") {
		t.Errorf("a person's own link is passed over: %q", got)
	}
	f.NoLinks = true
	if got := names(f); slices.Contains(got, "link.yaml") {
		t.Errorf("a link of a project was followed: %q", got)
	}
}

// TestFullFolder: however much lies in a folder, only so much of it is read.
func TestFullFolder(t *testing.T) {
	f := Folder{Dir: t.TempDir()}
	long := "command: [ls]\n" + strings.Repeat("#", maxFile-20)
	const many = maxTotal/maxFile + 3
	for i := range many {
		write(t, filepath.Join(f.Dir, fmt.Sprintf("t%02d.yaml", i)), long, 0o644)
	}
	list, err := f.Read()
	if err != nil || len(list) != many {
		t.Fatal(len(list), err)
	}
	total := 0
	for _, s := range list {
		total += len(s.Content)
	}
	if total > maxTotal || list[0].Err != nil || list[many-1].Err == nil || !strings.Contains(list[many-1].Err.Error(), "more than 32 MiB together") {
		t.Errorf("%d bytes; %v, %v", total, list[0].Err, list[many-1].Err)
	}
}

func TestProjectFolder(t *testing.T) {
	home := t.TempDir()
	project := filepath.Join(home, "work", "project")
	inner := filepath.Join(project, "src", "deep")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := ProjectFolder(inner, home).Dir; got != filepath.Join(inner, ".toolcrib", "tools") {
		t.Errorf("without one: %s", got)
	}
	write(t, filepath.Join(home, ".toolcrib", "tools", "x.yaml"), "x", 0o644)
	if got := ProjectFolder(inner, home).Dir; got != filepath.Join(inner, ".toolcrib", "tools") {
		t.Errorf("that of the home directory was taken: %s", got)
	}
	write(t, filepath.Join(project, ".toolcrib", "tools", "x.yaml"), "x", 0o644)
	for _, dir := range []string{project, inner} {
		if got := ProjectFolder(dir, home); got.Dir != filepath.Join(project, ".toolcrib", "tools") || !got.NoLinks {
			t.Errorf("from %s: %+v", dir, got)
		}
	}
}

// TestTooManyFiles: what is not looked at is told.
func TestTooManyFiles(t *testing.T) {
	f := Folder{Dir: t.TempDir()}
	for i := range maxFiles + 5 {
		write(t, filepath.Join(f.Dir, fmt.Sprintf("t%04d.yaml", i)), "command: [ls]\n", 0o644)
	}
	list, err := f.Read()
	if err != nil || len(list) != maxFiles+1 || list[maxFiles-1].Err != nil || list[maxFiles].Err == nil || !strings.Contains(list[maxFiles].Err.Error(), "more than 1000 files") {
		t.Errorf("%d, %v", len(list), err)
	}
}
