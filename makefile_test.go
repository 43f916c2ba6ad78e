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
	there := testNames{}
	for _, p := range tr.pkgs {
		for _, f := range p.files {
			for _, d := range f.ast.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && f.test && strings.HasPrefix(fn.Name.Name, "Test") {
					there[fn.Name.Name]++
				}
			}
		}
	}
	var found []violation
	for _, names := range regexp.MustCompile(`\^Test(\([\w|]+\)|\w+)(\$\$)?`).FindAllStringSubmatch(string(text), -1) {
		for name := range strings.SplitSeq(strings.Trim(names[1], "()"), "|") {
			name = "Test" + name
			if names[2] == "" && !strings.HasPrefix(names[1], "(") { // what begins so
				name += "*"
			}
			if !there.has(name) {
				found = append(found, violation{"Makefile " + name, "there is no such test", "a pattern that chooses nothing says that it does"})
			}
		}
	}
	// What is taken out of all packages and run in one.
	for _, names := range regexp.MustCompile(`(?m)^(?:ALONE|NOBODY) .*\^Test(\([\w|]+\)|\w+)`).FindAllStringSubmatch(string(text), -1) {
		for name := range strings.SplitSeq(strings.Trim(names[1], "()"), "|") {
			if there["Test"+name] > 1 {
				found = append(found, violation{"Makefile Test" + name, "more than one test has this name", "only one of them would run"})
			}
		}
	}
	return found
}

// testNames counts the tests of each name.
type testNames map[string]int

// has: a star at the end stands for anything.
func (n testNames) has(name string) bool {
	begin, open := strings.CutSuffix(name, "*")
	if !open {
		return n[name] > 0
	}
	for full := range n {
		if strings.HasPrefix(full, begin) {
			return true
		}
	}
	return false
}

func TestMakefileRuleCanFail(t *testing.T) {
	mustFind(t, checkMakefile(sample(t, "Makefile", "LONG := ^Test(A|B|C)$$\nX := ^TestAtAny|^TestD$$|^TestNone\n", "a/a_test.go", "package a\nfunc TestA() {}\nfunc TestAtAnyTime() {}\nfunc TestDD() {}", "a/a.go", "package a\nfunc TestB() {}")),
		"Makefile TestB", "Makefile TestC", "Makefile TestD", "Makefile TestNone*")
	mustFind(t, checkMakefile(sample(t, "Makefile", "ALONE := ^Test(A|B)$$\n", "a/a_test.go", "package a\nfunc TestA() {}\nfunc TestB() {}", "b/b_test.go", "package b\nfunc TestA() {}")), "Makefile TestA")
}
