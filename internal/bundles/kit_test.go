package bundles

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/bundle"
)

// person is somebody with nothing installed.
func person(t *testing.T) *Bundles {
	t.Helper()
	home := t.TempDir()
	dir := filepath.Join(home, "project")
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	return &Bundles{
		State: filepath.Join(home, "state"), Store: filepath.Join(home, "store"), LockFile: filepath.Join(home, "config", "toolcrib.lock"), Memory: filepath.Join(home, "state", "memory"),
		Dir: dir, Home: home, Program: exec.LookPath, HTTP: func(string) *http.Client { return http.DefaultClient }, Reach: Reach(nil),
	}
}

// texts are the files of a package.
type texts map[string]string

// folder writes a package into a directory.
func (f texts) folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "kit")
	f.write(t, dir)
	return dir
}

func (f texts) write(t *testing.T, dir string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for name, text := range f {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		if err := os.WriteFile(at, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
}

func (f texts) with(name, text string) texts {
	f = maps.Clone(f)
	f[name] = text
	return f
}

func (f texts) zip(t *testing.T, below string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(f)) {
		e, err := w.Create(below + name)
		if err == nil {
			_, err = e.Write([]byte(f[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (f texts) tgz(t *testing.T, below string) []byte {
	t.Helper()
	var heads []tar.Header
	for _, name := range slices.Sorted(maps.Keys(f)) {
		heads = append(heads, tar.Header{Name: below + name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(f[name])), Linkname: f[name]})
	}
	return tgz(t, heads)
}

// tgz makes an archive of heads; the text of a file stands where a link would lead.
func tgz(t *testing.T, heads []tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, h := range heads {
		text := ""
		if h.Typeflag == tar.TypeReg {
			text, h.Linkname = h.Linkname, ""
			h.Size = int64(len(text))
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func skillText(name string) string {
	return "---\nname: " + name + "\ndescription: When it is of use.\n---\nDo it.\n"
}

// examples has a package of each format, with COMMAND for the program of its server.
func examples() map[string]texts {
	return map[string]texts{
		"agent-plugin": {
			"plugin.json": `{"$schema":"` + bundle.PluginSchema + `","name":"kit","version":"1.0.0"}`, "skills/one/SKILL.md": skillText("one"), "skills/one/run.sh": "#!/bin/sh\necho hi\n",
			"mcp.json": `{"$schema":"` + bundle.ServerSchema + `","mcpServers":{"local":{"type":"stdio","command":"COMMAND","args":["${PLUGIN_DATA}/x"],"cwd":"${PLUGIN_ROOT}"}}}`,
		},
		"claude-plugin": {
			".claude-plugin/plugin.json": `{"name":"kit","version":"1.0.0","mcpServers":{"local":{"command":"COMMAND","args":["${CLAUDE_PLUGIN_ROOT}/server.py"]}}}`, "server.py": "print()\n",
			"skills/one/SKILL.md": skillText("one"), "agents/review.md": "---\nname: reviewer\ntools: Read\n---\nReview it.\n", "hooks/hooks.json": "{}", "commands/go.md": "x",
		},
		"codex-plugin":     {".codex-plugin/plugin.json": `{"name":"kit","version":"1.0.0"}`, ".mcp.json": `{"mcpServers":{"local":{"command":"COMMAND"}}}`, "skills/one/SKILL.md": skillText("one")},
		"cursor-plugin":    {".cursor-plugin/plugin.json": `{"name":"kit","version":"1.0.0"}`, ".mcp.json": `{"mcpServers":{"local":{"command":"COMMAND"}}}`, "skills/one/SKILL.md": skillText("one")},
		"gemini-extension": {"gemini-extension.json": `{"name":"kit","version":"1.0.0","mcpServers":{"local":{"command":"COMMAND","args":["${extensionPath}/s.js"]}}}`, "s.js": "1", "skills/one/SKILL.md": skillText("one"), "GEMINI.md": "x"},
		"agx-bundle": {
			"agx-bundle.yaml":     "agx_bundle: \"1.0\"\nname: kit\nversion: 1.0.0\ncomponents:\n  skills: [{path: skills/one/SKILL.md}]\n  mcp_servers: [{name: local, config_path: mcp/local.json}]\n  avatars: [{name: scholar, config_path: avatars/scholar.yaml}]\n  memory_templates: [{name: flow, path: memory/flow.md}]\n",
			"skills/one/SKILL.md": skillText("one"), "mcp/local.json": `{"command":"COMMAND"}`, "avatars/scholar.yaml": "system_prompt: You are a scholar.\n", "memory/flow.md": "# Flow\n",
		},
		"mcpb":       {"manifest.json": `{"manifest_version":"0.3","name":"kit","version":"1.0.0","description":"d","author":{"name":"a"},"server":{"type":"node","entry_point":"server/index.js","mcp_config":{"command":"COMMAND","args":["${__dirname}/server/index.js"]}}}`, "server/index.js": "1"},
		"mcp-server": {"server.json": `{"name":"io.example/kit","description":"d","version":"1.0.0","packages":[{"registryType":"npm","identifier":"COMMAND","version":"1.0.0","transport":{"type":"stdio"}}]}`},
		"skills":     {"skills/one/SKILL.md": skillText("one"), "skills/two/SKILL.md": skillText("two")},
	}
}

// using puts a program in.
func (f texts) using(program string) texts {
	out := texts{}
	for name, text := range f {
		out[name] = strings.ReplaceAll(text, "COMMAND", program)
	}
	return out
}

// install fetches and installs, without a question.
func install(t *testing.T, b *Bundles, source string, want Want) Result {
	t.Helper()
	c, err := b.Fetch(t.Context(), source, want)
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.Install(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return r
}

// snapshot is everything below a directory, but for locks and for what seals: times of
// change are no part of it.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch {
		case name == "state" || name == "state/bundles" || name == "state/bundles/lock" || name == "config":
			return nil // they come with the first use of the program
		case name == "state/seal":
			return fs.SkipDir
		case d.IsDir():
			out[name+"/"] = ""
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if name == "state/bundles/record.json" { // its seal counts up
			text = []byte("sealed")
		}
		out[name] = info.Mode().String() + " " + string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func same(t *testing.T, want, got map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("it is not as before:\n%s", diff)
	}
}
