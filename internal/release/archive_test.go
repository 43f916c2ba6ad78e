package release

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"strings"
	"testing"
)

// tgz packs headers; each has its own name as content.
func tgz(t testing.TB, list ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	gz := gzip.NewWriter(&out)
	w := tar.NewWriter(gz)
	for _, h := range list {
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(h.Name))
		}
		if h.Mode == 0 {
			h.Mode = 0o755
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write([]byte(h.Name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := gz.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func unpack(archive []byte, name string) (string, error) {
	var got []byte
	err := Unpack(bytes.NewReader(archive), int64(len(archive)), name, func(r io.Reader) (err error) {
		got, err = io.ReadAll(r)
		return err
	})
	return string(got), err
}

const tarName = "toolcrib_1.0.0_linux_amd64.tar.gz"

func TestUnpack(t *testing.T) {
	const program = "toolcrib_1.0.0_linux_amd64/toolcrib"
	good := tar.Header{Typeflag: tar.TypeReg, Name: program}
	dir := tar.Header{Typeflag: tar.TypeDir, Name: "toolcrib_1.0.0_linux_amd64/"}
	if got, err := unpack(tgz(t, dir, tar.Header{Typeflag: tar.TypeReg, Name: "toolcrib_1.0.0_linux_amd64/README.md"}, good), tarName); err != nil || got != program {
		t.Errorf("%q, %v", got, err)
	}
	for name, list := range map[string][]tar.Header{
		"no program":  {dir},
		"elsewhere":   {{Typeflag: tar.TypeReg, Name: "toolcrib"}},
		"twice":       {good, good},
		"a link":      {good, {Typeflag: tar.TypeSymlink, Name: "x", Linkname: "/etc/passwd"}},
		"a hard link": {good, {Typeflag: tar.TypeLink, Name: "x", Linkname: program}},
		"a pipe":      {good, {Typeflag: tar.TypeFifo, Name: "x"}},
		"a device":    {good, {Typeflag: tar.TypeChar, Name: "x"}},
		"up":          {good, {Typeflag: tar.TypeReg, Name: "../x"}},
		"up further":  {good, {Typeflag: tar.TypeReg, Name: "a/../../x"}},
		"from root":   {good, {Typeflag: tar.TypeReg, Name: "/etc/x"}},
		"a drive":     {good, {Typeflag: tar.TypeReg, Name: `C:\x`}},
		"linked":      {{Typeflag: tar.TypeSymlink, Name: program, Linkname: "/bin/sh"}},
		"a directory": {{Typeflag: tar.TypeDir, Name: program + "/"}},
	} {
		if got, err := unpack(tgz(t, list...), tarName); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
	whole := tgz(t, dir, good)
	for n := range whole { // cut anywhere
		if _, err := unpack(whole[:n], tarName); err == nil {
			t.Errorf("cut at %d of %d", n, len(whole))
		}
	}
}

// TestUnpackBomb: a small archive that says it is large, and one that is.
func TestUnpackBomb(t *testing.T) {
	var out bytes.Buffer
	gz := gzip.NewWriter(&out)
	w := tar.NewWriter(gz)
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "toolcrib_1.0.0_linux_amd64/toolcrib", Size: MaxProgram + 1}); err != nil {
		t.Fatal(err)
	}
	if err := gz.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := unpack(out.Bytes(), tarName); err == nil || !strings.Contains(err.Error(), "larger") {
		t.Error(err)
	}
	list := make([]tar.Header, maxEntries+1)
	for i := range list {
		list[i] = tar.Header{Typeflag: tar.TypeDir, Name: "d/"}
	}
	if _, err := unpack(tgz(t, list...), tarName); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Error(err)
	}
}

func TestUnpackZip(t *testing.T) {
	pack := func(names map[string]fs.FileMode) []byte {
		var out bytes.Buffer
		w := zip.NewWriter(&out)
		for name, mode := range names {
			h := &zip.FileHeader{Name: name, Method: zip.Deflate}
			h.SetMode(mode)
			part, err := w.CreateHeader(h)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := part.Write([]byte(name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	const name, program = "toolcrib_1.0.0_windows_amd64.zip", "toolcrib_1.0.0_windows_amd64/toolcrib.exe"
	if got, err := unpack(pack(map[string]fs.FileMode{program: 0o755, "toolcrib_1.0.0_windows_amd64/LICENSE": 0o644}), name); err != nil || got != program {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []map[string]fs.FileMode{{"x": 0o644}, {program: 0o777 | fs.ModeSymlink}, {program: 0o755, `..\x`: 0o644}, {program: 0o755, "../x": 0o644}} {
		if got, err := unpack(pack(bad), name); err == nil {
			t.Errorf("%v: %q", bad, got)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(tgz(f, tar.Header{Typeflag: tar.TypeReg, Name: "toolcrib_1.0.0_linux_amd64/toolcrib"}), true)
	f.Add([]byte("PK\x05\x06"), false)
	f.Fuzz(func(_ *testing.T, archive []byte, isTar bool) {
		name := "toolcrib_1.0.0_windows_amd64.zip"
		if isTar {
			name = tarName
		}
		_, _ = unpack(archive, name) // it ends, without a panic
	})
}
