package toolcrib_test

import (
	"go/ast"
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

// Patterns of the Makefile choose tests by their names: a name that was changed
// would choose nothing, and nobody would see it.
func TestMakefileNamesTests(t *testing.T) { report(t, checkMakefile(thisTree(t))) }

func checkMakefile(tr *tree) []violation {
	text, err := fs.ReadFile(tr.fsys, "Makefile")
	if err != nil {
		return []violation{{"Makefile", err.Error(), "it chooses tests"}}
	}
	there := map[string]bool{}
	for _, p := range tr.pkgs {
		for _, f := range p.files {
			for _, d := range f.ast.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && f.test && strings.HasPrefix(fn.Name.Name, "Test") {
					there[fn.Name.Name] = true
				}
			}
		}
	}
	var found []violation
	for _, group := range regexp.MustCompile(`\^Test\(([\w|]+)\)`).FindAllStringSubmatch(string(text), -1) {
		for name := range strings.SplitSeq(group[1], "|") {
			if !there["Test"+name] {
				found = append(found, violation{"Makefile Test" + name, "there is no such test", "a pattern that chooses nothing says that it does"})
			}
		}
	}
	return found
}

func TestMakefileRuleCanFail(t *testing.T) {
	mustFind(t, checkMakefile(sample(t, "Makefile", "LONG := ^Test(A|B|C)$$\n", "a/a_test.go", "package a\nfunc TestA() {}\nfunc other() {}", "a/a.go", "package a\nfunc TestB() {}")), "Makefile TestB", "Makefile TestC")
}
