package app

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/guard"
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
		"PATH=. plain.sh":                  "plain.sh",
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
	opt := guard.SystemOptions(dir)
	opt.Writable = []string{dir}
	f.Fuzz(func(t *testing.T, text string) {
		line := guard.Analyze(text, opt)
		files, known := scriptsOf(line, opt.Writable)
		seen := map[string]bool{}
		for _, file := range files {
			if seen[file.Path] || file.Sum == "" || !filepath.IsAbs(file.Path) {
				t.Errorf("%q: %+v", text, files)
			}
			seen[file.Path] = true
		}
		again, still := scriptsOf(guard.Analyze(text, opt), opt.Writable)
		if !slices.Equal(files, again) || known != still || len(files) > maxBound {
			t.Errorf("%q: %v, %v and %v, %v", text, files, known, again, still)
		}
	})
}
