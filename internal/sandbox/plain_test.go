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
		".python-version": {
			"3.12\n": true, "3.13t": true, "pypy3.10": true, "cpython-3.12.1": true, "/tmp/x": false, "./x": false, "x": false, "3.12/../x": false, "C:\\x": false, "3.12\n/tmp/x": false,
		},
		".yarnrc.yml": {
			"nodeLinker: node-modules\n\n# x\nenableTelemetry: false\n": true, "compressionLevel: 0": true, "defaultSemverRangePrefix: \"\"": true, "yarnPath: .yarn/releases/yarn.cjs": false, "\"yarnPath\": x": false, "plugins:\n  - x": false,
			"npmRegistryServer: https://x": false, "nodeLinker: pnp\nyarnPath: x": false, "nodeLinker:\n  yarnPath": false, "{yarnPath: x}": false, "enableScripts: true": false, "nodeLinker: *x": false, "nodeLinker: !x y": false, "--- x": false,
		},
		".yarnrc": {"save-prefix \"\"\n": true, "save-exact true": true, "yarn-path \"./x\"": false, "\"yarn-path\" x": false, "registry \"https://x\"": false, "--run.x y": false},
		"bunfig.toml": {
			"[install]\nexact = true\n": true, "[test]\ncoverageThreshold = 0.8": true, "smol = true": true, "preload = [\"./x\"]": false, "[test]\npreload = \"x\"": false, "[install]\nregistry = \"https://x\"": false, "[run]\nbun = true": false, "[run]\nshell = \"x\"": false,
			"[define]\nexact = true": false, "install.registry = \"x\"": false,
		},
		".cargo/config.toml": {
			"[build]\ntarget = \"wasm32-wasip1\"\njobs = 4\n": true, "[profile.dev]\nopt-level = 1\ndebug = \"line-tables-only\"": true, "[build]\nrustc-wrapper = \"x\"": false, "build.rustc-wrapper = \"x\"": false, "[build]\ntarget = \"x.json\"": false,
			"[build]\n\"rustc\" = \"x\"": false, "[target.x86_64-unknown-linux-gnu]\nrunner = \"x\"": false, "[alias]\nb = \"run\"": false, "[env]\njobs = 1": false, "[source.crates-io]\nreplace-with = \"x\"": false, "include = \"x\"": false, "[build]\ntarget = [\"x\"]": false,
			"[profile.dev]\npanic = \"abort\" # x": false,
		},
		".bundle/config": {"---\nBUNDLE_PATH: \"vendor/bundle\"\nBUNDLE_WITHOUT: \"development:test\"\n": true, "BUNDLE_PATH: \"/tmp/x\"": false, "BUNDLE_GEMFILE: \"x\"": false, "BUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: \"https://x\"": false},
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
			if key == "path" || key == "script-shell" || key == "node-options" || strings.ContainsAny(line, "$`;|&%\\") || strings.ContainsAny(strings.Replace(line, ": ", " ", 1), "/:") && !strings.Contains(key, "registry") && !strings.HasPrefix(line, "BUNDLE_") && name != ".yarnrc.yml" || name == ".yarnrc.yml" && strings.ContainsAny(line, "/.*&{[") {
				t.Errorf("%s: %q passes", name, line)
			}
		}
	})
}
