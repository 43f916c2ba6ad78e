package image

import (
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		command, named string
		want, says     string
	}{
		{command: "npx", want: nodeImage},
		{command: "node", want: nodeImage},
		{command: "/usr/local/bin/npx", want: nodeImage},
		{command: "uvx", want: pythonImage},
		{command: "python3", want: pythonImage},
		{command: "deno", want: denoImage},
		{command: "bunx", want: bunImage},
		{command: "go", want: goImage},
		{command: "java", want: javaImage},
		{command: "npx", named: "registry.example.com:5000/team/node@sha256:0123456789abcdef", want: "registry.example.com:5000/team/node@sha256:0123456789abcdef"},
		{command: "my-server", named: "my/server:1", want: "my/server:1"},
		{command: "my-server", says: "name one that has it"},
		{command: "", says: "no image is known"},
		{command: "${SERVER}", says: "no image is known"},
		{command: "docker", says: "a container of its own"},
		{command: "/usr/bin/podman", named: "node:24", says: "a container of its own"},
		// What could be an option, or end one.
		{command: "npx", named: "-v/:/host", says: "not the name of an image"},
		{command: "npx", named: "--privileged", says: "not the name of an image"},
		{command: "npx", named: "node --privileged", says: "not the name of an image"},
		{command: "npx", named: "node\n--privileged", says: "not the name of an image"},
		{command: "npx", named: "${IMAGE}", says: "not the name of an image"},
		{command: "npx", named: "docker://node", says: "not the name of an image"},
		{command: "npx", named: "/node", says: "not the name of an image"},
		{command: "npx", named: "node\x00", says: "not the name of an image"},
		{command: "npx", named: strings.Repeat("a", 500), says: "not the name of an image"},
	} {
		got, err := Choose(c.command, c.named)
		switch {
		case c.says == "" && (err != nil || got != c.want):
			t.Errorf("%q with image %q: got %q, error %v; want %q", c.command, c.named, got, err, c.want)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%q with image %q: got %q, error %v; want an error with %q", c.command, c.named, got, err, c.says)
		}
	}
}

// TestKits: every image of the table is the name of one, and what a kit sets lies in
// the only place that can be written.
func TestKits(t *testing.T) {
	for _, command := range []string{"node", "npx", "npm", "uv", "uvx", "python", "python3", "pip", "deno", "bun", "bunx", "go", "java"} {
		kit, ok := For(command)
		if !ok {
			t.Errorf("%s is not known", command)
			continue
		}
		if err := Check(kit.Image); err != nil {
			t.Errorf("%s: %v", command, err)
		}
		for name, value := range kit.Env {
			if !strings.HasPrefix(value, Home+"/") {
				t.Errorf("%s: %s=%s cannot be written", command, name, value)
			}
		}
	}
}

// FuzzCheck: whatever passes is one argument of a command line and no option.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{"node:24-slim", "-v", "a b", "a\n", "ghcr.io/x/y@sha256:ab", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if Check(name) == nil && (name == "" || name[0] == '-' || strings.ContainsAny(name, " \t\r\n\x00=,\"'$`\\")) {
			t.Errorf("%q passed", name)
		}
	})
}
