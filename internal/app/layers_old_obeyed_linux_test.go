package app

import (
	"path/filepath"
	"testing"

	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// nestedGround is a repository with others in it, and settings that point git at files
// that are there and at others that are not.
func nestedGround(g *ground) {
	g.put(map[string]string{
		".git/objects/x": "", ".git/refs/x": "", "file": "x", "src/main.go": "package main\n", "editor/tasks.json": "{}", "tools/watch.sh": "x", "inc/there": "",
		".git/config":         "[core]\n\thooksPath = .githooks\n\tfsmonitor = ./tools/watch.sh\n[include]\n\tpath = ../inc/there\n[include]\n\tpath = ../inc/missing\n[alias]\n\tx = !scripts/missing.sh\n",
		"deep/nested/.git":    "gitdir: ../../gitdirs/n\n",
		"gitdirs/n/HEAD":      "x",
		"gitdirs/n/config":    "[core]\n\thooksPath = hooks\n",
		"gitdirs/n/objects/x": "", "gitdirs/n/refs/x": "", "scripts/other.sh": "x", ".zed/settings.json": "{}", "src/.idea/x": "y", ".github/dependabot.yml": "x",
	})
	g.link(map[string]string{".cursor": "editor"})
}

// watch has further paths compared: what settings point at has no name of its own.
func (g *ground) watch(names ...string) {
	g.watched = append(g.watched, names...)
	g.before = g.look()
}

// TestOldObeyed: whatever a program does, it makes and changes nothing that other programs
// obey: at the top, in nested repositories, what is there and what is not, by links too.
func TestOldObeyed(t *testing.T) {
	places := []string{".githooks", "inc/missing", "scripts/missing.sh"}
	for i, p := range sensitive.Obeyed() {
		if p.Held || i%9 == 0 && p.Pattern[0] != '*' {
			places = append(places, p.Pattern)
		}
	}
	onGround(t, nestedGround, nil, func(g *ground) {
		g.watch("tools", "inc", "scripts/missing.sh", "editor", "gitdirs", "deep/nested", "deep/nested/hooks", "src/.idea", ".zed", ".github/workflows")
		for i := range places {
			if g.skips(i, 4) {
				continue
			}
			for j, top := range []string{".", "deep/nested"} {
				at := filepath.Join(top, places[i])
				forms := []string{
					"mkdir -p " + filepath.Dir(at) + "; echo evil > " + at + " || echo evil > " + at + "/settings.json", "mkdir -p " + at + "/x; echo evil | tee " + at + "/settings.json > " + at + "/tasks.json",
					"mkdir -p " + filepath.Dir(at) + "; echo evil >/tmp/f; rm -rf " + at + "; mv /tmp/f " + at, "mkdir -p " + filepath.Dir(at) + "; echo evil >f; ln -sfn $PWD/f " + at, "mkdir n; echo evil > n/x; mkdir -p " + filepath.Dir(at) + "; mv -T n " + at,
					"mv " + at + " /tmp/gone; echo evil > " + at, "mv " + at + " moved; mkdir " + at + "; echo evil > " + at + "/x", "chmod -R 777 " + at + "; rm -rf " + at + "; mkdir -p " + filepath.Dir(at) + "; echo evil > " + at,
				}
				if (places[i][0] != '.' || places[i] == ".githooks") && j == 1 { // the settings name it at the top
					continue
				}
				g.try(at, forms[(2*i+j)%len(forms)])
			}
		}
		for i, line := range []string{
			"mkdir deep/nested/hooks; echo evil > deep/nested/hooks/pre-commit", "echo evil > tools/watch.sh", "mv tools t; mkdir tools; echo evil > tools/watch.sh", "echo evil > inc/there", "mv inc i; mkdir inc; echo evil > inc/missing",
			"echo evil > .zed/settings.json", "rm .zed/settings.json", "mv .zed z", "echo evil > src/.idea/x", "mv src s", "mv deep d; mkdir -p deep/nested; echo gitdir: ../../g > deep/nested/.git", "mv deep/nested n",
			"echo evil > .cursor/tasks.json", "echo evil > editor/tasks.json", "echo evil > editor/mcp.json", "rm .cursor", "ln -sfn src .cursor", "mv .cursor c", "mv .github g; mkdir -p .github/workflows; echo evil > .github/workflows/x.yml",
			"mv gitdirs g; mkdir -p gitdirs/n; echo '[core] fsmonitor = x' > gitdirs/n/config", "echo '[core] fsmonitor = x' >> gitdirs/n/config", "mkdir gitdirs/n/hooks; echo evil > gitdirs/n/hooks/pre-commit",
		} {
			if !g.skips(i, 2) {
				g.try(line, line)
			}
		}
	})
}

// TestOldFurtherNames: neither a link in what is obeyed nor a further name of what is
// obeyed or protected, made by whoever set up the project, opens a way to it.
func TestOldFurtherNames(t *testing.T) {
	onGround(t, func(g *ground) {
		g.put(map[string]string{
			".git/objects/x": "", ".git/refs/x": "", ".git/config": "[core]\n\thooksPath = .githooks\n", ".git/hooks/a.sample": "x", "scripts/pre-commit": "x", ".git/hooks/pre-commit": "x",
			"shared/settings.json": "x", "more/real/tasks.json": "x", "hk/commit-msg": "x", "run/husky": "x", "ci/build.yml": "x", "deep/skill/run.sh": "x", "AGENTS.md": "x", "src/main.go": "x",
			"nested/.git/HEAD": "x", "nested/.git/config": "", "kh/pre-commit": "x", "chain/end": "x", ".githooks/x": "x", ".aws/credentials": maskedText, "sec/deep/id_rsa": "-----BEGIN OPENSSH PRIVATE KEY-----\n" + maskedText + "\n-----END OPENSSH PRIVATE KEY-----\n",
			".vscode/tasks.json": "x", ".envrc": "x", "scripts/s": "x", "c/plain": "x", "c/pair": "x", "src/.idea/x": "x",
		})
		g.link(map[string]string{
			".git/hooks/pre-push": "../../scripts/missing", ".git/hooks/post-merge": "../../scripts/s", "nested/.git/hooks": "../../kh", ".githooks/commit-msg": "../hk/commit-msg",
			".claude/settings.json": "../shared/settings.json", ".claude/skills/s": "../../deep/skill", ".claude/CLAUDE.md": "../AGENTS.md", ".claude/all": "..", "more/way": "real", "src/.vscode/tasks.json": "../../more/way/tasks.json",
			".husky/pre-commit": g.dir + "/run/husky", ".github/workflows/ci.yml": "../../ci/build.yml", "kh/post-merge": "../chain/next", "chain/next": "end", ".git/hooks/pre-rebase": "../../scripts/pre-commit",
		})
		g.shell(g.dir, `cd c; for f in .git/config .git/hooks/pre-commit .githooks/x .vscode/tasks.json .envrc .aws/credentials sec/deep/id_rsa scripts/s src/.idea/x; do ln ../$f $(echo $f | tr / _); done; ln pair pair2`)
	}, nil, func(g *ground) {
		files := []string{"scripts/pre-commit", "scripts/missing", "scripts/s", "kh/pre-commit", "kh/new", "hk/commit-msg", "shared/settings.json", "deep/skill/run.sh", "deep/skill/new", "more/real/tasks.json", "run/husky", "ci/build.yml", "chain/end"}
		g.watch(append(files, "more/way", "chain/next", "kh", "deep", "scripts")...)
		for i, file := range files {
			if g.skips(i, 2) {
				continue
			}
			forms := []string{"echo evil >> " + file, "echo evil > n && mv n " + file, "rm -f " + file + "; mkdir -p " + file + "/x", "rm -f " + file + "; echo evil > n; ln n " + file, "echo evil > n; ln -sf $PWD/n " + file, "chmod 700 " + file + "; echo evil > " + file}
			g.try(file, forms[i%len(forms)])
			g.try(file, forms[(i+1)%len(forms)], forms[(i+3)%len(forms)])
		}
		for _, line := range []string{
			"rm more/way; mkdir more/way; echo evil > more/way/tasks.json", "ln -sfn src more/way", "rm chain/next; echo evil > chain/next", "mv scripts s; mkdir scripts; echo evil > scripts/pre-commit", "mv kh k; cp -r k kh; echo evil > kh/pre-commit", "mv deep d; mkdir -p deep/skill; echo evil > deep/skill/run.sh",
			"cd c; for f in .git_config .git_hooks_pre-commit .githooks_x .vscode_tasks.json .envrc scripts_s src_.idea_x; do echo evil >> $f; done", "cd c; cat .aws_credentials sec_deep_id_rsa; cp .aws_credentials a; mv sec_deep_id_rsa b; cat a b", "cd c; rm .aws_credentials .envrc; ln ../.envrc x; echo evil >> x", "cd c; echo evil > plain; echo z > pair2; mv .git_config ../.git/config",
		} {
			g.try(line, line)
		}
		for i, f := range []string{".git_config", ".git_hooks_pre-commit", ".githooks_x", ".vscode_tasks.json", ".envrc", "scripts_s", "src_.idea_x"} {
			if g.skips(i, 2) {
				continue
			}
			g.try("further name "+f, "echo evil >> c/"+f, "mv c/"+f+" c/y; echo evil >> c/y; chmod 777 c/y")
		}
	})
}
