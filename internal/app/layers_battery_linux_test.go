package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// hostileFiles are the batteries of lines that must not do what they try.
var hostileFiles = []string{"hostile_broad.txt", "hostile_lines.txt", "hostile_options.txt", "hostile_programs.txt", "hostile_syntax.txt", "hostile_work.txt", "floor.txt"}

// battlefield is a project with the files that the lines of the batteries speak of,
// in a home that has something to lose.
func battlefield(t *testing.T, change func(*settings.Config)) (*App, string) {
	t.Helper()
	a, dir := layerProject(t, change)
	for name, text := range map[string]string{
		"f": "f\n", "x": "x\n", "b": "b\n", "list": "a\nb\n", "docs/a.md": "# a\n", "build/out": "out\n", "main.go": "package main\n\nfunc main() {}\n", "go.mod": "module x\n\ngo 1.26\n",
		"package.json": `{"name":"x","version":"1.0.0","scripts":{"test":"true"}}`, "Makefile": "all:\n\ttrue\n", "run.sh": "#!/bin/sh\necho ran > ran\n",
		".git/config": "[core]\n\trepositoryformatversion = 0\n", ".git/objects/info/x": "", ".git/refs/heads/x": "", ".vscode/settings.json": "{}\n", ".envrc": "true\n",
		"../home/.ssh/id_ed25519": "swordfish\n", "../home/.bashrc": "true\n", "../home/notes": "mine\n", "../home/.aws/credentials": "aws_secret_access_key = swordfish\n", "../other/file": "other\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return a, dir
}

// TestHostileLinesOnLayers runs the hostile lines for real, with nobody to answer. In
// the default mode project, home and their neighbour hold afterwards what they held; in
// auto-edit home and neighbour, and what is protected or obeyed in the project. No
// protected text is printed.
func TestHostileLinesOnLayers(t *testing.T) {
	stride := 11
	if os.Getenv("TOOLCRIB_ALL_LINES") != "" {
		stride = 1
	}
	var all []shelltest.Entry
	for _, file := range hostileFiles {
		all = append(all, shelltest.Battery(t, file)...)
	}
	const shards = 3
	for _, mode := range []string{"default", "auto-edit"} {
		for shard := range shards {
			t.Run(fmt.Sprint(mode, shard), func(t *testing.T) {
				t.Parallel()
				a, dir := battlefield(t, func(c *settings.Config) { c.Mode = mode })
				home, other := filepath.Join(filepath.Dir(dir), "home"), filepath.Join(filepath.Dir(dir), "other")
				look := func() string {
					text := inventory(t, dir)
					if mode == "auto-edit" {
						text = kept(text)
					}
					return text + inventory(t, home) + inventory(t, other)
				}
				before, ran := look(), 0
				for i := shard * stride; i < len(all); i += shards * stride {
					line := strings.NewReplacer(shelltest.Work, dir, shelltest.Home, home).Replace(all[i].Command)
					out, err := runCommand(t.Context(), a, line, 3)
					if err == nil {
						ran++
					} else if e, ok := toolcrib.AsError(err); ok && e.Code == toolcrib.CodeInternal {
						t.Errorf("%s:%d: %q: %v", all[i].File, all[i].Line, line, err)
					}
					if strings.Contains(out.Stdout+out.Stderr, "swordfish") {
						t.Errorf("%s:%d: %q printed a protected text", all[i].File, all[i].Line, line)
					}
					if now := look(); now != before {
						t.Fatalf("%s:%d: %q changed something:\n%s\nbefore:\n%s", all[i].File, all[i].Line, line, now, before)
					}
				}
				t.Logf("%d lines ran on a layer, the others were refused", ran)
			})
		}
	}
}

// kept are the lines of an inventory about what is protected or what others obey.
func kept(inventory string) string {
	var out []string
	for line := range strings.Lines(inventory) {
		name, _, _ := strings.Cut(line, " ")
		for _, part := range []string{
			".env", ".git/config", ".git/hooks", ".git/info", ".git/modules", ".vscode", ".envrc", ".npmrc", ".claude", ".mcp.json", "AGENTS.md", "CLAUDE.md", ".cursor", ".github", ".husky", ".ssh", ".bashrc", ".profile",
		} {
			if strings.Contains("/"+name+"/", "/"+part+"/") {
				out = append(out, line)
			}
		}
	}
	return strings.Join(out, "")
}

// TestFrictionOnLayers measures how many everyday lines are asked about before they
// run, without any rule, beside the way without layers.
func TestFrictionOnLayers(t *testing.T) {
	layers, _ := layerProject(t, nil)
	plain, _ := workshop(t, func(c *settings.Config) { c.Mode, c.Sandbox.Layers = "default", false })
	share := func(a *App, file string) float64 {
		lines, allowed := shelltest.Battery(t, file), 0
		for _, e := range lines {
			input := strings.NewReplacer(shelltest.Work, a.reach.Base).Replace(e.Command)
			j, err := a.Crib.Judge(t.Context(), lineCall(t, input))
			if err == nil && j.Decision == toolcrib.Allow {
				allowed++
			}
		}
		return 100 * float64(allowed) / float64(len(lines))
	}
	for _, file := range []string{"everyday.txt", "agents.txt", "work_writes.txt", "work_builds.txt", "work_network.txt", "yolo.txt", "nofloor.txt"} {
		now, before := share(layers, file), share(plain, file)
		t.Logf("%-18s unasked before the run: %5.1f %% on layers, %5.1f %% without", file, now, before)
		if file != "nofloor.txt" && now < 97 {
			t.Errorf("%s: %.1f %% run unasked", file, now)
		}
	}
}

func lineCall(t *testing.T, line string) toolcrib.Call {
	t.Helper()
	input, err := json.Marshal(map[string]any{"command": line})
	if err != nil {
		t.Fatal(err)
	}
	return toolcrib.Call{Tool: "run_command", Input: input, Caller: toolcrib.Caller{Subject: "test"}}
}
