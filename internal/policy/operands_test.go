package policy

import (
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestPlacesAreAskedAbout: a rule that asks about writing to a place asks about
// every line that names it for a program of which nobody knows that it only
// reads there.
func TestPlacesAreAskedAbout(t *testing.T) {
	_, guards := desk(t, ModeYolo, Layer{Rank: RankUser, Permissions: Permissions{Ask: []string{"write_file(./deploy/**)"}}})
	for _, line := range []string{
		"cp a deploy/x", "tar czf deploy/x.tgz src", "tar xf a.tar -C deploy", "find deploy -name prod.yml -delete", "gzip deploy/k", "sort -o deploy/k a.txt", "sort --output=deploy/k a.txt", "xxd a.txt deploy/o", "go build -o deploy/bin .",
		"git init -q deploy/repo", "git checkout -- deploy/x", "split -b1 a.txt deploy/sp", "csplit -f deploy/cs a.txt 3", "openssl rand -out deploy/rnd 4", `sed -n "w deploy/sed" a.txt`, "sed -i s/a/b/ deploy/x", `awk 'BEGIN{print > "deploy/awk"}'`,
		`python3 -c "open('deploy/py','w')"`, `perl -e 'open F,">deploy/pl"'`, `node -e 'require("fs").writeFileSync("deploy/n","x")'`, "zip deploy/a.zip x", "unzip a.zip -d deploy", "unzip -ddeploy a.zip", "dd if=a of=deploy/x", "install -m 644 a deploy/x", "truncate -s 0 deploy/x", "shred deploy/x",
		"patch deploy/x a.patch", "patch deploy/x < a.patch", "curl -o deploy/x http://x.example", "wget -P deploy http://x.example", "make -C deploy", "cd deploy && make", "cd deploy && tar xf ../a.tar", "ffmpeg -i a.mp4 deploy/b.mp4", "python3 - <<E\nopen('deploy/x', 'w')\nE",
		"x=deploy/k; cp a $x", "echo a | tee deploy/x", "echo a > deploy/x", "rsync -a src/ deploy/", "env tar czf deploy/x.tgz src", "sh -c 'gzip deploy/k'", "npx prettier --write deploy/x.yml", "unknown-tool deploy/x", "script deploy/log",
		"cp a $PWD/deploy/x", "echo 1 > $PWD/deploy/x", "touch ${PWD}/deploy/x", "touch $(pwd)/deploy/x", "touch `pwd`/deploy/x", "touch $(git rev-parse --show-toplevel)/deploy/x", "mv $PWD/deploy xd", "touch ${X}deploy/x", "touch ./${X}deploy/x", "cp a src/../$X/deploy/x",
		"cd a; cd ../b; cd ../deploy; touch x", "env --chd=deploy touch x", "ln -sf ../deploy src/d; touch src/d/x", "TMPDIR=deploy mktemp", "docker cp c:/x deploy/", "kubectl cp p:/x deploy/x",
	} {
		r := toolcrib.Review{Spec: shellTool("run_command"), Input: mustJSON(t, map[string]string{"command": line})}
		if x := explain(guards, r); x.Decision != toolcrib.Ask {
			t.Errorf("%q: %v", line, x.Decision)
		}
	}
	for _, line := range []string{
		"cat deploy/x", "grep -rn a deploy", "ls -la deploy", "diff deploy/x a", "find deploy -name '*.yml'", "sort deploy/x", "git add deploy/x", "git diff deploy", "git commit deploy/x -m a", "go vet ./deploy/...", "kubectl apply -f deploy/x.yml", "docker build -f deploy/Dockerfile .",
		"cp a b", "tar czf a.tgz src", "cd src && make", "echo deploy/x", "make deploy-docs", "jq . deploy/x.json", "env cat deploy/x", "head -5 deploy/x > a.txt", "cp a $PWD/src/x", "touch $(git rev-parse --show-toplevel)/src/x", "X=src/y; touch $X", "ln -s ../a src/d; touch src/d/x", "curl -s http://x.example/deploy/x",
	} {
		r := toolcrib.Review{Spec: shellTool("run_command"), Input: mustJSON(t, map[string]string{"command": line})}
		if x := explain(guards, r); x.Decision != toolcrib.Allow {
			t.Errorf("%q: %v: %s", line, x.Decision, said(x))
		}
	}
}
