package sandbox

import (
	"strings"
	"testing"
)

func plainCases() map[string]map[string]bool {
	return map[string]map[string]bool{
		".npmrc": {
			"engine-strict=true\n\n# x\nsave-exact = true\n": true, "registry=https://registry.npmjs.org/\n": true, "script-shell=/x": false, "node-options=x": false, "registry=http://x": false,
			"save-exact=true\r\nscript-shell=x": false, "git=/x": false, "save-exact=true\r\nfund=false\r\n": true, "# x\rscript-shell=y": false, "public-hoist-pattern[]=*eslint*\n": true, "save-prefix=${X}": false, "; x": false, " save=true": false,
		},
		".tool-versions": {"nodejs 20.1.0 18.0.0\npython 3.12\n": true, "java temurin-17.0.2+8\njava graalvm-community-21.0.1": true, "nodejs path:/x": false, "nodejs ref:abc": false, "nodejs 20 path:~/x": false, "nodejs /x": false},
		"rust-toolchain": {"stable\n": true, "/x": false, "[toolchain]\nchannel = \"nightly-2024-01-01\"": true},
		"rust-toolchain.toml": {
			"[toolchain]\nchannel = \"1.80\"\ntargets = [ \"a-b\", ]\n": true, "[toolchain]\npath = \"x\"": false, "toolchain.path = \"x\"": false, "toolchain = {path='x'}": false, "[toolchain]\n\"path\" = \"x\"": false,
			"[toolchain]\nchannel = \"\"\"\n": false,
		},
		"mise.toml":   {"[tools]\nnode = \"20\"\n": true, "[env]\nx=\"y\"": false, "[tools]\nnode = \"path:/x\"": false, "[tools]\n\"asdf:https://x\" = \"1\"": false, "[hooks]\nenter = \"x\"": false},
		".travis.yml": {"": false},
	}
}

// TestPlainText: what passes can start nothing.
func TestPlainText(t *testing.T) {
	for name, cases := range plainCases() {
		for text, want := range cases {
			if got := plainText(name, text); got != want {
				t.Errorf("%s %q: %v", name, text, got)
			}
		}
	}
	for text, want := range map[string]bool{
		"[paths]\ndefault = https://example.com/x\n": true, "[paths]\ndefault = /home/a/b": true, "[hooks]\nx = y": false, "%include x": false, "[paths]\ndefault = ssh://-oProxyCommand=x/y": false,
		"[paths]\ndefault = https://x\n  more": false, "[alias]\nst = !x": false,
	} {
		if got := controlFiles()["hgrc"](text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// FuzzPlainText: no text that passes names a program or leads elsewhere.
func FuzzPlainText(f *testing.F) {
	for name, cases := range plainCases() {
		for text := range cases {
			f.Add(name, text)
		}
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		if !plainText(name, text) {
			return
		}
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' {
				continue
			}
			key, _, _ := strings.Cut(line, "=")
			key = strings.TrimSpace(key)
			if key == "path" || key == "script-shell" || key == "node-options" || strings.ContainsAny(line, "$`;|&%\\") || strings.ContainsAny(line, "/:") && !strings.Contains(key, "registry") {
				t.Errorf("%s: %q passes", name, line)
			}
		}
	})
}
