package toolcrib_test

import (
	"fmt"
	"go/ast"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What the pages say about the source is checked here: each file, directory and
// package that a page names is there, and each package has its line on the map.

func TestPagesNameWhatExists(t *testing.T) {
	fsys := os.DirFS(".")
	report(t, checkNamed(fsys, pages(t, fsys), planned()))
}

// TestPagesAreMerged: no page still has both sides of a merge.
func TestPagesAreMerged(t *testing.T) {
	fsys := os.DirFS(".")
	for _, page := range append(pages(t, fsys), "CHANGELOG.md") {
		text, err := fs.ReadFile(fsys, page)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(line, "<<<<<<< ") || strings.HasPrefix(line, ">>>>>>> ") {
				t.Errorf("%s:%d: %s", page, i+1, line)
			}
		}
	}
}

func TestEveryPackageHasItsLine(t *testing.T) {
	report(t, checkMapped(thisTree(t), mapPage))
}

func TestTableNamesWhatExists(t *testing.T) {
	report(t, checkTable(thisTree(t), rules(), libraries(), planned()))
}

func TestStepsAreWhereThePageSays(t *testing.T) {
	report(t, checkSteps(thisTree(t), mapPage))
}

// mapPage tells what each package is for.
const mapPage = "docs/architecture.md"

// planned are packages that have a place and are not written yet: pages and the
// table of layers may name them. Who writes one takes it off this list.
func planned() []string {
	return []string{"internal/fabric", "internal/serve", "internal/store/postgres"}
}

// pages are the ones that speak of the source.
func pages(t *testing.T, fsys fs.FS) []string {
	t.Helper()
	list := []string{"CONTRIBUTING.md", "README.md"}
	for _, pattern := range []string{"docs/*.md", "docs/adr/*.md"} {
		names, err := fs.Glob(fsys, pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d pages, %v", pattern, len(names), err)
		}
		list = append(list, names...)
	}
	return list
}

var (
	// A path of ours begins with a directory of the repository that holds Go
	// files somewhere. {a b} is a list of names, * any name, … and <…> what the
	// reader puts in.
	pathNamed = regexp.MustCompile(`(^|[^\w./-])(?:\./)?(\.?[a-z]\w*/(?:[\w./*-]|\{[^}]*\})*)`)
	fileNamed = regexp.MustCompile("`([\\w*]+\\.go)`")
	boldName  = regexp.MustCompile(`\*\*([\w./-]+)\*\*`)
)

// checkNamed finds names of files, directories and packages on pages that mean
// nothing in the source.
func checkNamed(fsys fs.FS, names, planned []string) []violation {
	known, tops, err := knownNames(fsys)
	if err != nil {
		return []violation{{".", err.Error(), "the names of the source are held against the pages"}}
	}
	exists := func(name string) bool {
		return slices.ContainsFunc(known, func(k string) bool {
			ok, err := path.Match(name, k)
			return ok && err == nil
		}) || slices.Contains(known, "toolbox/"+name+".go") || // the name of a tool with its box
			slices.Contains(planned, strings.TrimSuffix(name, "/*")) || strings.HasPrefix(name, "bench/out")
	}
	const why = "a reader who follows the page finds nothing there; say the name it has now, or take the sentence out"
	var found []violation
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			found = append(found, violation{name, err.Error(), why})
			continue
		}
		for at, block := range blocks(string(text)) {
			var dirs []string
			for _, n := range namedPaths(block, tops) {
				where := fmt.Sprintf("%s:%d", name, at+strings.Count(block[:n.at], "\n"))
				if !exists(n.name) {
					found = append(found, violation{where, fmt.Sprintf("names %s, which is not in the repository", n.name), why})
				}
				dirs = append(dirs, n.name)
			}
			for _, m := range fileNamed.FindAllStringSubmatchIndex(block, -1) {
				file := block[m[2]:m[3]]
				if placeholder(file) || exists(file) || slices.ContainsFunc(dirs, func(d string) bool { return exists(d + "/" + file) }) {
					continue
				}
				found = append(found, violation{fmt.Sprintf("%s:%d", name, at+strings.Count(block[:m[0]], "\n")),
					fmt.Sprintf("names %s, which is neither in the root package nor in a package that the same paragraph names (%s)", file, orNone(dirs)), why})
			}
		}
	}
	return found
}

// placeholder reports whether a file name stands for that of any tool.
func placeholder(file string) bool { return file == "x.go" || file == "x_test.go" }

// knownNames gives every file and directory of the source, and the directories
// at the top that hold Go files.
func knownNames(fsys fs.FS) (known, tops []string, err error) {
	seen := map[string]bool{}
	err = walkSource(fsys, func(name string) error {
		known = append(known, name)
		for dir := path.Dir(name); dir != "." && !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			known = append(known, dir)
		}
		if top, _, deep := strings.Cut(name, "/"); deep && path.Ext(name) == ".go" && !slices.Contains(tops, top) {
			tops = append(tops, top)
		}
		return nil
	})
	return known, tops, err
}

// namedPath is a path on a page and where it stands in its block.
type namedPath struct {
	name string
	at   int
}

// namedPaths gives the paths in a block that begin with one of these directories.
func namedPaths(block string, tops []string) []namedPath {
	block = strings.ReplaceAll(block, modulePath+"/", strings.Repeat(" ", len(modulePath))+" ")
	var out []namedPath
	for _, m := range pathNamed.FindAllStringSubmatchIndex(block, -1) {
		name, at := block[m[4]:m[5]], m[4]
		if top, _, _ := strings.Cut(name, "/"); !slices.Contains(tops, top) {
			continue
		}
		if rest := block[m[5]:]; strings.HasPrefix(rest, "…") || strings.HasPrefix(rest, "<") {
			name = path.Dir(name + "x") // the reader's own name, below this directory
		}
		head, list, isList := strings.Cut(name, "{")
		if !isList {
			out = append(out, namedPath{plainPath(name), at})
			continue
		}
		list, _, _ = strings.Cut(list, "}")
		for element := range strings.FieldsSeq(list) {
			if element != "…" {
				out = append(out, namedPath{plainPath(head + element), at})
			}
		}
	}
	return out
}

// plainPath takes off what belongs to the sentence.
func plainPath(name string) string {
	name = strings.TrimSuffix(strings.TrimRight(name, "."), "/...")
	return strings.Trim(strings.TrimRight(name, "./"), " ")
}

// blocks gives the paragraphs, points of lists and rows of tables of a page by
// the number of their first line.
func blocks(text string) map[int]string {
	out := map[int]string{}
	start, n := 1, 0
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			out[start] = b.String()
			b.Reset()
		}
	}
	for line := range strings.Lines(text) {
		n++
		if strings.TrimSpace(line) == "" {
			flush()
			continue
		}
		if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "|") {
			flush()
		}
		if b.Len() == 0 {
			start = n
		}
		b.WriteString(line)
	}
	flush()
	return out
}

// checkMapped finds packages that the map leaves out.
func checkMapped(tr *tree, page string) []violation {
	const why = "the map is how a newcomer finds the way; a package that is not on it is found by chance"
	text, err := fs.ReadFile(tr.fsys, page)
	if err != nil {
		return []violation{{page, err.Error(), why}}
	}
	var onMap []string
	for _, m := range boldName.FindAllStringSubmatch(string(text), -1) {
		onMap = append(onMap, m[1])
	}
	var found []violation
	for _, p := range tr.pkgs {
		if p.path == "." || slices.Contains(onMap, p.path) {
			continue
		}
		found = append(found, violation{p.path, fmt.Sprintf("this package has no line in %s: add one that begins with **%s** and says what it is for", page, p.path), why})
	}
	return found
}

// checkSteps finds rows of the table of steps whose files do not have the step.
func checkSteps(tr *tree, page string) []violation {
	const why = "the table leads the reader of a call from file to file"
	text, err := fs.ReadFile(tr.fsys, page)
	if err != nil {
		return []violation{{page, err.Error(), why}}
	}
	var found []violation
	rows := 0
	for at, row := range blocks(string(text)) {
		cells := strings.Split(row, " | ")
		if len(cells) != 4 || !fileNamed.MatchString(cells[2]) {
			continue
		}
		rows++
		step := strings.Trim(cells[0], "| ")
		has := slices.ContainsFunc(fileNamed.FindAllStringSubmatch(cells[2], -1), func(m []string) bool { return declares(tr, m[1], step) })
		if !has {
			found = append(found, violation{fmt.Sprintf("%s:%d", page, at), fmt.Sprintf("says that the step %s is in %s; no method of that name is there", step, cells[2]), why})
		}
	}
	if rows == 0 {
		found = append(found, violation{page, "has no table of the steps and their files", why})
	}
	return found
}

// declares reports whether a file of the root package has this method.
func declares(tr *tree, file, method string) bool {
	for _, p := range tr.pkgs {
		for _, f := range p.files {
			if f.name == file && slices.ContainsFunc(f.ast.Decls, func(d ast.Decl) bool {
				fn, ok := d.(*ast.FuncDecl)
				return ok && fn.Recv != nil && fn.Name.Name == method
			}) {
				return true
			}
		}
	}
	return false
}

// checkTable finds what the tables of layers_test.go name and nobody wrote.
func checkTable(tr *tree, table []rule, homes []heavy, planned []string) []violation {
	const why = "a place for a package that has gone hides that the one which came after it has none of its own"
	is := func(pattern string) bool {
		if strings.HasSuffix(pattern, "...") && pattern != "..." {
			pattern = strings.TrimSuffix(pattern, "/...") + "/..."
		}
		return pattern == "..." || slices.ContainsFunc(tr.pkgs, func(p *srcPackage) bool { return matchPattern(pattern, p.path) }) ||
			slices.ContainsFunc(planned, func(p string) bool { return matchPattern(pattern, p) || matchPattern(pattern, p+"/x") })
	}
	var found []violation
	missing := func(what, pattern string) {
		if !is(pattern) {
			found = append(found, violation{"layers_test.go", fmt.Sprintf("%s %s, and there is no such package", what, pattern), why})
		}
	}
	for _, r := range table {
		missing("the table of layers has a place for", r.packages)
		for _, may := range r.may {
			missing(fmt.Sprintf("the table of layers lets %s import", r.packages), may)
		}
	}
	for _, h := range homes {
		for _, in := range slices.Concat(h.in, h.tests) {
			missing(fmt.Sprintf("the table of libraries says that %s is at home in", h.library), in)
		}
	}
	for _, p := range planned {
		if slices.ContainsFunc(tr.pkgs, func(have *srcPackage) bool { return have.path == p }) {
			found = append(found, violation{"docs_test.go", p + " is on the list of planned packages, and it is there: take it off the list", why})
		}
	}
	return found
}

func TestDocRulesCanFail(t *testing.T) {
	tr := sample(t,
		"crib.go", "package toolcrib\nfunc (c *Crib) begin() {}\n",
		"files_a.go", "package toolcrib\n",
		"internal/desk/desk.go", "package desk\n",
		"internal/store/sqlite/s.go", "package sqlite\n",
		".ci/tally/main.go", "package main\n",
		"good.md", "**internal/desk**: `desk.go`, `crib.go`, `files*.go`, `x.go`; internal/{desk store/sqlite …} and `internal/serve/…`,\n"+
			"`internal/store/*`, ./internal/... (`.ci/tally`). `src/main.go`, my/internal/x, `go test ./internal/<name>` and "+modulePath+"/internal/desk.\n"+
			"**internal/store/sqlite** **.ci/tally**\n\n| begin | writes | `files_a.go`, `crib.go` | nothing |\n",
		"gone.md", "First.\n\nThe desk is in\ninternal/bureau.\n",
		"list.md", "internal/{desk vault}",
		"glob.md", "`internal/vault/*`",
		"module.md", "import "+modulePath+"/internal/vault",
		"file.md", "`desk.go` is nowhere near\n\n- **internal/desk**: `crib.go`\n- `desk.go`\n",
		"steps.md", "\n| end | writes | `crib.go` | nothing |\n",
		"empty.md", "**internal/desk**",
	)
	mustFind(t, checkNamed(tr.fsys, []string{"good.md", "gone.md", "list.md", "glob.md", "module.md", "file.md"}, []string{"internal/serve"}),
		"gone.md:4", "list.md:1", "glob.md:1", "module.md:1", "file.md:1", "file.md:4")
	mustFind(t, checkMapped(tr, "good.md"))
	mustFind(t, checkMapped(tr, "empty.md"), "internal/store/sqlite", ".ci/tally")
	mustFind(t, checkSteps(tr, "good.md"))
	mustFind(t, checkSteps(tr, "steps.md"), "steps.md:2")
	mustFind(t, checkSteps(tr, "empty.md"), "empty.md")
	mustFind(t, checkTable(tr, []rule{{packages: "."}, {packages: "internal/desk/..."}, {packages: "internal/serve/*/..."}, {packages: "internal/store/*", may: []string{".", "internal/..."}}},
		[]heavy{{in: []string{"internal/desk"}, tests: []string{"..."}}}, []string{"internal/serve"}))
	mustFind(t, checkTable(tr, []rule{{packages: "internal/gone"}, {packages: "internal/desk", may: []string{"internal/lost/..."}}},
		[]heavy{{library: "lib", in: []string{"internal/away"}}}, []string{"internal/desk"}),
		"layers_test.go", "layers_test.go", "layers_test.go", "docs_test.go")
}
