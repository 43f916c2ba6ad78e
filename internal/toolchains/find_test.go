package toolchains

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// put makes programs, files, directories and links under a directory. A name that
// ends in / is a directory, a text that begins with -> a link, and names in a bin,
// shims or .bin directory are programs.
func put(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(root, name)
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if target, ok := strings.CutPrefix(content, "->"); ok {
			if err := os.Symlink(target, path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		mode := os.FileMode(0o644)
		if dir := filepath.Base(filepath.Dir(path)); dir == "bin" || dir == "shims" || dir == ".bin" || filepath.Base(path) == "gradlew" {
			mode = 0o755
		}
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
}

// place gives a directory without links on the way.
func place(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		name, entry string
		files       map[string]string
		path        []string
		env         map[string]string
		bin, show   []string
		vars        map[string]string
	}{
		{name: "rustup", entry: "rust", files: map[string]string{".cargo/bin/rustup": "x", ".cargo/bin/cargo": "->rustup", ".cargo/credentials.toml": "secret", ".rustup/toolchains/stable/bin/cargo": "x"},
			bin: []string{".cargo/bin"}, show: []string{".cargo/bin", ".rustup"}, vars: map[string]string{"RUSTUP_HOME": ".rustup"}},
		{name: "rustup of another home, by PATH", entry: "rust", files: map[string]string{"other/.cargo/bin/cargo": "x", "other/.rustup/toolchains/": ""}, path: []string{"other/.cargo/bin"},
			bin: []string{"other/.cargo/bin"}, show: []string{"other/.cargo/bin", "other/.rustup"}, vars: map[string]string{"RUSTUP_HOME": "other/.rustup"}},
		{name: "nvm, the default", entry: "node", files: map[string]string{".nvm/versions/node/v9.1.0/bin/node": "x", ".nvm/versions/node/v22.3.0/bin/node": "x", ".nvm/versions/node/v20.1.0/bin/node": "x", ".nvm/versions/node/v20.1.0/lib/node_modules/": "", ".nvm/alias/default": "20\n"},
			bin: []string{".nvm/versions/node/v20.1.0/bin"}, show: []string{".nvm/versions/node/v20.1.0"}},
		{name: "nvm, the newest", entry: "node", files: map[string]string{".nvm/versions/node/v9.1.0/bin/node": "x", ".nvm/versions/node/v22.3.0/bin/node": "x"},
			bin: []string{".nvm/versions/node/v22.3.0/bin"}, show: []string{".nvm/versions/node/v22.3.0"}},
		{name: "fnm", entry: "node", files: map[string]string{".local/share/fnm/aliases/default": "->../node-versions/v20/installation", ".local/share/fnm/node-versions/v20/installation/bin/node": "x"},
			bin: []string{".local/share/fnm/node-versions/v20/installation/bin"}, show: []string{".local/share/fnm/node-versions/v20/installation"}},
		{name: "Volta", entry: "node", files: map[string]string{".volta/bin/volta-shim": "x", ".volta/bin/node": "->volta-shim", ".volta/tools/image/node/20/bin/node": "x"},
			bin: []string{".volta/bin"}, show: []string{".volta"}, vars: map[string]string{"VOLTA_HOME": ".volta"}},
		{name: "pyenv", entry: "python", files: map[string]string{".pyenv/shims/python3": "x", ".pyenv/versions/3.12/bin/python3": "x"},
			bin: []string{".pyenv/shims"}, show: []string{".pyenv"}, vars: map[string]string{"PYENV_ROOT": ".pyenv"}},
		{name: "uv and pipx", entry: "python", files: map[string]string{".local/bin/uv": "x", ".local/bin/black": "->../share/pipx/venvs/black/bin/black", ".local/share/pipx/venvs/black/bin/black": "x", ".local/share/pipx/venvs/black/bin/python": "->" + "../../../../uv/python/cp312/bin/python3.12", ".local/share/uv/python/cp312/bin/python3.12": "x", ".local/share/keyrings/login.keyring": "secret"},
			bin: []string{".local/bin"}, show: []string{".local/bin", ".local/share/pipx/venvs/black", ".local/share/uv/python"}, vars: map[string]string{"UV_PYTHON_INSTALL_DIR": ".local/share/uv/python"}},
		{name: "go", entry: "go", files: map[string]string{"sdk/go1.9/bin/go": "x", "sdk/go1.25.1/bin/go": "x", "sdk/go1.25.1/pkg/": "", "go/bin/gopls": "x", "go/pkg/mod/x/": ""},
			bin: []string{"sdk/go1.25.1/bin", "go/bin"}, show: []string{"go/bin", "sdk/go1.25.1"}},
		{name: "sdkman", entry: "java", files: map[string]string{".sdkman/candidates/java/current": "->21", ".sdkman/candidates/java/21/bin/java": "x", ".sdkman/candidates/maven/current": "->3.9", ".sdkman/candidates/maven/3.9/bin/mvn": "x"},
			bin: []string{".sdkman/candidates/java/21/bin", ".sdkman/candidates/maven/3.9/bin"}, show: []string{".sdkman/candidates/java/21", ".sdkman/candidates/maven/3.9"}, vars: map[string]string{"JAVA_HOME": ".sdkman/candidates/java/21"}},
		{name: "a directory of programs", entry: "~/.local/bin", files: map[string]string{".local/bin/x": "x", ".local/share/secret": "x"},
			bin: []string{".local/bin"}, show: []string{".local/bin"}},
		{name: "an installation", entry: "~/tools/zig", files: map[string]string{"tools/zig/bin/zig": "x", "tools/zig/lib/": ""},
			bin: []string{"tools/zig/bin"}, show: []string{"tools/zig"}},
		{name: "a pattern", entry: "~/.nvm/versions/node/*/bin", files: map[string]string{".nvm/versions/node/v9/bin/node": "x", ".nvm/versions/node/v10/bin/node": "x"},
			bin: []string{".nvm/versions/node/v10/bin", ".nvm/versions/node/v9/bin"}, show: []string{".nvm/versions/node/v10", ".nvm/versions/node/v9"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home := place(t)
			put(t, home, tt.files)
			in := func(names []string) []string {
				out := []string{}
				for _, n := range names {
					out = append(out, filepath.Join(home, n))
				}
				return out
			}
			m := Machine{Home: home, Path: strings.Join(in(tt.path), ":"), Getenv: func(name string) string { return tt.env[name] }}
			c, err := m.Find(tt.entry)
			if err != nil {
				t.Fatal(err)
			}
			if want := in(tt.bin); !slices.Equal(c.Bin, want) {
				t.Errorf("PATH gets %q, not %q", c.Bin, want)
			}
			if want := in(tt.show); !slices.Equal(c.Show, want) {
				t.Errorf("shown are %q, not %q", c.Show, want)
			}
			for name, value := range tt.vars {
				if c.Env[name] != filepath.Join(home, value) {
					t.Errorf("%s is %q", name, c.Env[name])
				}
			}
		})
	}
}

// TestFindRefuses: nothing that agents can write, and nothing that shows a whole
// home or our own state, whichever way it is written.
func TestFindRefuses(t *testing.T) {
	t.Parallel()
	root := place(t)
	home, work := filepath.Join(root, "home"), below(root, "home/work")
	put(t, root, map[string]string{
		"home/work/bin/ls": "x", "home/work/.venv/bin/python3": "x", "home/tools/bin/x": "x", "home/linked": "->work/bin", "home/.local/state/toolcrib/bin/x": "x",
		"home/open/bin/x": "x", "home/.cargo/bin/cargo": "->../../work/bin/ls",
	})
	if err := os.Chmod(below(root, "home/open/bin"), 0o777); err != nil {
		t.Fatal(err)
	}
	m := Machine{Home: home, Path: below(work, ".venv/bin"), Writable: []string{work}, Private: []string{below(home, ".local/state/toolcrib")}}
	for entry, want := range map[string]string{
		"~/work/bin": "which agents can write", "~/linked": "which agents can write", work: "which agents can write", "~/work/.venv": "which agents can write",
		home: "holds your home directory", root: "holds your home directory", "/": "holds your home directory", "~/.": "holds your home directory", "~/tools/..": "holds your home directory",
		"~/.local": "where Toolcrib keeps", "~/.local/state/toolcrib": "where Toolcrib keeps",
		"~/open/bin": "every account", "~/missing": "no such directory", "bin": "none of the words", "../x": "none of the words", "java": "not found on this machine",
		"~/[": "no pattern",
	} {
		c, err := m.Find(entry)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", entry, c, err)
		}
	}
	// A project's environment in the person's PATH is passed over in silence.
	if c, err := m.Find("python"); !errors.Is(err, ErrMissing) {
		t.Errorf("%+v, %v", c, err)
	}
	// A link out of a trusted directory shows nothing of where agents write.
	if c, err := m.Find("~/.cargo/bin"); err != nil || slices.ContainsFunc(c.Show, func(dir string) bool { return within(dir, work) || within(work, dir) }) {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestShowsNoMoreThanNeeded: what lies beside programs is shown only where it belongs
// to them: no tokens, no documents, no other projects.
func TestShowsNoMoreThanNeeded(t *testing.T) {
	t.Parallel()
	home := place(t)
	put(t, home, map[string]string{
		".cargo/bin/cargo": "", ".cargo/credentials.toml": "token", "go/bin/x": "", "go/pkg/mod/a": "",
		".local/bin/uv": "", ".local/bin/x": "->" + home + "/Documents/bin/x", ".local/bin/id": "->" + home + "/.ssh/id", ".local/bin/tool": "->" + home + "/opt/tool/bin/tool",
		".ssh/id": "key", "Documents/bin/x": "", "Documents/letter": "", "opt/tool/bin/tool": "", "opt/tool/lib/a": "",
		"work/bin/tool": "", "work/other/.env": "secret", "node-22/bin/node": "", "node-22/lib/a": "",
	})
	m := Machine{Home: home, Path: home + "/.local/bin", System: []string{"/usr/bin"}}
	for entry, want := range map[string]string{
		"~/.cargo": "/.cargo/bin", "~/go": "/go/bin", "~/work/bin": "/work/bin", "~/node-22/bin": "/node-22",
		"~/.local/bin": "/.local/bin /opt/tool", "python": "/.local/bin /opt/tool",
	} {
		c, err := m.Find(entry)
		if got := strings.ReplaceAll(strings.Join(c.Show, " "), home, ""); err != nil || got != want {
			t.Errorf("%s shows %s, want %s; %v", entry, got, want, err)
		}
	}
}

func TestCompareNumbers(t *testing.T) {
	t.Parallel()
	for _, tt := range [][2]string{{"v9.1", "v10.0"}, {"go1.9", "go1.25.1"}, {"a", "b"}, {"v1", "v1.1"}, {"3.9.2", "3.12"}, {"", "a"}, {"v99999999999999999998", "v99999999999999999999"}} {
		if compareNumbers(tt[0], tt[1]) >= 0 || compareNumbers(tt[1], tt[0]) <= 0 || compareNumbers(tt[0], tt[0]) != 0 {
			t.Errorf("%q is not before %q", tt[0], tt[1])
		}
	}
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	env := map[string]string{"SSL_CERT_FILE": "/etc/ssl/certs/ca.crt", "PIP_CERT": "/etc/ssl/../../home/x/id_rsa", "NODE_EXTRA_CA_CERTS": "/home/x/ca.pem", "AWS_SECRET": "/etc/ssl/x"}
	got := Machine{Getenv: func(name string) string { return env[name] }}.Certificates()
	if len(got) != 1 || got["SSL_CERT_FILE"] != "/etc/ssl/certs/ca.crt" {
		t.Errorf("%v", got)
	}
}

func TestNeeds(t *testing.T) {
	t.Parallel()
	dir := place(t)
	if got := Needs(dir); len(got) != 0 {
		t.Errorf("an empty directory needs %v", got)
	}
	put(t, dir, map[string]string{"go.mod": "", "package.json": "", "pnpm-lock.yaml": "", "requirements.txt": "", "Cargo.toml": "", "build.gradle.kts": "", "gradlew": "", "Makefile": "", "src/a.c": ""})
	want := map[string]string{"go": "go", "node": "node pnpm", "python": "python3", "rust": "cargo rustc", "java": "javac", "c": "make cc"}
	for _, n := range Needs(dir) {
		var names []string
		for _, p := range n.Programs {
			names = append(names, p[0])
		}
		if strings.Join(names, " ") != want[n.Chain] || n.Because == "" || len(n.Rules) == 0 {
			t.Errorf("%+v", n)
		}
		delete(want, n.Chain)
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
}
