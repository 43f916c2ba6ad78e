package toolcrib_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

// The rules of layers_test.go and policy_test.go are functions from a source
// tree to a list of violations. A tree is read from any fs.FS, so that each
// rule is also shown a small bad sample: a rule that cannot fail is no rule.

const modulePath = "github.com/toolcrib/toolcrib"

// tree is the source of a module. It is read file by file and not by "go
// list", so that a file for another operating system is held to the rules too.
type tree struct {
	fset *token.FileSet
	pkgs []*srcPackage // by path
	fsys fs.FS
}

// srcPackage is one directory of Go files.
type srcPackage struct {
	path  string // below the module, "." for the root
	files []*srcFile
}

type srcFile struct {
	name  string // below the module
	test  bool
	lines int
	ast   *ast.File
}

// violation is a broken rule: where, what, and why the rule is there.
type violation struct{ at, what, why string }

func (v violation) String() string { return fmt.Sprintf("%s: %s\n\twhy: %s", v.at, v.what, v.why) }

func readTree(fsys fs.FS) (*tree, error) {
	t := &tree{fset: token.NewFileSet(), fsys: fsys}
	byPath := map[string]*srcPackage{}
	err := walkSource(fsys, func(name string) error {
		if path.Ext(name) != ".go" || slices.Contains(strings.Split(path.Dir(name), "/"), "testdata") {
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(t.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := path.Dir(name)
		if byPath[dir] == nil {
			byPath[dir] = &srcPackage{path: dir}
			t.pkgs = append(t.pkgs, byPath[dir])
		}
		byPath[dir].files = append(byPath[dir].files, &srcFile{
			name: name, test: strings.HasSuffix(name, "_test.go"),
			lines: strings.Count(string(text), "\n"), ast: f,
		})
		return nil
	})
	slices.SortFunc(t.pkgs, func(a, b *srcPackage) int { return strings.Compare(a.path, b.path) })
	return t, err
}

// walkSource visits every file of the module that a person wrote: not what
// tools put into dotted directories, bin and the like. The exception is .ci.
func walkSource(fsys fs.FS, visit func(name string) error) error {
	return fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			hidden := name != "." && name != ".ci" && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_"))
			if hidden || name == "bin" || name == "bench/out" || base == "vendor" || base == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		return visit(name)
	})
}

// sample makes a tree of the given files; the names are followed by the texts.
func sample(t *testing.T, namesAndTexts ...string) *tree {
	t.Helper()
	fsys := fstest.MapFS{}
	for i := 0; i < len(namesAndTexts); i += 2 {
		fsys[namesAndTexts[i]] = &fstest.MapFile{Data: []byte(namesAndTexts[i+1])}
	}
	tr, err := readTree(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// readThis reads the module the tests stand in, once for all rules: "go test"
// runs in its directory.
var readThis = sync.OnceValues(func() (*tree, error) { return readTree(os.DirFS(".")) })

// thisTree is that module. Rules look at it and change nothing.
func thisTree(t *testing.T) *tree {
	t.Helper()
	tr, err := readThis()
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.pkgs) < 3 {
		t.Fatalf("only %d packages found: the rules would hold for nothing", len(tr.pkgs))
	}
	return tr
}

// report fails the test for every violation.
func report(t *testing.T, found []violation) {
	t.Helper()
	for _, v := range found {
		t.Error(v)
	}
}

// mustFind fails unless a rule finds exactly these places in its bad sample.
func mustFind(t *testing.T, found []violation, at ...string) {
	t.Helper()
	var got []string
	for _, v := range found {
		got = append(got, v.at)
		if v.what == "" || v.why == "" {
			t.Errorf("%s: a violation must say what and why: %+v", v.at, v)
		}
	}
	slices.Sort(got)
	slices.Sort(at)
	if !slices.Equal(got, at) {
		t.Errorf("the rule found violations at %q in its bad sample, want %q\n%v", got, at, found)
	}
}

// imports gives the import specs of a file as path and local name.
func (f *srcFile) imports() map[string]string {
	out := map[string]string{}
	for _, spec := range f.ast.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser took it, so it is a string
		}
		name := path.Base(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		out[p] = name
	}
	return out
}

// ours turns an import path into a path below the module.
func ours(importPath string) (string, bool) {
	if importPath == modulePath {
		return ".", true
	}
	return strings.CutPrefix(importPath, modulePath+"/")
}

// isStd reports whether an import path is of the standard library: only
// there has the first element no dot.
func isStd(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}
