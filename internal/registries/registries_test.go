package registries

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/httpclient"
)

// machine has the given files and variables, and nothing else.
func machine(files, env map[string]string) Machine {
	return Machine{
		Home: "/home/me", Getenv: func(name string) string { return env[name] },
		Read: func(path string) ([]byte, error) {
			text, ok := files[path]
			switch {
			case !ok:
				return nil, fs.ErrNotExist
			case text == "writable":
				return nil, ErrWritable
			}
			return []byte(text), nil
		},
	}
}

func TestExpand(t *testing.T) {
	type strs = map[string]string
	for _, c := range []struct {
		name       string
		entries    string
		files, env strs
		want       string
		set        strs
		note       string
	}{
		{name: "no words", entries: "example.com *.example.org 10.0.0.0/8", want: "example.com *.example.org 10.0.0.0/8"},
		{name: "nothing configured", entries: "npm pip go cargo NPM a.example", want: "registry.npmjs.org pypi.org files.pythonhosted.org proxy.golang.org sum.golang.org index.crates.io static.crates.io a.example", set: strs{"GOPROXY": "https://proxy.golang.org"}},

		{name: "npm: user before global", entries: "npm", files: strs{"/etc/npmrc": "registry=https://global.example/\n", "/home/me/.npmrc": "; mine\nregistry = \"https://Mine.example:8443/npm/\"\n"}, want: "private:mine.example", set: strs{"NPM_CONFIG_REGISTRY": "https://Mine.example:8443/npm/"}},
		{name: "npm: variable first", entries: "npm", files: strs{"/home/me/.npmrc": "registry=https://mine.example/"}, env: strs{"NPM_CONFIG_REGISTRY": "https://var.example/"}, want: "private:var.example", set: strs{"NPM_CONFIG_REGISTRY": "https://var.example/"}},
		{name: "npm: what npm hands on does not count", entries: "npm", env: strs{"npm_config_registry": "https://evil.example/"}, want: "registry.npmjs.org"},
		{name: "npm: variables and scopes", entries: "npm", files: strs{"/home/me/.npmrc": "registry=https://${HOST}/\n@corp:registry=https://npm.corp.example/\n//npm.corp.example/:_authToken=x"}, env: strs{"HOST": "h.example"}, want: "private:h.example private:npm.corp.example", set: strs{"NPM_CONFIG_REGISTRY": "https://h.example/"}, note: "@corp"},
		{name: "npm: another file", entries: "npm", files: strs{"/x/npmrc": "registry=http://10.1.2.3:4873/"}, env: strs{"NPM_CONFIG_USERCONFIG": "/x/npmrc"}, want: "10.1.2.3", set: strs{"NPM_CONFIG_REGISTRY": "http://10.1.2.3:4873/"}},
		{name: "npm: this machine", entries: "npm", files: strs{"/home/me/.npmrc": "registry=http://localhost:4873"}, want: "", note: "on this machine"},
		{name: "npm: this machine, by address", entries: "npm", files: strs{"/home/me/.npmrc": "registry=http://[::ffff:127.0.0.1]:4873\n@a:registry=http://127.8.9.1/\n@b:registry=http://169.254.169.254/\n@c:registry=http://0.0.0.0:4873/\n@d:registry=http://x.localhost/"}, want: "", note: "on this machine"},
		{name: "npm: this machine for some", entries: "npm", files: strs{"/home/me/.npmrc": "@a:registry=http://localhost:4873/"}, want: "registry.npmjs.org", note: "on this machine"},
		{name: "npm: where tools write", entries: "npm", files: strs{"/home/me/.npmrc": "writable"}, want: "registry.npmjs.org", note: "tools can write it"},
		{name: "npm: a proxy of its own", entries: "npm", files: strs{"/home/me/.npmrc": "https-proxy=http://p.example:3128"}, want: "registry.npmjs.org", note: "proxy of its own"},
		{name: "npm: no address", entries: "npm", files: strs{"/home/me/.npmrc": "registry=ssh://x.example/"}, want: "registry.npmjs.org", note: "left out"},

		{name: "pip: files", entries: "pip", files: strs{"/etc/pip.conf": "[global]\nindex-url = https://old.example/simple\n", "/home/me/.config/pip/pip.conf": "[global]\nindex_url: https://me:secret@pip.example/simple\n# x\nextra-index-url =\n    https://one.example/simple\n    https://two.example/simple\n[list]\nindex-url = https://no.example/\n"},
			want: "private:pip.example private:one.example private:two.example", set: strs{"PIP_INDEX_URL": "https://pip.example/simple", "UV_DEFAULT_INDEX": "https://pip.example/simple", "PIP_EXTRA_INDEX_URL": "https://one.example/simple https://two.example/simple"}, note: "has a password"},
		{name: "pip: pypi by name", entries: "pip", env: strs{"PIP_INDEX_URL": "https://pypi.org/simple", "PIP_FIND_LINKS": "/opt/wheels"}, want: "private:pypi.org private:files.pythonhosted.org", set: strs{"PIP_INDEX_URL": "https://pypi.org/simple", "UV_DEFAULT_INDEX": "https://pypi.org/simple"}},
		{name: "pip: no file", entries: "pip", files: strs{"/home/me/.config/pip/pip.conf": "[global]\nindex-url=https://x.example/"}, env: strs{"PIP_CONFIG_FILE": "/dev/null"}, want: "pypi.org files.pythonhosted.org"},
		{name: "pip: moved", entries: "pip", files: strs{"/cfg/pip/pip.conf": "[install]\nindex-url=https://x.example/"}, env: strs{"XDG_CONFIG_HOME": "/cfg"}, want: "private:x.example", set: strs{"PIP_INDEX_URL": "https://x.example/", "UV_DEFAULT_INDEX": "https://x.example/"}},

		{name: "go: file", entries: "go", files: strs{"/home/me/.config/go/env": "GOPROXY=https://goproxy.example|https://b.example/x,direct\nGOSUMDB=off\nGOPRIVATE=git.example\n"}, want: "private:goproxy.example private:b.example", set: strs{"GOPROXY": "https://goproxy.example|https://b.example/x,direct", "GOSUMDB": "off", "GOPRIVATE": "git.example"}},
		{name: "go: variable", entries: "go", files: strs{"/home/me/.config/go/env": "GOPROXY=https://no.example"}, env: strs{"GOPROXY": "https://u:p@yes.example,off", "GOSUMDB": "sum.golang.org https://sums.example"}, want: "private:yes.example private:sums.example", set: strs{"GOPROXY": "https://yes.example,off", "GOSUMDB": "sum.golang.org https://sums.example"}, note: "password"},
		{name: "go: another database", entries: "go", env: strs{"GOENV": "off", "GOSUMDB": "sums.example+abc+def"}, want: "proxy.golang.org private:sums.example", set: strs{"GOPROXY": "https://proxy.golang.org", "GOSUMDB": "sums.example+abc+def"}},
		{name: "go: none", entries: "go", env: strs{"GOPROXY": "direct", "GOSUMDB": "off"}, want: "", set: strs{"GOPROXY": "direct", "GOSUMDB": "off"}},
		{name: "go: a directory", entries: "go", env: strs{"GOPROXY": "file:///srv/go", "GOSUMDB": "off"}, want: "", set: strs{"GOSUMDB": "off"}},

		{name: "cargo: replaced", entries: "cargo", files: strs{"/home/me/.cargo/config.toml": "[source.crates-io]\nreplace-with = \"a\"\n[source.a]\nreplace-with=\"b\"\n[source.b]\nregistry = \"sparse+https://crates.example/index/\"\n"}, want: "private:crates.example", note: ".cargo/config.toml"},
		{name: "cargo: registries", entries: "cargo", files: strs{"/ch/config.toml": "[registries.my-own]\nindex = \"sparse+https://t:k@own.example/\"\n"}, env: strs{"CARGO_HOME": "/ch"}, want: "index.crates.io static.crates.io private:own.example", set: strs{"CARGO_REGISTRIES_MY_OWN_INDEX": "sparse+https://own.example/"}, note: "password"},
		{name: "cargo: a circle", entries: "cargo", files: strs{"/home/me/.cargo/config": "[source.crates-io]\nreplace-with='a'\n[source.a]\nreplace-with='crates-io'"}, want: "index.crates.io static.crates.io"},
		{name: "cargo: vendored", entries: "cargo", files: strs{"/home/me/.cargo/config.toml": "[source.crates-io]\nreplace-with='v'\n[source.v]\ndirectory='vendor'"}, want: ""},
		{name: "cargo: broken", entries: "cargo", files: strs{"/home/me/.cargo/config.toml": "[source"}, want: "index.crates.io static.crates.io", note: "cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := Expand(strings.Fields(c.entries), machine(c.files, c.env))
			if got := strings.Join(f.Hosts, " "); got != c.want {
				t.Errorf("hosts: %q, want %q", got, c.want)
			}
			if !maps.Equal(f.Env, c.set) && len(f.Env)+len(c.set) > 0 {
				t.Errorf("variables: %q, want %q", f.Env, c.set)
			}
			notes := strings.Join(f.Notes, "\n")
			if (notes == "") != (c.note == "") || !strings.Contains(notes, c.note) || strings.Contains(notes, "secret") {
				t.Errorf("notes: %q, want %q", notes, c.note)
			}
		})
	}
}

func TestWordFor(t *testing.T) {
	for host, want := range map[string]string{"registry.npmjs.org": "npm", "files.pythonhosted.org": "pip", "sum.golang.org": "go", "static.crates.io": "cargo", "npm": "", "example.com": ""} {
		if got := WordFor(host); got != want {
			t.Errorf("%s: %q", host, got)
		}
	}
	if f := Expand([]string{"go", "go"}, Machine{}); len(f.Hosts) != 2 || len(f.Means["go"]) != 2 {
		t.Errorf("%+v", f)
	}
}

// FuzzRead: whatever stands in the files, the entries are plain, and no password is
// handed on.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"registry=https://a.example/\n@x:registry=https://u:pw@b.example", "[global]\nindex-url=https://u:pw@c.example/\n  https://d.example", "GOPROXY=https://u:pw@e.example,direct\nGOSUMDB=x y z",
		"[source.crates-io]\nreplace-with='a'\n[source.a]\nregistry='sparse+https://u:pw@f.example'", "registry=https://*/\nregistry=${X}", "registry=http://[::1%25lo]:80/", "index-url=https://\x00/",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m := Machine{Home: "/h", Read: func(string) ([]byte, error) { return []byte(text), nil }}
		found := Expand(Words(), m)
		for _, h := range found.Hosts {
			if httpclient.CheckHosts([]string{h}) != nil || strings.Contains(h, "*") {
				t.Errorf("%q gives the host %q", text, h)
			}
		}
		for name, value := range found.Env {
			if strings.ContainsAny(name, "=\x00") || strings.Contains(value, ":pw@") || strings.ContainsRune(value, 0) {
				t.Errorf("%q sets %s=%q", text, name, value)
			}
		}
		if slices.Contains(found.Hosts, "") || errors.Is(nil, ErrWritable) {
			t.Error("an empty host")
		}
	})
}
