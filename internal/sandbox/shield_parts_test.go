package sandbox_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/files"
)

// TestShieldParts: what is protected by a name of several parts is hidden where
// one of them is a link, and the link stays; a link to an exception hides nothing.
func TestShieldParts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there that people seldom have")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	plantTree(t, root, "work/k8s/config", "work/k8s/job.yaml", "work/dot/gcloud/a", "work/dot/other", "work/up/.kube-not/x", "work/.env.example", "work/mine/a.txt", "outside/config")
	for link, target := range map[string]string{"work/.kube": "k8s", "work/.config": "dot", "work/up/.kube": "..", "work/.docker": "../outside", "work/.env": ".env.example", "work/my": "mine"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	s := shield(t, "", append(files.DefaultProtected(), "my/*.txt"), nil)
	want := []string{
		"pin work/.config", "pin work/.kube", "pin work/dot/", "hide work/dot/gcloud/", "pin work/k8s/", "hide work/k8s/config", "pin work/mine/", "hide work/mine/a.txt", "pin work/my",
	}
	if diff := cmp.Diff(want, covers(t, s, root, files.Dir{Path: filepath.Join(root, "work"), Write: true})); diff != "" {
		t.Errorf("covers (-want +got):\n%s", diff)
	}
}

// TestShieldBehindLinks: so is what the links in a hidden directory lead to, and in
// one to which a protected name leads.
func TestShieldBehindLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there that people seldom have")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	plantTree(t, root, "work/cloud/a", "work/store/cr", "work/store/k", "work/store/n", "work/store/hosts", "work/store/other", "work/.private/a", "work/far/a", "work/pkg/a.js")
	for link, target := range map[string]string{
		"work/.aws": "cloud", "work/cloud/credentials": "../store/cr", "work/.private/k": "../store/k", "work/.private/far": "../far", "work/far/n": "../store/n",
		"work/.private/up": "..", "work/.private/self": "a", "work/.private/gone": "../store/gone",
		"work/.config": "dot", "work/dot/gh": "../ghx", "work/ghx/hosts.yml": "../store/hosts", "work/ghx/other": "../store/other",
	} {
		plantTree(t, root, filepath.Dir(link)+"/x")
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	s := shield(t, "", []string{".aws", ".private", ".config/gh/hosts.yml"}, nil)
	var hidden []string
	for _, c := range covers(t, s, root, files.Dir{Path: filepath.Join(root, "work"), Write: true}) {
		if name, ok := strings.CutPrefix(c, "hide work/"); ok {
			hidden = append(hidden, name)
		}
	}
	if diff := cmp.Diff([]string{".private/", "cloud/", "far/", "store/cr", "store/hosts", "store/k", "store/n"}, hidden); diff != "" {
		t.Errorf("hidden (-want +got):\n%s", diff)
	}
}

// TestShieldBehindMany: hidden directories that a program made keep none of a
// person's own from being looked into; and if there are too many, nothing starts.
func TestShieldBehindMany(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there that people seldom have")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	plantTree(t, root, "work/store/k", "work/z/.private/a")
	if err := os.Symlink("../../store/k", filepath.Join(root, "work", "z", ".private", "k")); err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		if err := os.MkdirAll(filepath.Join(root, "work", "a", strconv.Itoa(i), ".private"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := shield(t, "", []string{".private"}, nil)
	work := files.Dir{Path: filepath.Join(root, "work"), Write: true}
	if got := covers(t, s, root, work); !slices.Contains(got, "hide work/store/k") {
		t.Errorf("store/k lies open: %q", got)
	}
	for i := range 20 {
		for j := range 900 {
			if err := os.MkdirAll(filepath.Join(root, "work", "a", strconv.Itoa(i), ".private", strconv.Itoa(j)), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := s.Covers([]files.Dir{work}); err == nil || !strings.Contains(err.Error(), "directories in protected ones") {
		t.Errorf("too many: %v", err)
	}
}
