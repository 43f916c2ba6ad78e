package named_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolcrib/toolcrib/internal/named"
)

// TestHook: a script is found however a hook comes to its name, and what a hook
// looks at, prints, builds or installs is not.
func TestHook(t *testing.T) {
	for text, want := range map[string]string{
		`"${0%/*}/../a/x.sh"`:                                      "a/x.sh",
		`exec "$(cd "$(dirname "$0")/.." && pwd)/a/x.sh"`:          "a/x.sh",
		"here=$(dirname \"$0\")\n\"$here\"/../a/x.sh":              "a/x.sh",
		"here=$(cd \"$(dirname \"$0\")\" && pwd)\nsh $here/../a/x": "a/x",
		"SCRIPT_DIR=\"$( cd -- \"$( dirname -- \"${BASH_SOURCE[0]}\" )\" &> /dev/null && pwd )\"\nsource \"$SCRIPT_DIR\"/../a/x.sh": "a/x.sh",
		"here=$(dirname $(readlink -f $0)); $here/../a/x.sh":                                                                        "a/x.sh",
		"ROOT=`git rev-parse --show-toplevel`\nDIR=${ROOT}/a\n$DIR/x.sh":                                                            "a/x.sh",
		"\"$(git rev-parse --show-toplevel)/a/x.sh\"":                                                                               "a/x.sh",
		"D=a N=x\nsh \"$D/$N.sh\"":                                   "a/x.sh",
		"D=${D:-a}; $D/x.sh":                                         "a/x.sh",
		"timeout 5 nice ./a/x.sh":                                    "a/x.sh",
		"timeout -k 3 5 nice -n 4 stdbuf -oL a/x.sh":                 "a/x.sh",
		"sudo -u me env A=1 nohup a/x.sh":                            "a/x.sh",
		"env -C a ./x.sh":                                            "a/x.sh",
		"sh -c \"cd a; ./x.sh\"":                                     "a/x.sh",
		"bash -ec 'a/x.sh'":                                          "a/x.sh",
		"git ls-files | xargs -n1 a/x.sh":                            "a/x.sh",
		"find . -name q -exec a/x.sh {} +":                           "a/x.sh",
		"cat a/x.sh | sh":                                            "a/x.sh",
		"eval \"$(cat a/x.sh)\"":                                     "a/x.sh",
		". <(cat a/x.sh)":                                            "a/x.sh",
		"python3 - < a/x.py":                                         "a/x.py",
		"sh <<E\n./a/x.sh\nE":                                        "a/x.sh",
		"PATH=\"$PWD/a:$PATH\"\nx.sh":                                "a/x.sh",
		"for s in a/x.sh; do sh $s; done":                            "a/x.sh",
		"for s in a/x*.sh; do . \"$s\"; done":                        "a/x.sh",
		"L=(a/x.sh); for s in \"${L[@]}\"; do sh $s; done":           "a/x.sh",
		"for s in a/{x,y}.sh; do $s; done":                           "a/x.sh",
		"run() { sh \"$1\"; }\nrun a/x.sh":                           "a/x.sh",
		"f() { $D/x.sh; }\nD=a\nf":                                   "a/x.sh",
		"trap 'a/x.sh' EXIT":                                         "a/x.sh",
		"if ! $X/a/x.sh; then exit 1; fi":                            "a/x.sh",
		"uv run a/x.py":                                              "a/x.py",
		"sh calls.sh":                                                "a/x.sh calls.sh lib.sh",
		"sh cd.sh":                                                   "a/x.sh cd.sh",
		"cat package.json; echo a/x.sh; grep -q a/x.sh package.json": "",
		"if [ -f a/x.sh ] && test -x a/x.sh; then npm test; fi":      "",
		"npm test -- a/x.py\nnpm run lint -- a/x.sh\nnpx prettier --check a/x.sh":         "",
		"git diff --name-only | grep a/x.sh\ncommand -v a/x.sh":                           "",
		"./node_modules/.bin/lint-staged\nnode node_modules/a/b.js\n. .venv/activate":     "",
		"node --check a/x.py; node -c ./a/x.py; php -l a/x.py; ruby -c a/x.py":            "",
		"bash -n a/x.sh; sh -en a/*.sh; for s in a/*.sh; do bash -n \"$s\"; done":         "",
		"python3 -m py_compile a/x.py; node --test a/*.py":                                "",
		"docker run --rm -v .:/w img python a/x.py; podman exec web sh a/x.sh":            "",
		"docker compose exec -T web python a/x.py; sudo docker-compose run web sh a/x.sh": "",
		"bash a/x.sh -n; bash -o noglob a/x.sh":                                           "a/x.sh",
		"node --test a/x.py":                                                              "a/x.py",
		"bash -n a/x.py; perl -c a/x.sh":                                                  "a/x.sh",
		"node --require ./a/x.py --check a/x.sh":                                          "a/x.py",
		"sh builds.sh":                                                                    "builds.sh",
		"sh a/tests.sh":                                                                   "a/tests.sh a/x.py",
		"jq .version package.json > dist/x.js; cp a/x.sh dist/x.js":                       "",
	} {
		for _, at := range []string{".husky/pre-commit", ".git/hooks/pre-commit", "githooks/pre-commit"} {
			top, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			text := text
			if at == ".git/hooks/pre-commit" {
				text = strings.ReplaceAll(text, "/../a", "/../../a")
				text = strings.ReplaceAll(text, `"$0")/..`, `"$0")/../..`)
			}
			for name, content := range map[string]string{
				"a/x": "#", "a/x.sh": "#", "a/x.py": "#", "lib.sh": "$HERE/a/x.sh", "package.json": "{}", "node_modules/.bin/lint-staged": "#", "node_modules/a/b.js": "#", ".venv/activate": "#", "dist/x.js": "#",
				"calls.sh": "#!/bin/sh\nHERE=$(cd \"$(dirname \"$0\")\"; pwd)\n. \"$HERE\"/lib.sh\ncat package.json\n", "cd.sh": "cd a\n./x.sh", "src/app.py": "import os", "a/tests.sh": "python3 src/app.py; python3 ${0%/*}/x.py", "builds.sh": "node dist/x.js; python3 src/app.py; node_modules/.bin/lint-staged",
				".git/config": "[core]\n\thooksPath = githooks\n", at: "#!/usr/bin/env bash\n" + text + "\n",
			} {
				write(t, filepath.Join(top, name), content, 0o755)
			}
			var list []string
			for _, file := range (&named.Finder{Home: t.TempDir()}).Project(top) {
				rel, err := filepath.Rel(top, file)
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, filepath.ToSlash(rel))
			}
			if diff := cmp.Diff(strings.Fields(want), list, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", at, text, diff)
			}
		}
	}
}

// TestPathDirs: what is put before PATH is found, there or not.
func TestPathDirs(t *testing.T) {
	for text, want := range map[string][]string{
		"PATH_add bin": {"bin"}, "path_add PATH ./tools/bin": {"PATH", "tools/bin"}, "load_prefix vendor": {"vendor/bin"},
		"export PATH=\"$PWD/bin:$PATH\"": {"bin"}, "D=$(pwd)/x\nPATH=$D:$PATH": {"x"}, "echo PATH": nil, "PATH=$PATH": nil,
	} {
		top, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(top, ".envrc"), text, 0o644)
		var dirs []string
		for _, name := range want {
			dirs = append(dirs, filepath.Join(top, filepath.FromSlash(name)))
		}
		slices.Sort(dirs)
		if diff := cmp.Diff(dirs, (&named.Finder{}).PathDirs(top), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// FuzzHook: whatever a hook says, following it ends, and gives nothing but files of
// the project that are there.
func FuzzHook(f *testing.F) {
	f.Add("here=$(cd \"$(dirname \"$0\")\"; pwd); timeout 5 \"${here%/*}\"/a/x.sh")
	f.Add("for i in a/{x,y}*; do eval \"$(cat $i)\"; sh -c \"$i\"; done")
	f.Add("f() { f \"$1/$1\"; f $0$0; }; f a; A=$A$A; cd $A; . <(cat $A)")
	f.Add("PATH_add x; env -S 'sh a/x.sh' <<E\n$(E)\nE")
	top, home := f.TempDir(), f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		write(t, filepath.Join(top, "a", "x.sh"), text, 0o755)
		write(t, filepath.Join(top, ".envrc"), text, 0o644)
		finder := &named.Finder{Home: home}
		if list := finder.Project(top); len(list) > 1 || len(list) == 1 && list[0] != filepath.Join(top, "a", "x.sh") && list[0] != filepath.Join(top, ".envrc") {
			t.Errorf("%q", list)
		}
		finder.PathDirs(top)
	})
}
