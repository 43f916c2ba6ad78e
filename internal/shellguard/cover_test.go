package shellguard

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// TestRulesMeanWhatPeopleThink: what each rule allows, and look-alikes that it does
// not. A line with a ! before it is not allowed.
func TestRulesMeanWhatPeopleThink(t *testing.T) {
	for rule, lines := range map[string][]string{
		"mkdir build":            {"mkdir build", "mkdir -p build", "mkdir -pv build", "mkdir --parents build", "!mkdir src", "!mkdir build src", "!mkdir -m 777 build", "!mkdir -Z build"},
		"mkdir":                  {"mkdir build", "mkdir -p a/b c", "!mkdir -m 777 x"},
		"npx tsc":                {"npx tsc", "npx tsc --noEmit", "npx tsc --noEmit --pretty false", "tsc --noEmit", "pnpm exec tsc", "yarn tsc --noEmit", "!npx tsc --outDir x", "!npx tsc -p other", "!npx --yes tsc", "!npx tsx", "!npx tsc @f", "!npx tsc --plugins x"},
		"npm test":               {"npm test", "npm test --silent", "npm test -- --watch=false", "npm test -- -t name", "npm run test", "npm t", "npm run test -- --coverage", "!npm test -- --config x", "!npm test --prefix x", "!npm test -- -c x", "!npm run build", "!npm test -- ../x", "!npm test -- '$(x)'", "!npm test '`x`'", "!npm test -- -t '$(x)'", "npm test -- -t 'adds two numbers'", "!npm test -- --reporter=./x.js"},
		"=npm test":              {"npm test", "timeout 60 npm test", "npm test 2>&1", "npm test > /dev/null 2>&1", "!npm test --silent", "!npm t", "!npm run test", "!npm test -- -t x"},
		"=npm run *":             {"npm run build", "!npm run-script build", "!npm test"},
		"go test ./...":          {"go test ./...", "go test -v -count=1 -run X ./...", "go test ./... -run 'A|B'", "go test ./internal/x", "!go test fmt", "!go test -exec sh ./...", "!go test -toolexec=x ./...", "!go test -o x ./...", "!go test -coverprofile=/x ./...", "!go test example.com/x@v1", "!go vet ./..."},
		"go test ./a":            {"go test -v ./a", "!go test ./b", "!go test ./a ./b", "!go test ./..."},
		"go build *":             {"go build -o bin/x ./cmd/x", "go build -ldflags='-s -w -X main.v=1' .", "!go build -o /x .", "!go build -o x .", "!go build -o bin/../x .", "!go build -o bin/.x .", "!go build -ldflags=-extld=x ."},
		"git commit":             {"git commit -m x", "git commit -am x", "git commit -q -m 'a b'", "!git commit -n -m x", "!git commit --no-verify -m x", "!git commit --amend", "!git commit -F x", "!git -c a=b commit -m x", "git -C sub commit -m x", "!git commit -m x file"},
		"git checkout -b":        {"git checkout -b x", "git checkout -q -b x", "git checkout -b x origin/main", "!git checkout x", "!git checkout -B x", "!git checkout -f -b x"},
		"git checkout -b *":      {"git checkout -b x", "git checkout -b x --track", "!git checkout -- x", "!git checkout -b x --exec=y"},
		"git switch -c *":        {"git switch -c x", "!git switch -C x", "!git switch x"},
		"git branch -d *":        {"git branch -d x", "!git branch -D x", "!git branch x"},
		"pytest":                 {"pytest", "pytest -q -x -k name tests/", "python -m pytest -q", "python3 -m pytest tests", "pytest --cov=src --cov-report=term-missing", "!pytest -p x", "!pytest -c x", "!pytest --cov-report=html:/x", "!python -m pytester", "!python3.11 -m pytest"},
		"make test":              {"make test", "make -j4 -s test", "make test -k", "make -C sub test", "!make test deploy", "!make -f other test", "!make SHELL=x test", "!make", "!make -C sub deploy"},
		"make *":                 {"make -C docs html", "!make -C docs SHELL=x", "!make --eval=x"},
		"cargo test *":           {"cargo test x -- --nocapture", "!cargo test -- --format=json -Zx", "!cargo --config x test", "!cargo test --config x"},
		"cargo clippy":           {"cargo clippy -- -D warnings", "!cargo clippy -- -C linker=x", "!cargo clippy --fix"},
		"cargo run *":            {"cargo run -- --help", "!cargo run -- --exec x", "!cargo run --config x"},
		"go run *":               {"go run ./cmd/x --help", "go run main.go a b", "!go run -exec x .", "!go run x.example/y@latest", "!go run . --config=x"},
		"sed -i *":               {"sed -i s/a/b/ f", "sed -i -e s/a/b/ f", "!sed -i s/a/b/e f", "!sed -i 'w x' f", "!sed -i -f x f", "!sed s/a/b/w f"},
		"sed *":                  {"sed -n 1p f", "!sed -i s/a/b/ f"},
		"rm *":                   {"rm a b", "rm -f a", "!rm -r a", "!rm -rf a", "!rm --recursive a"},
		"cp *":                   {"cp a b", "cp -r a b", "!cp -t x a", "!cp --target-directory=x a", "!cp -S x a b"},
		"gcc *":                  {"gcc -Wall -O2 -Iinclude -DX=1 -o app a.c -lm", "gcc -c a.c -o build/a.o", "!gcc -o a.c b.c", "!gcc -o Makefile a.c", "!gcc -wrapper x a.c", "!gcc -B. a.c", "!gcc -fplugin=x.so a.c", "!gcc -Wl,-x a.c", "!gcc @f", "!gcc -o ../a b.c", "!gcc -ofoo b.c", "!gcc -fprofile-dir=x a.c", "!gcc -specs=x a.c"},
		"cmake *":                {"cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug", "cmake -B build -G Ninja", "cmake --build build -j 4", "!cmake -P x", "!cmake -E rm x", "!cmake -DCMAKE_C_COMPILER=x -B b", "!cmake --build build -- SHELL=x", "!cmake --install build", "!cmake -DCMAKE_PROJECT_INCLUDE=ON -B b"},
		"mvn *":                  {"mvn -q -Dtest=A#b test", "mvn clean package -DskipTests", "!mvn -Dexec.executable=x exec:exec", "!mvn -Djvm=x test"},
		"yarn build":             {"yarn build", "yarn run build", "!yarn build --config x", "!yarn dlx build"},
		"npm install *":          {"npm i -D vitest", "!npm i ./x", "!npm i -g x"},
		"pip install -r dev.txt": {"pip install -q -r dev.txt", "!pip install -r other.txt", "!pip install -i x -r dev.txt", "!pip install -r dev.txt evil"},
		"golangci-lint run":      {"golangci-lint run --timeout 5m ./...", "!golangci-lint run -c x", "!golangci-lint run --out-format=x:y"},
		"docker compose logs":    {"docker compose logs --tail=5", "!docker compose -f x logs"},
		"mytool":                 {"mytool", "!mytool -v", "!mytool x"},
		"eslint":                 {"eslint --fix src", "!eslint -c x src", "!eslint --plugin x src"},
		"python3 tools/gen.py":   {"python3 tools/gen.py", "!python3 tools/gen.py x", "!python3 -x tools/gen.py"},
		"uv run pytest":          {"uv run pytest -q", "!uv run --with x pytest", "!uv run pytest -p x"},
		"git stash":              {"git stash", "!git stash drop", "!git stash clear"},
		"git push":               {"git push", "git push -v", "!git push -f", "!git push origin", "!git push --force"},
		"git push origin *":      {"git push origin x", "git push -u origin x", "!git push -f origin x", "!git push -u evil origin", "!git push evil"},
		"node --run *":           nil,
		"terraform plan":         {"terraform plan", "!terraform plan -var-file=x"},
		"./scripts/x.sh":         nil,
	} {
		r, err := ParseRule(rule)
		if lines == nil {
			if err == nil {
				t.Errorf("%q is read as %v", rule, r)
			}
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		again, err := ParseRule(r.String())
		if err != nil || again.String() != r.String() || again.Exact != r.Exact || again.Open != r.Open {
			t.Errorf("%q is written as %q: %v", rule, r, err)
		}
		s := shellOn(t, shelltest.NewMachine())
		s.Rules = []Rule{r}
		for _, line := range lines {
			line, not := strings.CutPrefix(line, "!")
			v := shelltest.Judge(t, s, line)
			if (v.Decision.String() == "allow") == not {
				t.Errorf("rule %q, line %q: %v %s", rule, line, v.Decision, v.Reason)
			}
		}
	}
}

// TestTheRuleAndTheArgument: where an argument breaks a rule that is about the
// command, the answer names both.
func TestTheRuleAndTheArgument(t *testing.T) {
	s := shellOn(t, shelltest.NewMachine())
	for line, says := range map[string]string{
		"go test -exec sh ./...":        "run_command(go test *) would allow go test -exec sh ./..., but for -exec",
		"go test ./... -toolexec=x":     "run_command(go test *) would allow go test ./... -toolexec=x, but for -toolexec=x",
		"git commit -m x --no-verify":   "run_command(git commit *) would allow git commit -m x --no-verify, but for --no-verify",
		"npm test --prefix x":           "but for --prefix",
		"make -f other test":            "run_command(make *) would allow make -f other test, but for -f",
		"pytest -p evil -c x":           "run_command(pytest *) would allow pytest -p evil -c x, but for -p",
		"ls && cargo test --config x=y": "but for --config",
		"go test $X":                    "run_command(go test *) would allow go test $X, but for",
		"touch x":                       "nothing allows touch x",
		"go generate ./...":             "nothing allows go generate ./...",
	} {
		v := shelltest.Judge(t, s, line)
		if first, _, _ := strings.Cut(v.Reason, "\n"); v.Decision.String() != "ask" || !strings.Contains(first, says) {
			t.Errorf("%q: %v %q, want %q", line, v.Decision, first, says)
		}
	}
}

// TestMessages: a message in a here-document is a literal word, and only that.
func TestMessages(t *testing.T) {
	s := shellOn(t, shelltest.NewMachine())
	for _, body := range []string{"a", "a\n\nb", "it doesn't (fail)", "`x` $(y) ${z} \\", "", "EOF2", " EOF", "\"", "a)"} {
		if v := shelltest.Judge(t, s, "git commit -m \"$(cat <<'EOF'\n"+body+"\nEOF\n)\""); v.Decision.String() != "allow" {
			t.Errorf("%q: %v %s", body, v.Decision, v.Reason)
		}
	}
	for _, line := range []string{
		"git commit -m $(cat <<'EOF'\nx\nEOF\n)", "git commit -m \"$(cat <<EOF\n$(x)\nEOF\n)\"", "git commit -m \"$(cat <<'EOF'\nx\nEOF\nevil)\"", "git commit -m \"$(cat f <<'EOF'\nx\nEOF\n)\"",
		"git commit -m \"$(cat <<'EOF'; evil\nx\nEOF\n)\"", "git commit -m \"$(tac <<'EOF'\nx\nEOF\n)\"", "git commit -m \"$(cat <<'EOF'\nx\nEOF\n)$X\"", "cat() { evil; }; git commit -m \"$(cat <<'EOF'\nx\nEOF\n)\"",
		"\"$(cat <<'EOF'\nevil\nEOF\n)\"", "sh -c \"$(cat <<'EOF'\nevil\nEOF\n)\"", "git \"$(cat <<'EOF'\npush\nEOF\n)\"", "git commit -m \"$(cat <<'EOF'\nx\nEOF\n)\" \"$(evil)\"", "git commit -m \"$(cat <<-'EOF'\nx\nEOF\n)\"",
		"git commit \"$(cat <<'EOF'\n--no-verify\nEOF\n)\" -m x", "PATH=. git commit -m \"$(cat <<'EOF'\nx\nEOF\n)\"",
	} {
		if v := shelltest.Judge(t, s, line); v.Decision.String() == "allow" {
			t.Errorf("%q runs unasked", line)
		}
	}
}

// FuzzMessage: whatever stands in the message, the word is that text, and a line in
// which the text could end sooner is not understood.
func FuzzMessage(f *testing.F) {
	for _, body := range []string{"x", "a\nEOF\nevil", "'", "\")\nevil", "a\\\nEOF", "EOF", "\tEOF", "$(evil)", "a\r\nEOF"} {
		f.Add(body)
	}
	m := shelltest.NewMachine()
	f.Fuzz(func(t *testing.T, body string) {
		l := Analyze("git commit -m \"$(cat <<'EOF'\n"+body+"\nEOF\n)\"", optionsOn(m))
		if len(l.Unknown) > 0 {
			return
		}
		for i := range l.Programs {
			p := &l.Programs[i]
			if p.Name != "git" || len(p.Args) != 3 || !p.Args[2].Literal {
				continue
			}
			if p.Args[2].Text != strings.TrimRight(body, "\n") || strings.Contains("\n"+body+"\n", "\nEOF\n") {
				t.Errorf("%q is read as %q", body, p.Args[2].Text)
			}
		}
	})
}

// FuzzRule: a rule of plain words is written as itself, and the words of a rule are
// allowed by it or named as what breaks it.
func FuzzRule(f *testing.F) {
	for _, text := range []string{"npm test", "=npm test", "=npm run *", "git checkout -b *", "= x", "==x", "=", "=*", "a:*", "'a b' *", "=a:*"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRule(text)
		if err != nil {
			return
		}
		plain := !slices.ContainsFunc(r.Words, func(w string) bool { return Quote(w) != w })
		if again, err := ParseRule(r.String()); plain && (err != nil || again.String() != r.String()) {
			t.Errorf("%q is written as %q: %v", text, r, err)
		}
		p := &Program{Name: r.Words[0], Path: r.Words[0], trusted: true, Dirs: []string{work}, Args: asArgs(r.Words[1:])}
		if !r.Open && !r.Match(p) {
			t.Errorf("%q does not allow itself", text)
		}
		p.Args = append(p.Args, asArgs([]string{"--x", "-y", "z"})...)
		if why, near := r.refusal(p); why != "" && near && nearest([]Rule{r}, p) == "" {
			t.Errorf("%q: nothing is named", text)
		}
	})
}
