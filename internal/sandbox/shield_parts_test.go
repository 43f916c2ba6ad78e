package sandbox_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
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
	s := shield(t, "", append(toolcrib.DefaultProtected(), "my/*.txt"), nil)
	want := []string{
		"pin work/.config", "pin work/.kube", "pin work/dot/", "hide work/dot/gcloud/", "pin work/k8s/", "hide work/k8s/config", "pin work/mine/", "hide work/mine/a.txt", "pin work/my",
	}
	if diff := cmp.Diff(want, covers(t, s, root, toolcrib.Dir{Path: filepath.Join(root, "work"), Write: true})); diff != "" {
		t.Errorf("covers (-want +got):\n%s", diff)
	}
}
