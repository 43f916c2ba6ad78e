package conformance

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// githubPackage is GitHub's own OpenAPI document, typescriptPackage the compiler. They are fetched into a directory of the test, and
// nothing of them is kept.
const (
	githubPackage     = "@octokit/openapi@23.0.2"
	typescriptPackage = "typescript@5.9.3"
)

// fetchPackage has npm fetch a package, and gives its archive.
func fetchPackage(t *testing.T, name string) string {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Fatal(errNoNpm)
	}
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	for try := 1; ; try++ {
		cmd := exec.CommandContext(ctx, npm, "pack", name, "--silent", "--pack-destination", dir)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err == nil {
			break
		}
		if try == 3 || ctx.Err() != nil {
			t.Fatalf("npm pack %s: %v\n%s", name, err, out)
		}
	}
	found, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	return found[0]
}

// eachFile reads the files of an archive that are wanted, one after the other.
func eachFile(archive string, want func(name string) bool, do func(name string, text []byte)) (err error) {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	packed, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	for files := tar.NewReader(packed); ; {
		head, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(head.Name, "package/")
		if head.Typeflag != tar.TypeReg || !want(name) {
			continue
		}
		text, err := io.ReadAll(files)
		if err != nil {
			return err
		}
		do(name, text)
	}
}

// githubDocument is GitHub's document. It is fetched once.
func githubDocument(t *testing.T) []byte {
	t.Helper()
	github.Do(func() {
		err := eachFile(fetchPackage(t, githubPackage), func(name string) bool { return name == "generated/api.github.com.json" }, func(_ string, found []byte) { github.text = found })
		if err != nil {
			t.Error(err)
		}
	})
	if github.text == nil {
		t.Fatal("there is no document of GitHub")
	}
	return github.text
}

var github struct {
	sync.Once
	text []byte
}
