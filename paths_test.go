package toolcrib_test

import (
	"fmt"
	"go/ast"
	"strings"
	"testing"
)

func TestPathsAreComparedInOneWay(t *testing.T) { report(t, checkPaths(thisTree(t))) }

// checkPaths refuses comparisons of paths that do not ask how the system compares names:
// filepath.Rel, which knows letter case on a Mac, and a beginning with a separator
// behind it. Files for one system only may, and so may the package that knows.
func checkPaths(tr *tree) []violation {
	var found []violation
	for _, p := range tr.pkgs {
		for _, f := range p.files {
			if f.test || p.path == "internal/pathglob" || p.path == "internal/conformance" || strings.HasSuffix(f.name, "_linux.go") {
				continue
			}
			ast.Inspect(f.ast, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if what := comparesPaths(call); what != "" {
					found = append(found, violation{f.name, fmt.Sprintf("%s compares paths by their bytes", what), "pathglob.Rel and pathglob.Holds know that C:\\Proj is c:\\proj, and /w/Proj on a Mac /w/proj: else a grant or a protection goes by how somebody wrote it"})
				}
				return true
			})
		}
	}
	return found
}

// comparesPaths names the call if it is one of filepath.Rel, or of strings.HasPrefix or
// CutPrefix with the separator of paths.
func comparesPaths(call *ast.CallExpr) string {
	sel, _ := call.Fun.(*ast.SelectorExpr)
	if sel == nil {
		return ""
	}
	pkg, _ := sel.X.(*ast.Ident)
	if pkg == nil {
		return ""
	}
	name := pkg.Name + "." + sel.Sel.Name
	switch name {
	case "filepath.Rel":
		return name
	case "strings.HasPrefix", "strings.CutPrefix":
		if len(call.Args) != 2 {
			return ""
		}
		separated := false
		if sum, ok := call.Args[1].(*ast.BinaryExpr); ok {
			ast.Inspect(sum, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && strings.HasSuffix(s.Sel.Name, "Separator") {
					separated = true
				}
				return true
			})
		}
		if separated {
			return name
		}
	}
	return ""
}

func TestPathRulesCanFail(t *testing.T) {
	mustFind(t, checkPaths(sample(t,
		"a.go", "package a\n\nfunc f() { filepath.Rel(x, y) }\n",
		"b.go", "package a\n\nfunc g() bool { return strings.HasPrefix(x, dir+string(filepath.Separator)) }\n",
		"good.go", "package a\n\nfunc h() bool { return pathglob.Holds(dir, x) || strings.HasPrefix(x, string(filepath.Separator)) }\n",
		"x_linux.go", "package a\n\nfunc i() { filepath.Rel(x, y) }\n",
	)), "a.go", "b.go")
}
