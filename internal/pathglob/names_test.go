package pathglob

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestInside(t *testing.T) {
	linux, mac, windows := NamesOf("linux"), NamesOf("darwin"), NamesOf("windows")
	for _, c := range []struct {
		path, dir           string
		linux, mac, windows bool
	}{
		{"/w/proj", "/w/proj", true, true, true},
		{"/w/proj/a", "/w/proj", true, true, true},
		{"/w/Proj/a", "/w/proj", false, true, true},
		{"/w/ÄRGER/a", "/w/ärger", false, true, true},
		{"/w/proj2", "/w/proj", false, false, false},
		{"/w/PROJ2/x", "/w/proj", false, false, false},
		{"/w", "/w/proj", false, false, false},
		{"/W/PRO", "/w/proj", false, false, false},
		{"/w/proj", "/", true, true, true},
		{"/", "/", true, true, true},
		{"w", "/", false, false, false},
		{`C:\proj\a`, `C:\proj`, false, false, true},
		{`c:\PROJ\a`, `C:\proj`, false, false, true},
		{`c:/proj/a`, `C:\proj`, false, false, true},
		{`/c:/proj/a`, `C:\proj`, false, false, true},
		{`C:\project`, `C:\proj`, false, false, false},
		{`D:\proj`, `C:\proj`, false, false, false},
		{`c:\x`, `C:\`, false, false, true},
		{`\\Server\Share\a`, `\\server\share`, false, false, true},
		{`\server\share\a`, `\\server\share`, false, false, false},
		// What is no other case of a letter is another name.
		{"/w/\u212aeys/a", "/w/keys", false, false, false},
		{"/w/\u017frc/a", "/w/src", false, false, false},
		{"/w/\u0131d/a", "/w/id", false, false, false},
		{"/w/\u0130d/a", "/w/id", false, false, false},
		{"/w/proj./a", "/w/proj", false, false, false},
		{"/w/\xff/a", "/w/\xfe", false, false, false},
		{"/w/\xff/a", "/w/\xff", true, true, true},
	} {
		for i, got := range []bool{linux.Inside(c.path, c.dir), mac.Inside(c.path, c.dir), windows.Inside(c.path, c.dir)} {
			if want := []bool{c.linux, c.mac, c.windows}[i]; got != want {
				t.Errorf("%q in %q on %s: %v", c.path, c.dir, []string{"linux", "darwin", "windows"}[i], got)
			}
		}
	}
	if rest, ok := windows.Below(`c:\Proj\Src\a.go`, `C:\PROJ`); !ok || rest != `Src\a.go` {
		t.Errorf("below: %q, %v", rest, ok)
	}
	if !windows.Same(`C:`, `c:`) || windows.Same(`C:`, `C:\`) || linux.Same("a", "A") || !mac.Same("A", "a") {
		t.Error("names are compared wrongly")
	}
}

// FuzzInside: folding only ever adds, and by whole names.
func FuzzInside(f *testing.F) {
	f.Add("/w/Proj/a", "/w/proj")
	f.Add(`c:\Proj\a`, `C:\proj`)
	f.Add("/w/\u212aeys", "/w/keys")
	f.Fuzz(func(t *testing.T, path, dir string) {
		plain, mac := Names{}, NamesOf("darwin")
		if plain.Inside(path, dir) && !mac.Inside(path, dir) {
			t.Fatalf("%q in %q is lost by folding", path, dir)
		}
		if rest, ok := mac.Below(path, dir); ok {
			if !strings.EqualFold(strings.TrimRight(path[:len(path)-len(rest)], "/"), strings.TrimRight(dir, "/")) {
				t.Fatalf("%q is not %q and %q", path, dir, rest)
			}
		}
	})
}

// TestRel: the way to what lies in a directory, in whatever case it is written, and none
// to what lies elsewhere.
func TestRel(t *testing.T) {
	for _, c := range []struct {
		goos, dir, path, want string
		ok                    bool
	}{
		{"linux", "/w/proj", "/w/proj/a", "a", true},
		{"linux", "/w/proj", "/w/Proj/a", "", false},
		{"darwin", "/w/proj", "/w/Proj/Sub/a", "Sub/a", true},
		{"darwin", "/w/proj", "/W/PROJ", ".", true},
		{"darwin", "/w/proj", "/w/proj2/a", "", false},
		{"darwin", "/w/keys", "/w/\u212aeys/a", "", false},
		{"windows", `C:\proj`, `c:\PROJ\sub\a`, `sub\a`, true},
		{"windows", `C:\proj`, `c:/Proj`, ".", true},
		{"windows", `C:\proj`, `D:\proj\a`, "", false},
		{"windows", `C:\proj`, `C:\project`, "", false},
		{"windows", `\\srv\share`, `\\SRV\Share\a`, "a", true},
		{"linux", "a", "a/b", "b", true},
		{"linux", "a", "../b", "", false},
		{"linux", "/w", "w/a", "", false},
	} {
		if rel, ok := NamesOf(c.goos).Rel(c.dir, c.path); rel != c.want || ok != c.ok {
			t.Errorf("%s: from %s to %s: %q, %v", c.goos, c.dir, c.path, rel, ok)
		}
	}
	if rel, ok := Rel("/w/proj/", "/w/proj/../proj/a/./b"); !ok || filepath.ToSlash(rel) != "a/b" {
		t.Errorf("unclean: %q, %v", rel, ok)
	}
	if Holds("/w/proj", "/w/proj/../x") || !Holds("/w/proj", "/w/proj/") {
		t.Error("what is not clean is compared as it is written")
	}
}
