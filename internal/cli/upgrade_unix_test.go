//go:build unix

package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/release"
)

// said is a program that only says its version.
func said(version string) string {
	return "#!/bin/sh\necho '{\"version\":\"" + version + "\"}'\n"
}

// publish makes a signed release of a program that only says its version.
func publish(t *testing.T, secret release.Secret, version string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	v, err := release.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	name := release.ArchiveName(v, runtime.GOOS, runtime.GOARCH)
	var archive bytes.Buffer
	gz := gzip.NewWriter(&archive)
	w := tar.NewWriter(gz)
	err = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: release.Name(v, runtime.GOOS, runtime.GOARCH) + "/toolcrib", Mode: 0o755, Size: int64(len(said(version)))})
	if err == nil {
		_, err = w.Write([]byte(said(version)))
	}
	if err != nil || w.Close() != nil || gz.Close() != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(archive.Bytes())
	sums := release.Sums{name: hex.EncodeToString(sum[:])}
	signature, err := release.Sign(secret, sums.Text(), "a test")
	if err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string][]byte{name: archive.Bytes(), release.SumsFile: sums.Text(), release.SignatureFile: signature} {
		if err := os.WriteFile(filepath.Join(dir, file), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestUpgrade: the way of a person from one release to the next, back, and out.
func TestUpgrade(t *testing.T) {
	secret, err := release.NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	file := filepath.Join(home, ".local", "bin", "toolcrib")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(said("v1.0.0")), 0o755); err != nil {
		t.Fatal(err)
	}
	own := installation{file: file, version: "v1.0.0", root: t.TempDir(), key: secret.Public()}
	run := func(status int, want string, args ...string) {
		t.Helper()
		var out bytes.Buffer
		c := &command{in: io.NopCloser(strings.NewReader("y\n")), out: &out, err: &out, environ: []string{"HOME=" + home}, dir: home, installed: &own}
		if got := c.run(t.Context(), args); got != status || !strings.Contains(out.String(), want) {
			t.Errorf("%v: %d, want %d and %q\n%s", args, got, status, want, out.String())
		}
	}
	holds := func(version string) {
		t.Helper()
		if text, err := os.ReadFile(file); err != nil || string(text) != said(version) {
			t.Errorf("%s, %v", text, err)
		}
	}
	next, older := publish(t, secret, "v1.1.0"), publish(t, secret, "v0.9.0")
	run(1, "v1.1.0 can be installed", "upgrade", "--check", "--from", next)
	run(7, "nobody is there to be asked", "upgrade", "--from", next)
	holds("v1.0.0")
	run(0, "is v1.1.0 now", "upgrade", "--yes", "--from", next)
	holds("v1.1.0")
	own.version = "v1.1.0"
	run(0, "this release already", "upgrade", "--yes", "--from", next)
	run(0, "no newer release", "upgrade", "--check", "--from", older)
	run(5, "--allow-older", "upgrade", "--yes", "--from", older)
	holds("v1.1.0")
	run(0, "is v1.0.0 again", "upgrade", "--rollback", "--yes")
	holds("v1.0.0")
	run(0, "is v0.9.0 now", "upgrade", "--yes", "--allow-older", "--from", older)
	holds("v0.9.0")

	// A package manager that owns the file.
	list := filepath.Join(own.root, "var", "lib", "dpkg", "info", "toolcrib.list")
	if err := os.MkdirAll(filepath.Dir(list), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(list, []byte(file+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(5, "sudo apt install", "upgrade", "--yes", "--from", next)
	run(5, "sudo apt install", "upgrade", "--yes", "--rollback")
	run(0, "sudo apt remove toolcrib", "uninstall", "--yes")
	holds("v0.9.0")
	if err := os.Remove(list); err != nil {
		t.Fatal(err)
	}
	run(0, "Done: remove the program "+file, "uninstall", "--yes")
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}
