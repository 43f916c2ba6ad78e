package skill

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestNotify: whoever watches hears of a skill that comes, says something else of itself, and goes; and of nothing as
// long as all stays as it is. A box that was closed looks at nothing.
func TestNotify(t *testing.T) {
	dir := t.TempDir()
	box := open(t, Config{Places: []Place{{Path: dir, Scope: "user"}}, Every: 5 * time.Millisecond}, Needs{})
	tools, err := box.Tools(t.Context())
	if err != nil || len(tools) != 0 {
		t.Fatalf("%v, %v", tools, err)
	}
	heard := make(chan struct{}, 100)
	stop := box.Notify(func() { heard <- struct{}{} })
	at := filepath.Join(dir, "one", "SKILL.md")
	write := func(description string) error {
		return errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte("---\nname: one\ndescription: "+description+"\n---\nDo it.\n"), 0o644))
	}
	wait(t, heard, "comes", func() error { return write("First.") })
	wait(t, heard, "says something else", func() error { return write("Second.") })
	if tools, err := box.Tools(t.Context()); err != nil || len(tools) == 0 {
		t.Errorf("there is a skill and no tool: %v, %v", tools, err)
	}
	wait(t, heard, "goes", func() error { return os.RemoveAll(filepath.Dir(at)) })
	for len(heard) > 0 { // a file is written in steps, and each may have been seen
		<-heard
	}
	stop()
	if err := box.Close(); err != nil {
		t.Fatal(err)
	}
	if err := write("Third."); err != nil {
		t.Fatal(err)
	}
	box.Notify(func() { t.Error("a closed box tells of changes") })()
	if len(heard) > 0 {
		t.Error("it was told after its end")
	}
}

func wait(t *testing.T, heard chan struct{}, what string, change func() error) {
	t.Helper()
	for len(heard) > 0 {
		<-heard
	}
	if err := change(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-heard:
	case <-time.After(30 * time.Second):
		t.Fatalf("nobody heard that it %s", what)
	}
}
