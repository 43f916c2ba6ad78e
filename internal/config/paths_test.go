package config

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLocate(t *testing.T) {
	for _, c := range []struct {
		name, goos, home string
		env              map[string]string
		want             Paths
		fails            string
	}{
		{name: "linux", goos: "linux", home: "/home/u", want: Paths{
			Config: "/home/u/.config/toolcrib", State: "/home/u/.local/state/toolcrib", Data: "/home/u/.local/share/toolcrib",
			Cache: "/home/u/.cache/toolcrib", ConfigFile: "/home/u/.config/toolcrib/config.yaml", SystemFile: "/etc/toolcrib/config.yaml"}},
		{name: "xdg", goos: "linux", home: "", env: map[string]string{
			"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s/", "XDG_DATA_HOME": "/d", "XDG_CACHE_HOME": "/h"}, want: Paths{
			Config: "/c/toolcrib", State: "/s/toolcrib", Data: "/d/toolcrib", Cache: "/h/toolcrib",
			ConfigFile: "/c/toolcrib/config.yaml", SystemFile: "/etc/toolcrib/config.yaml"}},
		{name: "relative xdg is ignored", goos: "freebsd", home: "/u", env: map[string]string{"XDG_CONFIG_HOME": "c", "XDG_STATE_HOME": "./s"},
			want: Paths{Config: "/u/.config/toolcrib", State: "/u/.local/state/toolcrib", Data: "/u/.local/share/toolcrib",
				Cache: "/u/.cache/toolcrib", ConfigFile: "/u/.config/toolcrib/config.yaml", SystemFile: "/etc/toolcrib/config.yaml"}},
		{name: "darwin", goos: "darwin", home: "/Users/u", env: map[string]string{"XDG_CONFIG_HOME": "/c"}, want: Paths{
			Config: "/Users/u/Library/Application Support/toolcrib", State: "/Users/u/Library/Application Support/toolcrib/state",
			Data: "/Users/u/Library/Application Support/toolcrib/data", Cache: "/Users/u/Library/Caches/toolcrib",
			ConfigFile: "/Users/u/Library/Application Support/toolcrib/config.yaml", SystemFile: "/etc/toolcrib/config.yaml"}},
		{name: "windows", goos: "windows", home: `C:\Users\u`, env: map[string]string{
			"AppData": `D:\Roam`, "LocalAppData": `\\host\share\Local`, "ProgramData": `C:\PD`}, want: Paths{
			Config: `D:\Roam\toolcrib`, State: `\\host\share\Local\toolcrib\state`, Data: `\\host\share\Local\toolcrib\data`,
			Cache: `\\host\share\Local\toolcrib\cache`, ConfigFile: `D:\Roam\toolcrib\config.yaml`, SystemFile: `C:\PD\toolcrib\config.yaml`}},
		{name: "windows, nothing set", goos: "windows", home: `C:\Users\u`, env: map[string]string{"AppData": `Roam`}, want: Paths{
			Config: `C:\Users\u\AppData\Roaming\toolcrib`, State: `C:\Users\u\AppData\Local\toolcrib\state`,
			Data: `C:\Users\u\AppData\Local\toolcrib\data`, Cache: `C:\Users\u\AppData\Local\toolcrib\cache`,
			ConfigFile: `C:\Users\u\AppData\Roaming\toolcrib\config.yaml`, SystemFile: `C:\ProgramData\toolcrib\config.yaml`}},
		{name: "one directory", goos: "linux", env: map[string]string{"TOOLCRIB_HOME": "/srv/crib/../tc/", "XDG_STATE_HOME": "/s"}, want: Paths{
			Config: "/srv/tc", State: "/srv/tc/state", Data: "/srv/tc/data", Cache: "/srv/tc/cache",
			ConfigFile: "/srv/tc/config.yaml", SystemFile: "/etc/toolcrib/config.yaml"}},
		{name: "one directory, windows", goos: "windows", env: map[string]string{"TOOLCRIB_HOME": "C:/tc"}, want: Paths{
			Config: `C:\tc`, State: `C:\tc\state`, Data: `C:\tc\data`, Cache: `C:\tc\cache`,
			ConfigFile: `C:\tc\config.yaml`, SystemFile: `C:\ProgramData\toolcrib\config.yaml`}},
		{name: "relative home", goos: "linux", home: "/u", env: map[string]string{"TOOLCRIB_HOME": "tc"}, fails: "TOOLCRIB_HOME"},
		{name: "tilde", goos: "linux", home: "/u", env: map[string]string{"TOOLCRIB_HOME": "~/tc"}, fails: "TOOLCRIB_HOME"},
		{name: "drive without directory", goos: "windows", home: `C:\u`, env: map[string]string{"TOOLCRIB_HOME": "C:tc"}, fails: "TOOLCRIB_HOME"},
		{name: "nobody", goos: "linux", fails: "not known"},
		{name: "nobody, darwin", goos: "darwin", fails: "not known"},
		{name: "nobody, windows", goos: "windows", fails: "not known"},
		{name: "nobody, one missing", goos: "linux", env: map[string]string{"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s", "XDG_DATA_HOME": "/d"}, fails: "not known"},
		{name: "relative user", goos: "linux", home: "u", fails: "absolute"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Locate(func(name string) string { return c.env[name] }, c.home, c.goos)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("got %+v, %v", got, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFindProject(t *testing.T) {
	// The directory of the tests may itself be a link, as it is on macOS.
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(top, "home")
	deep := filepath.Join(home, "a", "b", "c")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	find := func(dir, home, want string) {
		t.Helper()
		got, err := FindProject(dir, home, nil)
		if err != nil || got.Path != want || len(got.Passed) > 0 {
			t.Errorf("FindProject(%s, %s) = %+v, %v; want %q", dir, home, got, err, want)
		}
	}
	touch := func(parts ...string) string {
		t.Helper()
		path := filepath.Join(append(parts, projectFile)...)
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}

	find(deep, home, "")
	above := touch(top)
	find(deep, home, "") // the search ends at the home directory
	find(deep, "", above)
	find(deep, filepath.Join(top, "other"), above)
	find(top, home, above)
	inHome := touch(home)
	find(deep, home, inHome)
	find(home, home, inHome)
	inA := touch(home, "a")
	find(deep, home, inA)
	find(deep+"/../c/", home, inA)
	if err := os.Mkdir(filepath.Join(deep, projectFile), 0o755); err != nil {
		t.Fatal(err)
	}
	find(deep, home, inA) // a directory of that name is no file
	inB := touch(home, "a", "b")
	if got, err := FindProject(deep, home, nil); err != nil || got.Path != inB || !slices.Equal(got.Outer, []string{inA}) {
		t.Errorf("around the nearest: %+v, %v", got, err) // the one in the home directory does not count there
	}
	if err := os.Remove(inB); err != nil {
		t.Fatal(err)
	}

	if _, err := FindProject("relative", home, nil); err == nil {
		t.Error("a relative directory was accepted")
	}
	if runtime.GOOS == "windows" {
		return
	}
	// The home directory under another name still ends the search.
	alias := filepath.Join(top, "alias")
	if err := os.Symlink(home, alias); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(inHome); err != nil {
		t.Fatal(err)
	}
	find(home, alias, "")
	find(alias, home, "")
	// A link that leads nowhere is found, and then reported by Load.
	dangling := filepath.Join(home, "a", "b", projectFile)
	if err := os.Symlink(filepath.Join(top, "nowhere"), dangling); err != nil {
		t.Fatal(err)
	}
	find(filepath.Join(home, "a", "b"), home, dangling)
	if list := loadProblems(t, Options{Project: dangling}); list[0].File != dangling {
		t.Errorf("got %v", list)
	}
}
