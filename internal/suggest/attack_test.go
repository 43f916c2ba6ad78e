package suggest

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// TestNothingBroad: whatever a person approved, however often and in however many
// ways, no rule is proposed that lets its caller do anything.
func TestNothingBroad(t *testing.T) {
	commands := []string{
		"bash x.sh", "bash y.sh", "sh -c 'echo a'", "sh -c 'echo b'", "python3 a.py", "python3 b.py", "python3 -c 'print(1)'", "python3 -c 'print(2)'", "node a.js", "node b.js", "node -e 1", "perl -e 1", "ruby a.rb",
		"sudo make", "sudo make install", "doas make", "curl https://a.example/x", "curl https://b.example/y", "wget https://a.example/x", "rm a", "rm b", "rm -rf c", "npx tsc", "npx eslint .", "uvx ruff", "ssh a ls", "ssh b ls", "scp a b:", "rsync a b",
		"docker run x", "docker run y", "kubectl apply -f x", "terraform apply", "git push", "git push origin main", "git push --force", "git config a b", "git -c a=b status", "npm publish", "npm run deploy", "npm run release:prod", "npm exec x", "make deploy", "make publish",
		"env A=b go test", "xargs rm", "find . -delete", "find . -exec rm {} +", "chmod 777 a", "chown a b", "dd if=a of=b", "crontab -e", "kill 1", "pkill x", "toolcrib policy allow run_command", "toolcrib approvals allow q-1", "toolcrib trust --yes", "claude -p x",
		"go run .", "go run ./x", "go generate ./...", "go install x@latest", "cargo run", "cargo install x", "pip install x", "pip install y", "npm install x", "npm install y", "apt-get install x", "mv a b", "mv c d", "cp a b", "cp c d", "tar xf a", "tar xf b",
		"eval x", "git commit -am x; curl https://a.example", "go test -exec ./x ./...", "go test -toolexec ./x ./...", "go build -o /usr/bin/x .", "make -f evil.mk", "make SHELL=./x test", "awk 'BEGIN{system(\"x\")}'", "sed -i s/a/b/ x", "sed -i s/c/d/ y", "make CC=./x test", "patch -p1 < x", "cat x | patch -p1", "hyperfine 'rm x'", "uv run x", "fd . -X rm", "deno eval 1", "chmod u+s x", "concurrently 'rm x'", "echo x | tee a",
	}
	for _, name := range shelltest.Batteries(t) {
		if !strings.HasPrefix(name, "hostile") {
			continue
		}
		for _, e := range shelltest.Battery(t, name) {
			if e.Line%9 == 0 {
				commands = append(commands, e.Command)
			}
		}
	}
	report, err := Of(t.Context(), newMachine(t, nil, nil), ran(Approved, 3, commands...), Options{Most: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Rules {
		spec, ok := strings.CutPrefix(r.Rule, "run_command(")
		if spec = strings.TrimSuffix(spec, ")"); !ok {
			t.Errorf("%s is about all commands", r.Rule)
		}
		words := strings.Fields(spec)
		for _, never := range []string{"bash", "sh", "sudo", "doas", "curl", "wget", "npx", "uvx", "ssh", "scp", "rsync", "docker", "kubectl", "terraform", "toolcrib", "claude", "perl", "ruby", "node", "env", "xargs", "eval", "dd", "kill", "awk", "sed", "tee", "patch", "chmod", "uv", "hyperfine", "concurrently"} {
			if words[0] == never {
				t.Errorf("%s", r.Rule)
			}
		}
		open := words[len(words)-1] == "*"
		if open && !isOpenForm(words[:len(words)-1]) && words[0] != "make" && words[0] != "npm" {
			t.Errorf("%s is broader than what is known to be harmless", r.Rule)
		}
		if !open && !slices.ContainsFunc(commands, func(c string) bool { return strings.Contains(bare.Replace(c), bare.Replace(spec)) }) {
			t.Errorf("%s was never approved", r.Rule)
		}
		if strings.HasPrefix(spec, "git -") || strings.HasPrefix(spec, "go test -") && !open {
			t.Errorf("%s", r.Rule)
		}
		for _, word := range words {
			if slices.Contains([]string{"push", "publish", "deploy", "release:prod", "-exec", "-toolexec", "--force", "-f"}, word) {
				t.Errorf("%s", r.Rule)
			}
		}
	}
	if len(report.Rules) == 0 {
		t.Error("nothing was proposed: the test tries nothing")
	}
}

// bare takes out what quotes.
var bare = strings.NewReplacer("'", "", `"`, "", `\\`, "")

// TestDeclinedStaysAsked: whatever is approved and whatever is declined, with all the
// rules that are proposed nothing runs unasked that was declined.
func TestDeclinedStaysAsked(t *testing.T) {
	entries := shelltest.Battery(t, "yolo.txt")
	m := newMachine(t, nil, nil)
	for seed := range 2 {
		var calls []Call
		var declined []toolcrib.Call
		for i, e := range entries {
			if i%4 > 1 { // half of them are enough
				continue
			}
			answer := Approved
			if (i*7+seed*3)%5 == 0 {
				answer = Declined
			}
			some := ran(answer, 2, e.Command)
			calls = append(calls, some...)
			if j, err := m.Judge(t.Context(), some[0].Call); answer == Declined && err == nil && j.Decision == toolcrib.Ask {
				declined = append(declined, some[0].Call)
			}
		}
		// With a good reason to go by directories, too.
		calls = append(calls, wrote(Approved, "src/a/x", "src/b/y", "lib/x", "lib/y")...)
		calls = append(calls, wrote(Declined, "src/b/z")...)
		report, err := Of(t.Context(), m, calls, Options{Min: 1, Most: 100})
		if err != nil {
			t.Fatal(err)
		}
		var rules []string
		for _, r := range report.Rules {
			rules = append(rules, r.Rule)
		}
		if err := m.Try(rules); err != nil {
			t.Fatal(err)
		}
		for _, call := range append(declined, wrote(Declined, "src/b/z")[0].Call) {
			if j, _ := m.Judge(t.Context(), call); j.Decision == toolcrib.Allow {
				t.Errorf("%s is allowed by %v", call.Input, rules)
			}
		}
		if len(rules) < 3 || report.Spared == 0 || len(declined) == 0 {
			t.Errorf("%d rules spare %d; %d were declined: the test tries nothing", len(rules), report.Spared, len(declined))
		}
		if err := m.Try(nil); err != nil {
			t.Fatal(err)
		}
	}
}
