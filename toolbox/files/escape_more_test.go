//go:build unix

package files

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// TestPatternEscapes: no pattern finds what is outside or protected, though a
// careless glob would.
func TestPatternEscapes(t *testing.T) {
	a := newArena(t)
	before := a.snapshot(t)
	tried := 0
	for pattern, careless := range map[string]string{
		"../*": "", "../**": "../*", "../out/*": "", "../out/sub/*": "", "**/../../out/*": "dir/../../out/*", "link-dir/*": "", "link-dir/**": "link-dir/sub/*", "link-*/*": "", "*/sub/*": "", "{..,dir}/*": "../*",
		"{../out,x}/*": "../out/*", a.out + "/*": "/proc/self/root" + a.out + "/*", "[.][.]/*": "../*", `\.\./out/*`: "../out/*", "..": "", "*/../../out/*": "dir/../../out/*", ".git/**": ".git/hooks/*", ".git/hooks/*": "", ".git/con*": "",
		"**/config": "*/config", "**/hooks/*": "*/hooks/*", ".env*": "", ".[e]nv": "", "**/.env": "*/.env", ".*": "", "?env": "", "{.env,x}": ".env", "loop*/../../out/*": "dir/../../out/*", "link-up/*/*": "", "link-root/etc/pass*": "",
		"bare/**": "bare/con*", "[b]are/hooks/*": "bare/hooks/*", "**/" + canaryName + "*": "../out/" + canaryName + "*", "../work2/*": "", "../state/*": "", "link-self/.git/*": "", "link-self/../out/*": "../out/*",
	} {
		as := careless
		if as == "" {
			as = pattern
		}
		if !filepath.IsAbs(as) {
			as = a.dir + "/" + as
		}
		if hits, err := filepath.Glob(as); err != nil || len(hits) == 0 {
			t.Errorf("%s finds nothing even for the careless: %v", pattern, err)
		}
		for _, path := range []string{".", "dir", "link-self", a.dir, ".git", "bare"} {
			for _, c := range []struct {
				tool string
				in   map[string]any
			}{
				{"list_files", map[string]any{"path": path, "pattern": pattern, "recursive": true}},
				{"list_files", map[string]any{"path": path, "pattern": pattern, "gitignore": true}},
				{"find_files", map[string]any{"path": path, "glob": pattern}},
				{"search_files", map[string]any{"path": path, "pattern": "CANARY|root:", "regex": true, "file_pattern": pattern, "context": 1}},
			} {
				tried++
				out, fault := a.call(t, c.tool, c.in)
				text := fmt.Sprint(out["files"], out["matches"])
				if strings.Contains(text+fault, canary) || strings.Contains(text, canaryName) || strings.Contains(text, "root:x:0") || strings.Contains(text, "pre-commit") {
					t.Errorf("%s %v: %.300s %s", c.tool, c.in, text, fault)
				}
			}
		}
	}
	if diff := cmp.Diff(before, a.snapshot(t)); diff != "" {
		t.Errorf("looking changed something:\n%s", diff)
	}
	t.Logf("%d calls", tried)
}

// TestWideGrant: even with the whole machine granted for reading, the parts of
// it that are no files of anybody stay out of reach, and the secrets of the
// home, whatever mount or link leads there.
func TestWideGrant(t *testing.T) {
	a := newArena(t)
	a.Grant = toolcrib.Grant{Dirs: []files.Dir{{Path: "/"}}}
	secret, err := os.Open(filepath.Join(a.out, ".ssh", "id_rsa"))
	if err != nil {
		t.Fatal(err)
	}
	defer secret.Close()
	if out := a.must(t, "read_file", map[string]any{"path": filepath.Join(a.out, "secret.txt")}); out["content"] != canary+"\n" {
		t.Fatalf("the grant is not wide: %v", out) // else the rest shows nothing
	}
	ssh := filepath.Join(a.out, ".ssh", "id_rsa")
	names := []string{
		"/proc/self/environ", "/proc/self/mem", "/proc/self/maps", "/proc/self/cmdline", "/proc/version", "/proc/cpuinfo", "/proc/self/status", "/sys/kernel/mm", "/dev/zero", "/dev/null", "/dev/full", "/dev/random", "/dev/stdin", "/dev/fd/0",
		fmt.Sprintf("/proc/self/fd/%d", secret.Fd()), fmt.Sprintf("/dev/fd/%d", secret.Fd()), fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), secret.Fd()), fmt.Sprintf("/proc/%d/environ", os.Getpid()), "/proc/self/root" + ssh, "/proc/self/cwd", "/proc/self/root/etc/passwd",
		"/proc/thread-self/environ", "/proc", "/sys", "/proc/self/../self/environ", "/dev/../proc/version",
		ssh, filepath.Join(a.out, ".ssh"), filepath.Join(a.out, ".bashrc"), a.dir + "/link-up/out/.ssh/id_rsa", a.dir + "/link-root" + ssh, a.dir + "/link-dir/.bashrc", a.dir + "/link-root/proc/version", filepath.Join(a.base, "state", "journal.db"),
	}
	for _, p := range []string{".env", ".git/config", ".git/hooks/pre-commit", "bare/config", "dir/.env"} {
		names = append(names, filepath.Join(a.dir, p))
	}
	tried := 0
	for _, name := range names {
		if _, err := os.Stat(name); err != nil {
			continue // not to be had here
		}
		tried++
		for _, c := range append(moreCalls(name), calls(name)...) {
			out, fault := a.raw(t, c.Tool, c.Input)
			files, _ := out["files"].([]any)
			if text := fmt.Sprint(out) + fault; fault == "" && (len(files) > 0 || !strings.Contains(c.Tool, "_files")) || strings.Contains(text, canary) || strings.Contains(text, "PATH=") {
				t.Errorf("%s %s: %.300s", c.Tool, name, text)
			}
		}
	}
	t.Logf("%d names", tried)
	if tried < 12 {
		t.Errorf("only %d names", tried)
	}
}
