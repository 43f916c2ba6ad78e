package hub

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/settings"
)

func put(t *testing.T, dir, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// TestPassedOver: what nobody means to be a program is none, whatever its rights say.
func TestPassedOver(t *testing.T) {
	for _, name := range []string{"README", "README.md", "readme.txt", "LICENSE", ".DS_Store", ".weather", "weather~", "weather.bak", "weather.py.orig", "#weather#", ".weather.swp", "weather.json", "weather.yaml", "main.go", "weather.log", "lib.so", "Thumbs.db", "desktop.ini", "weather.part", "weather.sha256"} {
		if !passedOver(name) {
			t.Errorf("%s is taken for a plugin", name)
		}
	}
	for _, name := range []string{"weather", "weather.py", "weather.exe", "weather.v2", "readmail", "licenses-of-us.sh", "a~b", "weather.run"} {
		if passedOver(name) {
			t.Errorf("%s is passed over", name)
		}
	}
}

func TestJudge(t *testing.T) {
	dir := t.TempDir()
	const no = "no plugin"
	for _, c := range []struct {
		name, text string
		mode       os.FileMode
		goos, want string // want empty: a plugin
	}{
		{"a", "#!/bin/sh\n", 0o755, "linux", ""},
		{"b", "#!/bin/sh\n", 0o644, "linux", "chmod +x"},
		{"c", "\x7fELF\x02\x01" + strings.Repeat("\x00", 20), 0o644, "linux", "chmod +x"},
		{"d.sh", "echo", 0o644, "linux", "chmod +x"},
		{"e", "some words", 0o644, "linux", "chmod +x"},
		{"f.dat", "some words", 0o644, "linux", no},
		{"g.dat", "#!/bin/sh\n", 0o644, "linux", "chmod +x"},
		{"h.py", "def f(): pass", 0o644, "linux", "put it into the folder tools"},
		{"i.mjs", "export const f = 1", 0o644, "darwin", "put it into the folder tools"},
		{"j.py", "def f(): pass", 0o755, "linux", "its first line names no interpreter"},
		{"k.py", "#!/nowhere/python\n", 0o755, "linux", "/nowhere/python"},
		{"l", "words", 0o755, "linux", ""}, // emulators: who tries will see
		{"m.exe", "MZ", 0o644, "windows", ""},
		{"n.BAT", "", 0o644, "windows", ""},
		{"o", "MZ", 0o755, "windows", no},
		{"p.py", "#!/usr/bin/env python3\n", 0o755, "windows", "put it into the folder tools"},
		{"q.sh", "", 0o755, "windows", ".exe, .bat or .cmd"},
	} {
		if runtime.GOOS == "windows" && c.goos != "windows" {
			continue // there are no rights to look at
		}
		put(t, dir, c.name, c.text, c.mode)
		info, err := os.Stat(filepath.Join(dir, c.name))
		if err != nil {
			t.Fatal(err)
		}
		meant, why := judge(filepath.Join(dir, c.name), info, c.goos)
		switch {
		case c.want == no && meant, c.want == "" && (!meant || why != ""), c.want != no && c.want != "" && (!meant || !strings.Contains(why, c.want)):
			t.Errorf("%s on %s: %v, %q, want %q", c.name, c.goos, meant, why, c.want)
		}
	}
}

// TestPluginsEach: no file takes another with it.
func TestPluginsEach(t *testing.T) {
	if list, err := Plugins(filepath.Join(t.TempDir(), "none")); list != nil || err != nil {
		t.Errorf("without a folder: %v, %v", list, err)
	}
	if list, err := Plugins(""); list != nil || err != nil {
		t.Errorf("without a name: %v, %v", list, err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "x")
	put(t, dir, "x", "", 0o600)
	if _, err := Plugins(file); err == nil {
		t.Error("a file is taken for the folder")
	}
	ext := ""
	if runtime.GOOS == "windows" {
		ext = ".exe"
	}
	dir = t.TempDir()
	for _, name := range []string{"good" + ext, "same.cmd", "same.bat", "server" + ext, "files" + ext, "bad name" + ext} {
		put(t, dir, name, "#!"+os.Args[0]+"\n", 0o755)
	}
	put(t, dir, "words.py", "def f(): pass", 0o600)
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	cfg := settings.Defaults()
	cfg.MCPServers = map[string]settings.MCPServer{"server": {Command: "x", Transport: "auto"}}
	servers, faults := Servers(cfg, dir, []string{"files"})
	if len(servers) != 2 || servers["good"].Command != filepath.Join(dir, "good"+ext) || servers["good"].Mark == "" || servers["server"].Command != "x" {
		t.Errorf("%+v", servers)
	}
	told := map[string]string{}
	for _, f := range faults {
		told[f.Box] += f.Err.Error() + "\n"
	}
	for box, want := range map[string]string{
		"same": "rename one", "server": "which counts", "files": "a toolbox of Toolcrib's own has it", "bad name": "cannot be the name", "words": "put it into the folder tools",
	} {
		if !strings.Contains(told[box], want) {
			t.Errorf("%s: %q", box, told[box])
		}
		delete(told, box)
	}
	if len(told) > 0 {
		t.Errorf("also told of: %q", told)
	}
	// A new build is another server.
	put(t, dir, "good"+ext, "#!"+os.Args[0]+"\nmore", 0o755)
	if again, _ := Servers(cfg, dir, nil); again["good"].Mark == servers["good"].Mark {
		t.Error("a changed program has the same mark")
	}
}

// TestDangling: a link that leads nowhere is told of.
func TestDangling(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "link")); err != nil {
		if runtime.GOOS == "windows" {
			return // it takes a right to make one
		}
		t.Fatal(err)
	}
	list, err := Plugins(dir)
	if err != nil || len(list) != 1 || !strings.Contains(list[0].Err.Error(), "leads nowhere") {
		t.Errorf("%+v, %v", list, err)
	}
}
