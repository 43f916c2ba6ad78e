package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/release"
)

var someDay = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func someFiles() []file {
	return []file{{"b/x", 0o755, []byte("program")}, {"a", 0o644, []byte("text")}, {"b/c/y", 0o644, nil}}
}

func version(t *testing.T, text string) release.Version {
	t.Helper()
	v, err := release.ParseVersion(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// contents reads a tar, compressed or not.
func contents(t *testing.T, archive []byte) (names []string, files map[string]string, headers map[string]*tar.Header) {
	t.Helper()
	var r io.Reader = bytes.NewReader(archive)
	if gz, err := gzip.NewReader(bytes.NewReader(archive)); err == nil {
		r = gz
	}
	files, headers = map[string]string{}, map[string]*tar.Header{}
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return names, files, headers
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		names, headers[h.Name] = append(names, h.Name), h
		files[h.Name] = string(text)
	}
}

// TestArchivesAreTheSame: the order in which files come, and when, changes nothing.
func TestArchivesAreTheSame(t *testing.T) {
	turned := someFiles()
	slices.Reverse(turned)
	for name, pack := range map[string]func([]file, time.Time) ([]byte, error){"tar.gz": targz, "zip": zipped} {
		one, err := pack(someFiles(), someDay)
		if err != nil {
			t.Fatal(err)
		}
		two, err := pack(turned, someDay)
		if err != nil || !bytes.Equal(one, two) {
			t.Errorf("%s: %v", name, err)
		}
	}
	archive, err := targz(someFiles(), someDay)
	if err != nil {
		t.Fatal(err)
	}
	names, _, headers := contents(t, archive)
	if !slices.Equal(names, []string{"a", "b/", "b/c/", "b/c/y", "b/x"}) {
		t.Error(names)
	}
	if h := headers["b/x"]; h.Mode != 0o755 || h.Uid != 0 || h.Uname != "" || !h.ModTime.Equal(someDay) {
		t.Errorf("%+v", h)
	}
}

// TestArchiveUnpacks: what is made here is what an upgrade unpacks.
func TestArchiveUnpacks(t *testing.T) {
	for _, goos := range []string{"linux", "windows"} {
		r := &making{out: t.TempDir(), sums: release.Sums{}, say: t.Logf, src: &source{version: version(t, "v1.2.3"), date: someDay}}
		if err := r.archive(target{goos, "amd64"}, []byte("program"), extras{}); err != nil {
			t.Fatal(err)
		}
		if err := r.sign(nil); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(r.out, release.SumsFile))
		if err != nil {
			t.Fatal(err)
		}
		sums, err := release.ParseSums(text)
		if err != nil {
			t.Fatal(err)
		}
		name, _, err := sums.Archive(goos, "amd64")
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(r.out, name))
		if err != nil {
			t.Fatal(err)
		}
		var got []byte
		err = release.Unpack(bytes.NewReader(content), int64(len(content)), name, func(r io.Reader) (err error) {
			got, err = io.ReadAll(r)
			return err
		})
		if err != nil || string(got) != "program" {
			t.Errorf("%s: %q, %v", goos, got, err)
		}
	}
}

// A page in an archive leads nowhere inside it that is not there.
func TestLinksOfPagesInAnArchive(t *testing.T) {
	const base = "https://github.com/toolcrib/toolcrib/blob/main/"
	got := string(linked([]byte("![x](docs/a.svg) [y](docs/b.md#c) [z](LICENSE) [c](CONTRIBUTING.md)")))
	if want := "![x](" + base + "docs/a.svg) [y](" + base + "docs/b.md#c) [z](LICENSE) [c](" + base + "CONTRIBUTING.md)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestDebian(t *testing.T) {
	deb, err := debian(version(t, "v1.2.3-rc.1"), "arm64", someDay, []file{{"usr/bin/toolcrib", 0o755, []byte("program")}})
	if err != nil {
		t.Fatal(err)
	}
	rest, ok := bytes.CutPrefix(deb, []byte("!<arch>\n"))
	parts := map[string][]byte{}
	for ok && len(rest) > 0 {
		if len(rest) < 60 || string(rest[58:60]) != "`\n" {
			t.Fatalf("%q", rest)
		}
		size, err := strconv.Atoi(strings.TrimSpace(string(rest[48:58])))
		if err != nil {
			t.Fatal(err)
		}
		parts[strings.TrimSpace(string(rest[:16]))] = rest[60 : 60+size]
		rest = rest[60+size+size%2:]
	}
	if string(parts["debian-binary"]) != "2.0\n" {
		t.Errorf("%q", parts["debian-binary"])
	}
	names, control, _ := contents(t, parts["control.tar.gz"])
	if !slices.Equal(names, []string{"./", "./control", "./md5sums"}) || !strings.Contains(control["./control"], "Version: 1.2.3~rc.1\nArchitecture: arm64\n") {
		t.Errorf("%v\n%s", names, control["./control"])
	}
	if names, data, _ := contents(t, parts["data.tar.gz"]); !slices.Equal(names, []string{"./", "./usr/", "./usr/bin/", "./usr/bin/toolcrib"}) || data["./usr/bin/toolcrib"] != "program" {
		t.Error(names)
	}
	for v, want := range map[string]string{"v1.2.3": "1.2.3", "v0.0.0-20260102030405-abcdef": "0.0.0~20260102030405.abcdef", "v1.2.3+x": "1.2.3+x"} {
		if got := debianVersion(version(t, v)); got != want {
			t.Errorf("%s is %s", v, got)
		}
	}
}

// TestImage: every digest of the layout is that of what it names, and the program is
// nobody's but root's.
func TestImage(t *testing.T) {
	archive, err := image{version: "v1.2.3", commit: "c", date: someDay, arch: "amd64", program: []byte("program"), roots: []byte("roots")}.archive()
	if err != nil {
		t.Fatal(err)
	}
	_, files, _ := contents(t, archive)
	read := func(name string, v any) {
		t.Helper()
		if err := json.Unmarshal([]byte(files[name]), v); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	for name, content := range files {
		if sum, ok := strings.CutPrefix(name, "blobs/sha256/"); ok && sum != "" {
			if got := sha256.Sum256([]byte(content)); hex.EncodeToString(got[:]) != sum {
				t.Error(name)
			}
		}
	}
	var index struct{ Manifests []descriptor }
	read("index.json", &index)
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	read(blobName(index.Manifests[0].Digest), &manifest)
	var config struct {
		Config struct {
			User            string
			Entrypoint, Cmd []string
		}
		Rootfs struct {
			IDs []string `json:"diff_ids"`
		}
	}
	read(blobName(manifest.Config.Digest), &config)
	if config.Config.User != "65532:65532" || !slices.Equal(config.Config.Cmd, []string{"serve"}) {
		t.Errorf("%+v", config)
	}
	layer := files[blobName(manifest.Layers[0].Digest)]
	gz, err := gzip.NewReader(strings.NewReader(layer))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(gz)
	if err != nil || digest(plain) != config.Rootfs.IDs[0] {
		t.Error(err)
	}
	_, inside, headers := contents(t, plain)
	if h := headers["usr/bin/toolcrib"]; inside["usr/bin/toolcrib"] != "program" || h.Uid != 0 || h.Mode != 0o755 {
		t.Errorf("%+v", h)
	}
	if h := headers["data/"]; h.Uid != nobody || h.Mode != 0o700 {
		t.Errorf("%+v", h)
	}
	var docker []struct {
		Config string
		Layers []string
	}
	if read("manifest.json", &docker); docker[0].Config != blobName(manifest.Config.Digest) || files[docker[0].Layers[0]] != layer {
		t.Errorf("%+v", docker)
	}
}

func TestBOM(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	parts := components{"example.com/a": {"example.com/a", "v1.0.0"}}
	if _, err := parts.add(f); err != nil || parts[goModule].version == "" {
		t.Fatal(err)
	}
	one, err := parts.bom("v1.2.3", someDay, map[string]string{"example.com/a": "MIT"})
	if err != nil {
		t.Fatal(err)
	}
	two, err := parts.bom("v1.2.3", someDay, map[string]string{"example.com/a": "MIT"})
	if err != nil || !bytes.Equal(one, two) || !bytes.Contains(one, []byte(`"purl": "pkg:golang/example.com/a@v1.0.0"`)) || !bytes.Contains(one, []byte(`"id": "MIT"`)) {
		t.Errorf("%v\n%s", err, one)
	}
}

func TestLicenceOf(t *testing.T) {
	own, err := os.ReadFile("../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		string(own): "Apache-2.0",
		"Redistribution and use in source and\nbinary forms, with … * Neither the name of": "BSD-3-Clause",
		"Redistribution and use in source and binary forms":                                "BSD-2-Clause",
		"All rights reserved.": "",
	} {
		if got := licenceOf([]byte(text)); got != want {
			t.Errorf("%.40q: %s", text, got)
		}
	}
}

// TestKeys: a key that the program does not trust signs nothing, and the installer
// has the key that the program has.
func TestKeys(t *testing.T) {
	secret, err := release.NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	get := func(name string) string { return env[name] }
	if s, err := secretKey(get); s != nil || err != nil {
		t.Error(s, err)
	}
	env[keyVariable] = string(secret.File())
	if _, err := secretKey(get); err == nil || !strings.Contains(err.Error(), "does not belong") {
		t.Error(err)
	}
	env[keyFileVariable] = "x"
	if _, err := secretKey(get); err == nil || !strings.Contains(err.Error(), "want one") {
		t.Error(err)
	}
	trusted, err := release.Trusted()
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("../../install.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"\nkey='" + trusted.Text() + "'\n", "\nssh_key='" + trusted.SSH() + "'\n"} {
		if !strings.Contains(string(script), line) {
			t.Errorf("install.sh lacks %s", line)
		}
	}
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "internal", "release"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "install.sh"), script, 0o600); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(root, "secret")
	if err := newKey(root, name); err != nil {
		t.Fatal(err)
	}
	if err := newKey(root, name); err == nil {
		t.Error("a key was written over another")
	}
}

func TestTargets(t *testing.T) {
	if list, err := parseTargets(""); err != nil || len(list) != 6 {
		t.Error(list, err)
	}
	if list, err := parseTargets("linux/arm64,windows/amd64"); err != nil || len(list) != 2 {
		t.Error(list, err)
	}
	if _, err := parseTargets("plan9/amd64"); err == nil {
		t.Error("a system that is not built for")
	}
}
