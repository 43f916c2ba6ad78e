package app

import (
	"path/filepath"
	"strings"
	"testing"
)

// monorepo is a repository with packages that have manifests of their own.
func monorepo(g *ground) {
	g.put(map[string]string{
		".git/objects/x": "", ".git/refs/x": "", "package.json": "{}", "packages/app/package.json": "{}", "packages/app/src/x.js": "", "crates/one/Cargo.toml": "", "crates/one/src/main.rs": "",
		"py/pyproject.toml": "", "docs/README.md": "", "c/Makefile": "", "native/CMakeLists.txt": "", "ios/Podfile": "", "infra/main.tf": "", "node_modules/dep/package.json": "{}", "packages/app/node_modules/dep/package.json": "{}",
		"evil/yarnrc": "yarnPath: ./evil.cjs\n", "evil/cargo/config.toml": "[build]\nrustc-wrapper = \"x\"\n", "sub/.git/HEAD": "ref: refs/heads/main\n",
		// What is there already, and cannot be changed.
		"there/package.json": "{}", "there/.yarnrc.yml": "old", "there/.yarn/releases/yarn.cjs": "old", "there/.cargo/config": "old", "there/bunfig.toml": "old", "settings/config.toml": "old", "there/.mux/init": "old", "there/devbox.json": "{}", "there/.flox/env/manifest.toml": "x", "there/.flox/env.json": "{}", ".travis.yml": "old", "src/.circleci/config.yml": "old",
	})
	g.link(map[string]string{"crates/two/.cargo": "../../settings"})
}

// TestOldProjects: what a command makes in a directory that has a manifest of its own is
// judged as at the top of the project, however it is made. Files that programs look for
// upward from where they are started count in every directory.
func TestOldProjects(t *testing.T) {
	const yarn, cargo = "yarnPath: ./evil.cjs", `[build]\nrustc-wrapper = "x"`
	lines := []string{
		"echo '" + yarn + "' >packages/app/.yarnrc.yml", "echo '" + yarn + "' >packages/app/src/.yarnrc.yml", "echo '" + yarn + "' >packages/.yarnrc.yml", "cp evil/yarnrc .yarnrc.yml", "mv evil/yarnrc packages/app/.yarnrc.yml",
		"ln evil/yarnrc packages/app/.yarnrc.yml", "ln -s ../../evil/yarnrc packages/app/.yarnrc.yml", "echo 'yarn-path \"./x\"' >packages/app/.yarnrc", "echo 'preload = [\"./x.js\"]' >packages/app/bunfig.toml",
		"mkdir crates/one/.cargo; printf '" + cargo + "' >crates/one/.cargo/config.toml", "mkdir crates/.cargo; printf '" + cargo + "' >crates/.cargo/config",
		"mkdir crates/one/src/.cargo; printf '" + cargo + "' >crates/one/src/.cargo/config.toml", "ln -s ../../evil/cargo crates/one/.cargo", "cp -r evil/cargo crates/one/.cargo",
		"mkdir t; echo '" + yarn + "' >t/.yarnrc.yml; tar -C t -cf t.tar .yarnrc.yml; tar -C packages/app -xf t.tar; rm -r t t.tar", "python3 -c 'open(\"packages/app/.yarnrc.yml\", \"w\").write(\"" + yarn + "\")'",
		"mkdir packages/app/.claude; echo {} >packages/app/.claude/settings.json", "echo {} >packages/app/.mcp.json", "mkdir -p packages/new; echo {} >packages/new/package.json; echo '" + yarn + "' >packages/new/.yarnrc.yml",
		"echo 'script-shell=x' >packages/app/.npmrc", "echo '/tmp/x' >py/.python-version", "printf '[[index]]\\nurl = \"https://x.example/\"\\n' >py/uv.toml", "mkdir -p packages/app/.mux; echo x >packages/app/.mux/init",
		"mkdir -p packages/app/.eca; echo {} >packages/app/.eca/config.json", "echo x >gptme.toml", "echo {} >codebuff.json", "echo {} >codebuff.jsonc", "mkdir py/.pixi; echo 'run-post-link-scripts = \"insecure\"' >py/.pixi/config.toml",
		"echo '/tmp/x/.venv/bin/python' >py/.pdm-python", "echo 'preload = [\"./x.js\"]' >c/bunfig.toml", "echo {} >native/.mcp.json", "mkdir ios/.vscode; echo {} >ios/.vscode/tasks.json", "echo 'script-shell=x' >infra/.npmrc",
		"echo {} >conductor.json", "cd packages/app && git init -q . && echo '" + yarn + "' >.yarnrc.yml",
		"mv packages/app/package.json kept; echo 'script-shell=x' >packages/app/.npmrc; mkdir packages/app/.claude; echo {} >packages/app/.claude/settings.json",
		"git init -q . && echo script-shell=x >.npmrc && echo x >evil.set-aside.code-workspace && git add -A", "printf 'script-shell=./x.sh\\n' >.npmrc; mkdir .windsurf; echo {} >.windsurf/hooks.json; chmod 311 .",
		"for d in .buildkite packages/app/.vscode .circleci; do mkdir -m 1755 $d; echo x >$d/file; echo y >$d/.env; done", "echo {} >docs/devbox.json; mkdir -p .flox/env .flox/run; echo x >.flox/env/manifest.toml; echo {} >.flox/env.json",
	}
	for name, text := range map[string]string{
		".npmrc": "script-shell=/tmp/x", ".tool-versions": "nodejs path:/tmp/x", "rust-toolchain.toml": "[toolchain]\npath = \"/tmp/x\"", "mise.toml": "[env]\nX = 'y'", ".gitlab-ci.yml": "x: y", ".windsurf/mcp.json": "{}", ".config/mise/config.toml": "x", "sub/.npmrc": "node-options=--require=/tmp/x",
		"sub/.pre-commit-config.yaml": "x", "x.code-workspace": "{}", ".hg/hgrc": "[hooks]\npre-status = touch x", "deep/down/.hg/hgrc": "%include /tmp/x", "src/.hg/sharedpath": "/tmp/x", "src/new/.jj/repo/config.toml": "x", "lib/.sl/config": "[hooks]\nx = y", ".huskyrc.js": "x",
	} {
		lines = append(lines, "mkdir -p "+filepath.Dir(name)+"; cat > "+name+" <<'END'\n"+text+"\nEND")
	}
	for f := range strings.FieldsSeq("there/.yarnrc.yml there/.yarn/releases/yarn.cjs there/.cargo/config there/bunfig.toml settings/config.toml crates/two/.cargo/config.toml there/.mux/init there/devbox.json there/.flox/env/manifest.toml .travis.yml src/.circleci/config.yml") {
		lines = append(lines, "echo evil > "+f, "rm -f "+f+"; echo evil > x; mv x "+f)
	}
	lines = append(lines, "mv settings elsewhere; mkdir settings; echo evil > settings/config.toml", "rm -r crates/two/.cargo; mkdir crates/two/.cargo; echo evil > crates/two/.cargo/config.toml", "mv crates c2; mkdir -p crates/one/.cargo; echo evil > crates/one/.cargo/config.toml")
	onGround(t, monorepo, nil, func(g *ground) {
		g.watch("settings/config.toml", "there/.yarn/releases")
		for i, line := range lines {
			if g.skips(i, 4) {
				continue
			}
			g.try(line, line)
		}
		// A manifest that comes later makes no difference.
		g.try("a manifest that comes later", "mkdir docs/.claude; echo {} >docs/.claude/settings.json", "echo {} > docs/package.json")
		// However many files a command makes, none of the dangerous ones gets through.
		g.try("decoys", `for i in $(seq 60); do mkdir -p a/$i; echo {} >a/$i/package.json; echo x >a/$i/.travis.yml; echo x >a/$i/.gitlab-ci.yml; echo 'script-shell=x' >a/$i/.npmrc; done
echo 'yarnPath: x' >packages/app/.yarnrc.yml; mkdir packages/app/.windsurf; echo {} >packages/app/.windsurf/mcp.json`)
	})
}
