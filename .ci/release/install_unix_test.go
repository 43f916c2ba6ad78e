//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/release"
)

// installer is install.sh with another key, a release of a program that only says
// its version, and a PATH with one way to check signatures.
type installer struct {
	t                         *testing.T
	script, release, to, path string
}

func newInstaller(t *testing.T, secret release.Secret, checks ...string) *installer {
	t.Helper()
	i := &installer{t: t, release: t.TempDir(), to: filepath.Join(t.TempDir(), "bin"), path: t.TempDir()}
	script, err := os.ReadFile("../../install.sh")
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`(?m)^key='.*'$`).ReplaceAllLiteralString(string(script), "key='"+secret.Public().Text()+"'")
	text = regexp.MustCompile(`(?m)^ssh_key='.*'$`).ReplaceAllLiteralString(text, "ssh_key='"+secret.Public().SSH()+"'")
	i.script = filepath.Join(t.TempDir(), "install.sh")
	i.put(i.script, text)
	for _, name := range append([]string{"sh", "uname", "mktemp", "cp", "chmod", "mv", "mkdir", "rm", "wc", "sed", "tail", "head", "cut", "grep", "tar", "gzip", "sha256sum", "shasum"}, checks...) {
		if file, err := exec.LookPath(name); err == nil {
			if err := os.Symlink(file, filepath.Join(i.path, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := &making{out: i.release, sums: release.Sums{}, say: t.Logf, src: &source{version: version(t, "v1.2.3"), date: someDay}}
	if err := r.archive(target{runtime.GOOS, runtime.GOARCH}, []byte("#!/bin/sh\necho toolcrib v1.2.3\n"), extras{}); err != nil {
		t.Fatal(err)
	}
	if err := r.sign(&secret); err != nil {
		t.Fatal(err)
	}
	return i
}

func (i *installer) put(file, text string) {
	i.t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
		i.t.Fatal(err)
	}
}

func (i *installer) run(args ...string) (string, error) {
	cmd := exec.CommandContext(i.t.Context(), "/bin/sh", append([]string{i.script, "--from", i.release, "--to", i.to}, args...)...)
	cmd.Env = []string{"PATH=" + i.path, "HOME=" + filepath.Dir(i.to), "TMPDIR=" + i.t.TempDir()}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// refused: it fails for this reason, and there is no program.
func (i *installer) refused(why string, args ...string) {
	i.t.Helper()
	if out, err := i.run(args...); err == nil || !strings.Contains(out, why) {
		i.t.Errorf("want %q: %v\n%s", why, err, out)
	}
	if left, _ := os.ReadDir(i.to); len(left) > 0 {
		i.t.Errorf("left behind: %v", left)
	}
}

// TestInstall: with each way to check a signature that this machine has, a good
// release is installed, and a changed one is not.
func TestInstall(t *testing.T) {
	secret, err := release.NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	other, err := release.NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	for _, check := range []string{"minisign", "openssl", "ssh-keygen"} {
		if _, err := exec.LookPath(check); err != nil {
			continue // "none" below is what a machine without it does
		}
		t.Run(check, func(t *testing.T) {
			i := newInstaller(t, secret, check)
			out, err := i.run()
			if check == "openssl" && err != nil && strings.Contains(out, "cannot be checked here") {
				return // an older one, which is as good as none
			}
			if err != nil || !strings.Contains(out, "toolcrib v1.2.3") {
				t.Fatalf("%v\n%s", err, out)
			}
			if _, err := os.Stat(filepath.Join(i.to, "toolcrib")); err != nil {
				t.Error(err)
			}
			i = newInstaller(t, secret, check)
			sums := filepath.Join(i.release, release.SumsFile)
			text, err := os.ReadFile(sums)
			if err != nil {
				t.Fatal(err)
			}
			i.put(sums, strings.Replace(string(text), "1.2.3", "1.2.4", 1))
			i.refused("NOT good")
			i = newInstaller(t, secret, check)
			forged := newInstaller(t, other, check)
			i.release = forged.release
			i.refused("NOT good")
		})
	}
	t.Run("none", func(t *testing.T) {
		i := newInstaller(t, secret)
		i.refused("cannot be checked here")
		i.refused("not the one that you named", "--checksums-sha256", strings.Repeat("0", 64))
		text, err := os.ReadFile(filepath.Join(i.release, release.SumsFile))
		if err != nil {
			t.Fatal(err)
		}
		sum := strings.TrimPrefix(digest(text), "sha256:")
		// The list is good, and the archive is not.
		name := filepath.Join(i.release, release.ArchiveName(version(t, "v1.2.3"), runtime.GOOS, runtime.GOARCH))
		archive, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		i.put(name, string(archive[:len(archive)-1]))
		i.refused("does not have the checksum", "--checksums-sha256", sum)
		i.put(name, string(archive))
		if out, err := i.run("--checksums-sha256", sum); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("plain http", func(t *testing.T) {
		i := newInstaller(t, secret)
		i.release = "http://releases.example.com"
		i.refused("plain http is not used")
		for _, elsewhere := range []string{"http://localhost:1@releases.example.com", "http://127.0.0.1/@x", `http://localhost:1\@releases.example.com`} {
			i.release = elsewhere
			i.refused("is not used")
		}
	})
}
