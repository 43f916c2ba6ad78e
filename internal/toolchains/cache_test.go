package toolchains

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCaches: each project has its own place, and it can be removed although Go
// leaves directories in it that nobody may write, and links that lead elsewhere.
func TestCaches(t *testing.T) {
	t.Parallel()
	all, elsewhere := filepath.Join(place(t), "caches"), place(t)
	if found, err := Caches(all); err != nil || len(found) != 0 {
		t.Fatalf("%v, %v", found, err)
	}
	old := time.Now().Add(-40 * 24 * time.Hour)
	one, err := OpenCache(all, "/home/you/one", old)
	if err != nil {
		t.Fatal(err)
	}
	two, err := OpenCache(all, "/home/you/two", time.Now())
	if err != nil || one == two {
		t.Fatalf("%s, %s: %v", one, two, err)
	}
	if again, err := OpenCache(all, "/home/you/one", old); err != nil || again != one {
		t.Fatalf("%s: %v", again, err)
	}
	put(t, elsewhere, map[string]string{"kept": "x"})
	put(t, one, map[string]string{"go-mod/m@v1/a.go": strings.Repeat("x", 5000), "go-mod/link": "->" + elsewhere})
	closed := below(one, "go-mod/m@v1")
	for _, dir := range []string{closed, elsewhere} {
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
	}
	found, err := Caches(all)
	if err != nil || len(found) != 2 || found[0].Project != "/home/you/one" || time.Since(found[0].Used) < 39*24*time.Hour {
		t.Fatalf("%+v, %v", found, err)
	}
	if found[0].Measure(100); found[0].Bytes < 5000 || found[0].Bytes > 6000 {
		t.Errorf("%d bytes", found[0].Bytes)
	}
	if found[0].Measure(2); found[0].Entries != 2 {
		t.Errorf("%d entries were counted", found[0].Entries)
	}
	if err := found[0].Remove(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(elsewhere); err != nil || info.Mode().Perm() != 0o555 {
		t.Errorf("a link was followed: %v, %v", info, err)
	}
	if left, err := Caches(all); err != nil || len(left) != 1 || left[0].Project != "/home/you/two" {
		t.Errorf("%+v, %v", left, err)
	}
}

func TestCacheEnvStaysInItsPlace(t *testing.T) {
	t.Parallel()
	for name, value := range CacheEnv() {
		if strings.Contains(value, "/") && !strings.Contains(value, CachePlace+"/") {
			t.Errorf("%s is %s", name, value)
		}
	}
}

func TestGitIdentity(t *testing.T) {
	t.Parallel()
	dir := place(t)
	put(t, dir, map[string]string{
		"system":  "[user]\n\tname = Machine\n\temail = m@example.org\n",
		"own":     "[user]\n\tname = Ada L.\n[core]\n\tfsmonitor = evil\n",
		"hostile": "[user]\n\tname = \"a\\\"\\n[core]\\n\\tpager = evil\"\n\temail = x@example.org\n",
		"half":    "[user]\n\tname = Ada\n",
	})
	at := func(names ...string) (out []string) {
		for _, n := range names {
			out = append(out, filepath.Join(dir, n))
		}
		return out
	}
	if got := GitIdentity(at("missing", "system", "own")); got != "[user]\n\tname = \"Ada L.\"\n\temail = \"m@example.org\"\n" {
		t.Errorf("%q", got)
	}
	if got := GitIdentity(at("hostile")); strings.Contains(got, "core") || got != "" {
		t.Errorf("%q", got)
	}
	if got := GitIdentity(at("half")); got != "" {
		t.Errorf("%q", got)
	}
}
