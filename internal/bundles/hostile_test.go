package bundles

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// zipped makes an archive of entries that are written as they are.
func zipped(t *testing.T, entries ...zip.FileHeader) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, h := range entries {
		text := h.Comment
		h.Comment, h.Method = "", zip.Deflate
		e, err := w.CreateHeader(&h)
		if err == nil && !strings.HasSuffix(h.Name, "/") {
			_, err = e.Write([]byte(text))
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

func plain(name, text string) zip.FileHeader { return zip.FileHeader{Name: name, Comment: text} }

func ofMode(name, text string, mode fs.FileMode) zip.FileHeader {
	h := plain(name, text)
	h.SetMode(mode)
	return h
}

// lying makes an archive whose head says another size than the file has.
func lying(t *testing.T, said uint64, text []byte) []byte {
	t.Helper()
	var packed bytes.Buffer
	z, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	e, err := w.CreateRaw(&zip.FileHeader{Name: "SKILL.md", Method: zip.Deflate, UncompressedSize64: said, CompressedSize64: uint64(packed.Len())})
	if err == nil {
		_, err = e.Write(packed.Bytes())
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// hostile are archives that are refused, each with why.
func hostile(t *testing.T) map[string]struct {
	data []byte
	why  string
} {
	good := plain("SKILL.md", skillText("one"))
	out := map[string]struct {
		data []byte
		why  string
	}{}
	add := func(name, why string, data []byte) {
		out[name] = struct {
			data []byte
			why  string
		}{data, why}
	}
	for i, name := range []string{
		"../evil", "../../../../../../tmp/evil", "/tmp/evil", "a/../../evil", "./../evil", `..\evil`, `C:\evil`, "C:/evil", "//server/share/evil", `\\server\evil`, "a/./../../evil",
		"con", "a/nul.txt", "COM1", "evil.", "evil ", " evil", "a\x00b", "a\nb", "a:b", "a*b", "a\u202eb", "a\xffb", strings.Repeat("x", 600), strings.Repeat("d/", 40) + "x", "..", "a/..", "lpt9.md", "a/\u200b/b",
	} {
		why := map[bool]string{true: "the path", false: ""}[name != ""]
		add(fmt.Sprintf("zip slip %d.zip", i), why, zipped(t, good, plain(name, "evil")))
		if !strings.ContainsAny(name, "\x00\n") && utf8.ValidString(name) && len(name) < 200 {
			add(fmt.Sprintf("tar slip %d.tgz", i), why, tgz(t, []tar.Header{{Name: "SKILL.md", Typeflag: tar.TypeReg, Mode: 0o644, Linkname: good.Comment}, {Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Linkname: "evil"}}))
		}
	}
	add("a link.zip", "a link", zipped(t, good, ofMode("link", "/etc", fs.ModeSymlink|0o777)))
	add("a link and a file below it.zip", "a link", zipped(t, good, ofMode("dir", "..", fs.ModeSymlink|0o777), plain("dir/evil", "evil")))
	add("a device.zip", "no file", zipped(t, good, ofMode("dev", "", fs.ModeDevice|0o666)))
	add("a pipe.zip", "no file", zipped(t, good, ofMode("pipe", "", fs.ModeNamedPipe|0o666)))
	add("a folder that is a file.zip", "a folder by one word", zipped(t, good, ofMode("dir", "x", fs.ModeDir|0o755)))
	add("a link.tgz", "a link", tgz(t, []tar.Header{{Name: "SKILL.md", Typeflag: tar.TypeReg, Mode: 0o644, Linkname: good.Comment}, {Name: "link", Typeflag: tar.TypeSymlink, Linkname: "/etc"}}))
	add("a hard link.tgz", "a link", tgz(t, []tar.Header{{Name: "link", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}, {Name: "SKILL.md", Typeflag: tar.TypeReg, Mode: 0o644, Linkname: good.Comment}}))
	add("a device.tgz", "no file", tgz(t, []tar.Header{{Name: "dev", Typeflag: tar.TypeChar, Devmajor: 1}}))
	add("a pipe.tgz", "no file", tgz(t, []tar.Header{{Name: "pipe", Typeflag: tar.TypeFifo}}))
	add("a repository.zip", "a repository of its own", zipped(t, good, plain(".git/config", "[core]\nfsmonitor = evil")))
	add("a repository below.zip", "a repository of its own", zipped(t, good, plain("a/.GIT", "gitdir: /tmp")))
	add("twice.zip", "twice", zipped(t, good, good))
	add("twice.tgz", "twice", tgz(t, []tar.Header{{Name: "a", Typeflag: tar.TypeReg, Mode: 0o644, Linkname: "1"}, {Name: "./a", Typeflag: tar.TypeReg, Mode: 0o644, Linkname: "2"}}))
	add("other letter case.zip", "one name on some systems", zipped(t, good, plain("skill.MD", "evil")))
	add("folders of other letter case.zip", "one name on some systems", zipped(t, good, plain("Dir/a", "1"), plain("dir/b", "2")))
	add("a file and a folder.zip", "a file and a folder", zipped(t, good, plain("a", "1"), plain("a/b", "2")))
	add("a folder and a file.zip", "a file and a folder", zipped(t, good, plain("a/b", "2"), plain("a", "1")))
	add("long s.zip", "one name on some systems", zipped(t, plain("s", "1"), plain("\u017f", "2")))
	zeros := make([]byte, 40<<20)
	add("a bomb.zip", "a bomb", zipped(t, good, plain("zeros", string(zeros))))
	add("a bomb.tgz", "a bomb", tgz(t, []tar.Header{{Name: "zeros", Typeflag: tar.TypeReg, Mode: 0o644, Linkname: string(zeros)}}))
	add("a bomb in another folder.tgz", "a bomb", tgz(t, []tar.Header{{Name: "a/zeros", Typeflag: tar.TypeReg, Mode: 0o644, Linkname: string(zeros)}, {Name: "b", Typeflag: tar.TypeReg, Mode: 0o644}}))
	add("a size that is too small.zip", "", lying(t, 10, zeros[:1<<20]))
	add("a size that is too large.zip", "larger than", lying(t, 1<<40, zeros[:100]))
	var many []zip.FileHeader
	for i := range maxFiles + 1 {
		many = append(many, plain(fmt.Sprintf("f%d", i), ""))
	}
	add("many files.zip", "more than 5000 files", zipped(t, many...))
	add("no archive.zip", "cannot be read", []byte("PK\x03\x04 nothing"))
	add("no archive.tgz", "cannot be read", []byte("nothing"))
	add("half an archive.tgz", "", texts{"SKILL.md": skillText("one") + strings.Repeat("unpackable 1 2 3", 4000)}.tgz(t, "")[:200])
	add("nothing.zip", "no package", zipped(t))
	locked := plain("secret", "x")
	locked.Flags |= 1
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	e, err := w.CreateRaw(&locked)
	if err == nil {
		_, err = io.WriteString(e, "")
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	add("encrypted.zip", "encrypted", b.Bytes())
	return out
}

// TestHostileArchives: each is refused with its reason, and nothing anywhere is changed.
func TestHostileArchives(t *testing.T) {
	t.Parallel()
	b := person(t)
	install(t, b, texts{"SKILL.md": skillText("one")}.folder(t), Want{})
	dir := t.TempDir()
	before := snapshot(t, b.Home)
	list := hostile(t)
	if len(list) < 60 {
		t.Errorf("%d archives are no battery", len(list))
	}
	for name, c := range list {
		at := filepath.Join(dir, name)
		if err := os.WriteFile(at, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := b.Fetch(t.Context(), at, Want{})
		if err == nil || !strings.Contains(err.Error(), c.why) || len(err.Error()) > 1000 {
			t.Errorf("%s: %+v, %.300v; want %q", name, found, err, c.why)
		}
		if err := os.Remove(at); err != nil {
			t.Fatal(err)
		}
	}
	same(t, before, snapshot(t, b.Home))
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	if _, err := os.Lstat("/tmp/evil"); err == nil {
		t.Error("a file was written outside")
	}
}

// TestHostileNames: what packages and people call things leads nowhere else.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	b := person(t)
	canary := filepath.Join(b.Home, "canary")
	if err := os.WriteFile(canary, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	install(t, b, examples()["agx-bundle"].using("x").folder(t), Want{})
	before := snapshot(t, b.Home)
	bad := []string{"../..", "..", ".", "", "/", "/etc", `..\..`, "a/b", "kit/../..", "con", "kit.", " kit", "kit\x00", "~", "*", strings.Repeat("x", 65)}
	for _, name := range bad {
		if _, err := b.Remove(t.Context(), name, false, false); err == nil {
			t.Errorf("removed %q", name)
		}
		if _, err := b.Rollback(t.Context(), name, false); err == nil {
			t.Errorf("rolled back %q", name)
		}
		if name != "" {
			if _, err := b.Fetch(t.Context(), texts{"SKILL.md": skillText("one")}.folder(t), Want{Name: name}); err == nil {
				t.Errorf("took the name %q", name)
			}
			if _, err := New(filepath.Join(b.Dir, "new"), name); err == nil {
				t.Errorf("began %q", name)
			}
		}
		for _, manifest := range []texts{
			{"agx-bundle.yaml": "agx_bundle: 1\nname: \"" + strings.NewReplacer(`\`, `\\`, "\x00", `\0`).Replace(name) + "\"\n"},
			{".claude-plugin/plugin.json": `{"name":"` + strings.NewReplacer(`\`, `\\`, "\x00", `\u0000`).Replace(name) + `"}`},
		} {
			if c, err := b.Fetch(t.Context(), manifest.folder(t), Want{}); err == nil {
				t.Errorf("a package is called %q: %+v", name, c.Package)
			}
		}
		for _, part := range []string{"mcp_servers: [{name: NAME, config_path: mcp/a.json}]", "avatars: [{name: NAME, config_path: a.yaml}]", "memory_templates: [{name: NAME, path: m.md}]"} {
			quoted := `"` + strings.NewReplacer(`\`, `\\`, "\x00", `\0`).Replace(name) + `"`
			dir := texts{"agx-bundle.yaml": "agx_bundle: 1\nname: parts\ncomponents:\n  " + strings.ReplaceAll(part, "NAME", quoted) + "\n", "mcp/a.json": `{"command":"x"}`, "a.yaml": "system_prompt: x\n", "m.md": "x"}.folder(t)
			c, err := b.Fetch(t.Context(), dir, Want{})
			if err != nil {
				continue
			}
			if len(c.Package.Servers)+len(c.Package.Agents)+len(c.Package.Memory) > 0 {
				t.Errorf("a part is called %q: %+v", name, c.Package)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	same(t, before, snapshot(t, b.Home))
	// A package that is another one's in other letters.
	if _, err := b.Fetch(t.Context(), texts{"SKILL.md": skillText("one")}.folder(t), Want{Name: "KIT"}); err == nil || !strings.Contains(err.Error(), "same name") {
		t.Errorf("%v", err)
	}
}

// TestLinksOfDirectories: a link in a directory is left out, and so is what is no file.
func TestLinksOfDirectories(t *testing.T) {
	t.Parallel()
	b := person(t)
	dir := texts{".claude-plugin/plugin.json": `{"name":"kit"}`, "skills/one/SKILL.md": skillText("one")}.folder(t)
	for link, to := range map[string]string{"passwd": "/etc/passwd", "up": "..", "skills/two": b.Home, "skills/one/SKILL2.md": "SKILL.md"} {
		if err := os.Symlink(to, filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".git"), []byte("gitdir: elsewhere"), 0o600); err != nil { // as a worktree has it
		t.Fatal(err)
	}
	r := install(t, b, dir, Want{})
	if l, err := b.listing(r.Tree); err != nil || len(l) != 2 {
		t.Errorf("%v, %v", l, err)
	}
	own, _, err := b.List()
	if err != nil || len(own["kit"].Package.Notes) != 4 {
		t.Errorf("%+v, %v", own["kit"].Package.Notes, err)
	}
	// A link in the place of a file in the store is a change.
	file := filepath.Join(b.root(r.Tree), "skills", "one", "SKILL.md")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", file); err != nil {
		t.Fatal(err)
	}
	if l := b.Load(); len(l.Faults) != 1 || !strings.Contains(l.Faults[0].Error(), "is a link") {
		t.Errorf("%+v", l.Faults)
	}
	// Removing follows none.
	if err := os.Symlink(b.Home, filepath.Join(b.root(r.Tree), "home")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Remove(t.Context(), "kit", false, false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(b.Dir); err != nil {
		t.Error("removing a bundle removed what a link leads to")
	}
}

// FuzzUnpack: whatever an archive is, it is refused or its files lie below the folder.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte("PK\x03\x04"), true)
	f.Add([]byte("\x1f\x8b\x08"), false)
	var zipped, tarred bytes.Buffer
	z, ta := zip.NewWriter(&zipped), tar.NewWriter(&tarred)
	for _, name := range []string{"kit/SKILL.md", "kit/a/b"} {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, "x")
		}
		if err == nil {
			err = ta.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: 1})
		}
		if err == nil {
			_, err = ta.Write([]byte("x"))
		}
		if err != nil {
			f.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), ta.Close()); err != nil {
		f.Fatal(err)
	}
	f.Add(zipped.Bytes(), true)
	f.Add(tarred.Bytes(), false)
	f.Fuzz(func(t *testing.T, data []byte, isZip bool) {
		dir := t.TempDir()
		archive, err := os.Create(filepath.Join(dir, "archive"))
		if err != nil {
			t.Fatal(err)
		}
		defer archive.Close()
		if _, err := archive.Write(data); err != nil {
			t.Fatal(err)
		}
		w, err := newWriter(filepath.Join(dir, "out"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := w.close(); err != nil {
				t.Error(err)
			}
		}()
		_, err = w.addArchive(archive, map[bool]string{true: "zip", false: "tar"}[isZip], "")
		entries, readErr := os.ReadDir(dir)
		if readErr != nil || len(entries) != 2 {
			t.Errorf("%v, %v", entries, readErr)
		}
		if err != nil {
			return
		}
		if changed, err := w.files.changed(filepath.Join(dir, "out")); err != nil || len(changed) > 0 {
			t.Errorf("%v, %v", changed, err)
		}
	})
}
