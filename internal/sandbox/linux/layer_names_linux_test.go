//go:build amd64 || arm64

package linux

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/sandbox/layer"
)

// oddNames are names that some program between a shell and a mount might read as
// something else.
func oddNames() []string {
	return []string{
		"a:b", "a,b", `back\slash`, "new\nline", "two  spaces ", "\xff\xfe not text", "lowerdir=x,upperdir=y:z", `\:`, "-rf", "...", "*", "$(id)", "'", `"`, "\t", "ü", "user.overlay.opaque",
		strings.Repeat("n", 255), strings.Repeat("ü", 127) + "n",
	}
}

// TestLayerOverOddNames: a granted directory may have any name, and so may what is
// in it.
func TestLayerOverOddNames(t *testing.T) {
	layers := filepath.Join(t.TempDir(), "layers")
	t.Cleanup(func() { _ = layer.Remove(layers) }) // the kernel leaves directories that t could not remove
	s := open(t, Config{Layers: layers})
	base := tempProject(t)
	for _, name := range oddNames() {
		project := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Join(project, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		put(t, project, map[string]string{"changed": "old\n", "removed": "old\n", "sub/" + name: "old\n"})
		exit, out := onLayer(t, s, `set -e; cat changed; f=$(ls -A sub; echo .); f="sub/${f%??}"; test -e "$f"; echo new > "$f"; echo new > changed; rm removed; mkdir -p d; cp "$f" d/; mv "$f" moved`, project)
		if exit.Code != 0 || out != "old\n" || exit.Changes == nil {
			t.Errorf("%q: %+v\n%s", name, exit, out)
			continue
		}
		if text, err := os.ReadFile(filepath.Join(project, "changed")); err != nil || string(text) != "old\n" {
			t.Errorf("%q: it reached the live file: %q, %v", name, text, err)
		}
		if err := exit.Changes.Apply(t.Context(), func(string) bool { return true }); err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		for file, want := range map[string]string{"changed": "new\n", "removed": "-", "sub/" + name: "-", "d/" + name: "new\n", "moved": "new\n"} {
			text, err := os.ReadFile(filepath.Join(project, file))
			if err != nil {
				text = []byte("-")
			}
			if string(text) != want {
				t.Errorf("%q: %q holds %q, want %q", name, file, text, want)
			}
		}
	}
	noLayers(t, s)
}

// TestNoPathInOptions: no path of the host is part of a mount option, where a comma or a
// colon would begin another one.
func TestNoPathInOptions(t *testing.T) {
	j := &job{path: "/bin/true", args: []string{"true"}, dir: "/"}
	const odd = "/home/a,upperdir=b:c"
	j.binds = []bind{{source: odd, target: odd, over: &bind{source: odd + "/upper", target: odd, write: true}}}
	s := build(j)
	for _, option := range []string{"lowerdir", "upperdir", "workdir"} {
		at := strings.Index(string(s.data), "\x00"+option+"\x00")
		if at < 0 {
			t.Fatalf("there is no option %s", option)
		}
		value, _, _ := strings.Cut(strings.TrimLeft(string(s.data[at+len(option)+2:]), "\x00"), "\x00")
		if !strings.HasPrefix(value, layersAt+"/") || strings.ContainsAny(value, ",:\\") {
			t.Errorf("%s is %q", option, value)
		}
	}
}
