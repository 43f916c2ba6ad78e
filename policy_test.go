package toolcrib_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const maxLines = 600

func TestEveryPackageHasADoc(t *testing.T) { report(t, checkPackageDocs(thisTree(t))) }
func TestNoFileIsTooLong(t *testing.T)     { report(t, checkFileSize(thisTree(t))) }
func TestNoInit(t *testing.T)              { report(t, checkInit(thisTree(t))) }
func TestExportedNamesHaveADoc(t *testing.T) {
	report(t, checkExportedDocs(thisTree(t)))
}
func TestRoomsStaySmall(t *testing.T) { report(t, checkRooms(thisTree(t))) }
func TestNoPackageState(t *testing.T) { report(t, checkState(thisTree(t), constantLike())) }

// constantLike lists package variables that are neither sentinel errors,
// embedded files nor compiled patterns, and yet never change: "package.name"
// and the reason. An entry for a variable that is gone fails too.
func constantLike() map[string]string {
	return map[string]string{
		"internal/schema.pools":            "sync.Pools of scratch memory: they carry no meaning from one call to the next",
		"internal/shellguard.formTable":    "a table that is embedded, read once",
		"internal/shellguard.takenTable":   "a table that is embedded, read once",
		"internal/shellguard.neutralTable": "a table that is embedded, read once",
	}
}

func checkPackageDocs(tr *tree) []violation {
	var found []violation
	for _, p := range tr.pkgs {
		code, documented := false, false
		for _, f := range p.files {
			if f.test {
				continue
			}
			code = true
			documented = documented || f.ast.Doc != nil && strings.TrimSpace(f.ast.Doc.Text()) != ""
		}
		if code && !documented {
			found = append(found, violation{p.path, "the package has no doc comment", "it is where a newcomer learns what a package is for, who may import it and its one invariant"})
		}
	}
	return found
}

func checkFileSize(tr *tree) []violation {
	var found []violation
	for _, p := range tr.pkgs {
		for _, f := range p.files {
			if f.lines > maxLines {
				found = append(found, violation{f.name, fmt.Sprintf("%d lines, the limit is %d", f.lines, maxLines), "a file that long has more than one job"})
			}
		}
	}
	return found
}

// checkRooms holds the two packages where everything would meet to a size: the
// core is to be read in an afternoon, and app is lists and their wiring.
func checkRooms(tr *tree) []violation {
	var found []violation
	for _, p := range tr.pkgs {
		limit, ok := map[string]int{".": 4000, "internal/app": 3000}[p.path]
		if !ok {
			continue
		}
		lines, names := 0, 0
		for _, f := range p.files {
			if f.test {
				continue
			}
			lines += f.lines
			for _, d := range f.ast.Decls {
				names += exportedNames(d)
			}
		}
		if lines > limit {
			found = append(found, violation{p.path, fmt.Sprintf("%d lines, the limit is %d", lines, limit), "what is no idea of the core, and no wiring in app, has a package of its own"})
		}
		if p.path == "." && names > 78 {
			found = append(found, violation{p.path, fmt.Sprintf("%d exported names, the limit is 78", names), "every name is one that all who use the library have to know"})
		}
	}
	return found
}

func exportedNames(d ast.Decl) (n int) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.IsExported() {
			n++
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					n++
				}
			case *ast.ValueSpec:
				for _, id := range s.Names {
					if id.IsExported() {
						n++
					}
				}
			}
		}
	}
	return n
}

func checkInit(tr *tree) []violation {
	var found []violation
	for _, p := range tr.pkgs {
		for _, f := range p.files {
			for _, d := range f.ast.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
					found = append(found, violation{f.name, "has an init function", "what happens by being imported cannot be chosen, ordered or tested"})
				}
			}
		}
	}
	return found
}

// checkState finds package variables that could be written. Test files are
// free: their state ends with the test binary.
func checkState(tr *tree, justified map[string]string) []violation {
	const why = "two cribs in one process must not know of each other: state belongs to a value that someone made"
	var found []violation
	used := map[string]bool{}
	for _, p := range tr.pkgs {
		for _, f := range p.files {
			if f.test {
				continue
			}
			for _, name := range mutableVars(f) {
				key := p.path + "." + name
				if justified[key] != "" {
					used[key] = true
					continue
				}
				found = append(found, violation{f.name, "package variable " + name + " is state: make it a constant, a function or a field", why})
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(justified)) {
		if !used[key] {
			found = append(found, violation{key, "the table constantLike excuses a variable that is not there", why})
		}
	}
	return found
}

func mutableVars(f *srcFile) []string {
	var names []string
	for _, d := range f.ast.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.VAR {
			continue
		}
		for _, s := range decl.Specs {
			spec, ok := s.(*ast.ValueSpec)
			if !ok || isEmbedded(decl, spec) {
				continue
			}
			for i, id := range spec.Names {
				if id.Name != "_" && (i >= len(spec.Values) || !isConstantCall(f, spec.Values[i])) {
					names = append(names, id.Name)
				}
			}
		}
	}
	return names
}

// isConstantCall knows the calls whose values are as good as constants.
func isConstantCall(f *srcFile, value ast.Expr) bool {
	call, ok := value.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	if !ok {
		return false
	}
	for p, name := range f.imports() {
		if name != pkg.Name {
			continue
		}
		switch p + "." + sel.Sel.Name {
		case "errors.New", "fmt.Errorf", "regexp.MustCompile", "github.com/toolcrib/toolcrib/internal/pattern.Of":
			return true
		}
	}
	return false
}

// TestPatterns compiles every text that is given to pattern.Of: one that cannot be read
// would be noticed at its first use only.
func TestPatterns(t *testing.T) {
	seen := 0
	for _, p := range thisTree(t).pkgs {
		for _, f := range p.files {
			ast.Inspect(f.ast, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || f.test || !isConstantCall(f, call) {
					return true
				}
				if of, _ := call.Fun.(*ast.SelectorExpr); of == nil || of.Sel.Name != "Of" || len(call.Args) != 1 {
					return true
				}
				seen++
				text, err := constantText(call.Args[0])
				if err == nil {
					_, err = regexp.Compile(text)
				}
				if err != nil {
					t.Errorf("%s: %v", f.name, err)
				}
				return true
			})
		}
	}
	if seen == 0 {
		t.Error("no pattern was found")
	}
}

// constantText is the text of a literal, or of several joined by +.
func constantText(e ast.Expr) (string, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return strconv.Unquote(e.Value)
	case *ast.BinaryExpr:
		left, err := constantText(e.X)
		if err != nil || e.Op != token.ADD {
			return "", errors.Join(err, errors.New("only texts are joined"))
		}
		right, err := constantText(e.Y)
		return left + right, err
	}
	return "", errors.New("a pattern is not a literal text")
}

func isEmbedded(decl *ast.GenDecl, spec *ast.ValueSpec) bool {
	for _, doc := range []*ast.CommentGroup{decl.Doc, spec.Doc} {
		if doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") }) {
			return true
		}
	}
	return false
}

// checkExportedDocs looks at the packages people outside use.
func checkExportedDocs(tr *tree) []violation {
	var found []violation
	for _, p := range tr.pkgs {
		if p.path != "." && p.path != "cribtest" && !strings.HasPrefix(p.path, "toolbox/") {
			continue
		}
		for _, f := range p.files {
			if f.test {
				continue
			}
			for _, name := range undocumented(f) {
				found = append(found, violation{f.name, name + " has no doc comment", "it is the public face of the module"})
			}
		}
	}
	return found
}

func undocumented(f *srcFile) []string {
	var names []string
	for _, d := range f.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if !d.Name.IsExported() || d.Doc != nil {
				continue
			}
			if d.Recv == nil {
				names = append(names, d.Name.Name)
			} else if r := receiver(d); ast.IsExported(r) && d.Name.Name != "String" && d.Name.Name != "Error" {
				names = append(names, r+"."+d.Name.Name) // String and Error say it by their names
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				names = append(names, undocumentedSpec(d, s)...)
			}
		}
	}
	return names
}

// undocumentedSpec: a comment on a group speaks for its constants and
// variables, a type has one of its own.
func undocumentedSpec(d *ast.GenDecl, s ast.Spec) []string {
	var names []string
	switch s := s.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() && s.Doc == nil && (d.Doc == nil || d.Lparen.IsValid()) {
			names = append(names, s.Name.Name)
		}
	case *ast.ValueSpec:
		for _, id := range s.Names {
			if id.IsExported() && s.Doc == nil && s.Comment == nil && d.Doc == nil {
				names = append(names, id.Name)
			}
		}
	}
	return names
}

func receiver(d *ast.FuncDecl) string {
	e := d.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

func TestPolicyRulesCanFail(t *testing.T) {
	t.Run("package doc", func(t *testing.T) {
		mustFind(t, checkPackageDocs(sample(t, "a/a.go", "package a", "a/a_test.go", "// Package a is told by its test only.\npackage a",
			"b/doc.go", "// Package b says so.\npackage b", "b/b.go", "package b", "c/c_test.go", "package c")), "a")
	})
	t.Run("file size", func(t *testing.T) {
		mustFind(t, checkFileSize(sample(t, "long_test.go", "package a\n"+strings.Repeat("\n", maxLines), "good.go", "package a\n"+strings.Repeat("\n", maxLines-1))), "long_test.go")
	})
	t.Run("init", func(t *testing.T) {
		mustFind(t, checkInit(sample(t, "a.go", "package a\nfunc init() {}", "good.go", "package a\ntype t int\nfunc (t) init() {}")), "a.go")
	})
	t.Run("state", func(t *testing.T) {
		tr := sample(t,
			"p/map.go", "package p\nvar m = map[string]int{}",
			"p/zero.go", "package p\nvar count int",
			"p/group.go", "package p\nimport \"sync\"\nvar (\n\tmu sync.Mutex\n\t_ = mu\n)",
			"p/second.go", "package p\nimport \"errors\"\nvar errA, list = errors.New(\"a\"), []int{1}",
			"p/fake.go", "package p\nimport errors \"strings\"\nvar e = errors.New(\"x\")",
			"p/excused.go", "package p\nvar table = [...]int{1}",
			"p/good_test.go", "package p\nvar state int",
			"p/good.go", "package p\nimport (\"errors\"; \"regexp\"; _ \"embed\")\nvar errA = errors.New(\"a\")\nvar _ error = errA\nvar re = regexp.MustCompile(\"a\")\n//go:embed good.md\nvar text string",
		)
		mustFind(t, checkState(tr, map[string]string{"p.table": "never written", "p.gone": "was here once"}),
			"p/map.go", "p/zero.go", "p/group.go", "p/second.go", "p/fake.go", "p.gone")
	})
	t.Run("exported docs", func(t *testing.T) {
		mustFind(t, checkExportedDocs(sample(t,
			"func.go", "package p\nfunc F() {}",
			"cribtest/type.go", "package p\n// T has none of its own: the comment is the group's.\ntype (\n\tT int\n)",
			"toolbox/a/method.go", "package p\n// T is.\ntype T[X any] struct{}\nfunc (t *T[X]) M() {}",
			"toolbox/a/var.go", "package p\nvar V = 1",
			"toolbox/a/good.go", "package p\n// A is.\nconst A = 1\n// B and C are.\nconst (\n\tB = 1\n\tC = 2\n)\ntype t int\nfunc (t) M() {}\n// U is.\ntype U int\nfunc (U) String() string { return \"\" }",
			"internal/x/good.go", "package x\nfunc F() {}",
		)), "func.go", "cribtest/type.go", "toolbox/a/method.go", "toolbox/a/var.go")
	})
}
