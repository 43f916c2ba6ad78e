package policy

import (
	"path"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// placeDesk has a rule that asks about writing to deploy, and a project in which
// a file lies there.
func placeDesk(t testing.TB) []toolcrib.Guard {
	t.Helper()
	p, guards := desk(t, ModeYolo, Layer{Rank: RankUser, Permissions: Permissions{Ask: []string{"write_file(./deploy/**)"}}})
	p.Shell.Glob = func(pattern string) (out []string, err error) {
		for _, f := range []string{"a.txt", "deploy", "deploy/prod.yml", "src", "src/x.go", "src/node_modules"} {
			if ok, err := path.Match(pattern, work+"/"+f); err != nil {
				return nil, err
			} else if ok {
				out = append(out, work+"/"+f)
			}
		}
		return out, nil
	}
	return guards
}

func placeDecision(t testing.TB, guards []toolcrib.Guard, line string) toolcrib.Decision {
	t.Helper()
	return explain(guards, toolcrib.Review{Spec: shellTool("run_command"), Input: mustJSON(t, map[string]string{"command": line})}).Decision
}

// TestPlacesUnderOtherNames: a place that is named by a pattern, by the option of
// a wrapper, by a variable, inside of a word, by what another program prints, or
// from a directory that nobody knows, is asked about as well.
func TestPlacesUnderOtherNames(t *testing.T) {
	guards := placeDesk(t)
	for _, line := range []string{
		// Patterns.
		"touch d*y/x", "touch dep*/x", "touch [d]eploy/x", "touch ?eploy/x", "touch */prod.yml", "cp a.txt */", "cp a.txt d*/", "rsync -a src/ ./dep*/", "ln -s a.txt dep*/", "touch [!x]eploy/prod.yml", "touch [[:alpha:]]eploy/prod.yml",
		"shopt -s nocaseglob; touch DEP*/prod.yml", "bash -O extglob -c 'touch @(deploy)/prod.yml'", "prettier -w 'dep*/**'", "git checkout -- 'dep*'", "git checkout HEAD -- ':(glob)dep*/**'", "find . -path './dep*' -delete", "find . -iname 'DEP*' -exec touch {}/x \\;", "fd dep -x touch {}/x",
		`perl -e 'for (glob("dep*")) { open F, ">$_/w" }'`, "for d in d*; do touch $d/x; done", `for d in */; do touch "$d/x"; done`, `for d in */; do cp a.txt "$d"; done`, "D=dep*; touch $D/x",
		// Directories.
		"cd d*y && touch x", "cd dep* && touch w", "for d in d*; do (cd $d && touch w); done", "D=dep*; cd $D; touch x", "env -C dep* touch w", "make -C dep*", `cd "$X" && touch w`, `cd "$X" && ls > w`, `cd "$(echo ZGVwbG95|base64 -d)" && touch w`, "cd ~+/deploy && touch w",
		"cd deploy; cd ../src; cd -; touch w", "pushd deploy; pushd ../src; popd; touch w", "cd $(git rev-parse --show-toplevel) && touch deploy/w", "cd $(git rev-parse --show-toplevel)/deploy && touch w", "touch ~+/deploy/x", "touch ~-/deploy/w",
		"touch /proc/$$/cwd/deploy/w", "touch /proc/$PPID/cwd/deploy/w", "touch /proc/self/task/$$/cwd/deploy/w", "exec 3< deploy; touch /proc/self/fd/3/w",
		// Options and variables.
		"strace -o deploy/x true", "ltrace -o deploy/x true", "valgrind --log-file=deploy/x true", "env GIT_TRACE=$PWD/deploy/w git status", "GIT_TRACE=$PWD/deploy/w git status", `GIT_TRACE="$(pwd)/deploy/w" git status`, "export GIT_TRACE=$PWD/deploy/w; git status",
		"declare -x GIT_TRACE=$PWD/deploy/w; git status", "GOBIN=$PWD/deploy go install .", "git config -f deploy/x a.b c", "git config --fil=deploy/w a.b c", "git diff --outp=deploy/x", "curl --trace deploy/x http://h", "wget -a deploy/log http://h", "curl -w '%output{deploy/x}' http://h",
		"docker run -v $PWD/deploy:/d alpine touch /d/x", "docker run --mount type=bind,source=./deploy,target=/d alpine touch /d/x", "docker build --iidfile deploy/x .",
		// Words in words, and text that is read as commands.
		"sqlite3 x.db '.output deploy/x'", `sqlite3 x.db ".backup deploy/x"`, "sqlite3 x.db '.cd deploy' '.output w' 'select 1'", `psql -c '\o deploy/w' -c 'select 1'`, "vim -c 'w deploy/x' -c q a.txt", "ed -s a.txt <<< 'w deploy/x'", `printf 'w deploy/x\nq\n' | ed -s a.txt`,
		"patch -p1 <<'E'\n--- a/deploy/prod.yml\n+++ b/deploy/prod.yml\n@@ -1 +1 @@\n-a\n+b\nE",
		"git apply <<'E'\n--- a/deploy/prod.yml\n+++ b/deploy/prod.yml\n@@ -1 +1 @@\n-a\n+b\nE", "apply_patch <<'E'\n*** Update File: deploy/prod.yml\nE",
		// What another program prints.
		`cp a.txt "$(dirname deploy/prod.yml)"`,
		"grep -rl foo deploy | xargs sed -i s/foo/bar/", "find deploy -type f | xargs rm", "ls -d deploy/* | head -1 | xargs rm", "ls deploy/*.yml | while read f; do rm $f; done", "rm $(ls deploy/prod.yml)", "for f in $(ls deploy/*); do rm $f; done", "git ls-files deploy | xargs rm",
		"ls -d d* | xargs -I{} touch {}/x", "echo deploy | (read d; touch $d/x)", `printf 'deploy\n' | (read -r d && cd $d && touch w)`, "echo deploy > f; read d < f; touch $d/w",
		// More than is followed.
		"touch " + strings.Repeat("a*b ", 3) + strings.Join(manyWords(2010), " ") + " deploy/x",
	} {
		if got := placeDecision(t, guards, line); got != toolcrib.Ask {
			t.Errorf("%.200q: %v", line, got)
		}
	}
}

func manyWords(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = "w" + strings.Repeat("x", i%50) + strings.Repeat("y", i/50)
	}
	return out
}

// TestOtherNamesOfOrdinaryWork: what looks like it and does not lead there is not
// asked about.
func TestOtherNamesOfOrdinaryWork(t *testing.T) {
	guards := placeDesk(t)
	for _, line := range []string{
		"rm -rf */node_modules", "rm -f *.o", "rm -f */*.o", `for d in src/*/; do (cd "$d" && npm test); done`, `for f in *.txt; do mv "$f" "$f.bak"; done`, "for f in src/*.go; do gofmt -w $f; done", "sed -i 's#deploy/old#deploy/new#' README.md",
		"git push deploy main", "git push origin deploy/staging", `git commit -m "touch deploy/prod.yml"`, `git stash push -m "wip deploy/x"`, `git merge -m "merge deploy/x" main`, "ssh deploy uptime", "ssh deploy@host uptime", "sudo -u deploy ./run.sh",
		"kubectl apply -f deploy/x.yml -o yaml", "kubectl create -f deploy/x.yml", "kubectl rollout status deploy/api", "kubectl exec deploy/api -- ls", "helm upgrade x ./deploy/chart -f deploy/values.yml", "docker compose -f deploy/compose.yml down -v", "docker run -v $PWD/src:/src alpine ls",
		"docker run -v $PWD/deploy:/d:ro alpine ls /d", `cd "$(git rev-parse --show-toplevel)" && make test`, "cd src && make && cd - && make", "pushd src && make && popd && touch x", "d=$(mktemp -d) && cd $d && git init && touch x", "X=$(mktemp -d); cp a.txt $X/",
		`git ls-files | while read f; do sed -i s/a/b/ "$f"; done`, "grep -rl deploy src | xargs sed -i s/foo/bar/", "find . -name '*.pyc' -delete", "find . -name '*.log' -exec rm {} +", "kill $(lsof -t -i:3000)", "touch $(date +%F).log", "tar czf backup-$(date +%F).tgz src",
		"sqlite3 x.db 'select * from deploy'", "gh pr create --title 'Fix deploy/x' --body 'see deploy/prod.yml'", "npx prettier --write 'src/**/*.js'", "PATH=$PWD/bin:$PATH make", "DESTDIR=$PWD/out make install", "strace -o t.log true", "timeout 5 cat deploy/prod.yml",
		"ls deploy | xargs -n1 echo", "cat deploy/list | xargs rm", "git log --oneline -- deploy | head", "curl -w '%{http_code}' -d @deploy/x.json http://h", "git apply <<'E'\n--- a/src/x.go\n+++ b/src/x.go\n@@ -1 +1 @@\n-a\n+deploy\nE", "mkdir -p $(dirname src/a/b)", "patch -p1 <<'E'\n--- a/src/x.go\n+++ b/src/x.go\n@@ -1 +1 @@\n-a\n+b\nE",
	} {
		if got := placeDecision(t, guards, line); got != toolcrib.Allow {
			t.Errorf("%q: %v", line, got)
		}
	}
}
