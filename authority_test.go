package toolcrib_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

const noAuthority = "a toolbox that runs in our process reaches the world through Env or through what Open was given; " +
	"a call that takes the world by itself was never judged"

// TestToolboxesHaveNoAmbientAuthority: nothing under toolbox/ may touch files,
// the network, programs or the environment by itself. Tests may.
func TestToolboxesHaveNoAmbientAuthority(t *testing.T) {
	report(t, checkAuthority(thisTree(t)))
}

// bannedPackages cannot be imported by a toolbox at all.
func bannedPackages() map[string]string {
	return map[string]string{
		"os/exec": "starts programs", "os/signal": "takes the process's signals", "os/user": "reads the machine's accounts",
		"net": "opens connections", "net/rpc": "opens connections", "net/smtp": "opens connections",
		"syscall": "goes around every bound", "unsafe": "goes around every bound", "plugin": "loads foreign code", "C": "loads foreign code",
		"io/ioutil": "touches files", "golang.org/x/sys": "goes around every bound",
	}
}

// bannedNames cannot be used from packages that are otherwise harmless.
func bannedNames() map[string][]string {
	return map[string][]string{
		"net/http": {"Get", "Head", "Post", "PostForm", "DefaultClient", "DefaultTransport", "DefaultServeMux", "Handle", "HandleFunc",
			"ListenAndServe", "ListenAndServeTLS", "Serve", "ServeTLS", "ServeFile", "Dir", "ProxyFromEnvironment", "Transport"},
		"path/filepath": {"Walk", "WalkDir", "Glob", "EvalSymlinks", "Abs"},
		"crypto/tls":    {"Dial", "DialWithDialer", "Dialer", "Listen", "LoadX509KeyPair"},
		"fmt":           {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"}, // stdout belongs to the protocol
		"html/template": {"ParseFiles", "ParseGlob"},
		"text/template": {"ParseFiles", "ParseGlob"},
	}
}

// harmlessOS is what a toolbox may use of package os: words, no deeds. It is
// a list of what is allowed, because a new function in os must not slip in.
func harmlessOS() []string {
	return []string{
		"ErrNotExist", "ErrExist", "ErrPermission", "ErrInvalid", "ErrClosed", "ErrDeadlineExceeded",
		"IsNotExist", "IsExist", "IsPermission", "PathError", "LinkError", "PathSeparator", "PathListSeparator",
		"FileMode", "FileInfo", "DirEntry", "File", "Root", "ModePerm", "ModeDir", "ModeSymlink", "ModeType",
		"O_RDONLY", "O_WRONLY", "O_RDWR", "O_APPEND", "O_CREATE", "O_EXCL", "O_TRUNC", "SameFile",
	}
}

func checkAuthority(tr *tree) []violation {
	var found []violation
	for _, p := range tr.pkgs {
		if !strings.HasPrefix(p.path, "toolbox/") {
			continue
		}
		for _, f := range p.files {
			if !f.test {
				found = append(found, authorityOf(tr.fset, f)...)
			}
		}
	}
	return found
}

func authorityOf(fset *token.FileSet, f *srcFile) []violation {
	var found []violation
	add := func(what string) { found = append(found, violation{f.name, what, noAuthority}) }
	imports := f.imports()
	for _, p := range slices.Sorted(maps.Keys(imports)) {
		for banned, why := range bannedPackages() {
			if p == banned || strings.HasPrefix(p, banned+"/") && strings.Contains(banned, ".") {
				add("imports " + p + ", which " + why)
			}
		}
		if _, partly := bannedNames()[p]; (partly || p == "os") && imports[p] == "." {
			add("dot-imports " + p + ", so that nobody sees what it uses")
		}
	}
	walkUses(f, func(pos token.Pos, from, name string) {
		if from == "os" && !slices.Contains(harmlessOS(), name) || slices.Contains(bannedNames()[from], name) {
			add(fmt.Sprintf("line %d uses %s.%s", fset.Position(pos).Line, from, name))
		}
	})
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if lit, ok := n.(*ast.CompositeLit); ok && isHTTPClient(imports, lit) {
			add(fmt.Sprintf("line %d makes an http.Client without a Transport, which is the default one", fset.Position(lit.Pos()).Line))
		}
		return true
	})
	return found
}

// isHTTPClient reports whether a literal is an http.Client that would use the
// default transport.
func isHTTPClient(imports map[string]string, lit *ast.CompositeLit) bool {
	sel, ok := lit.Type.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Client" {
		return false
	}
	if id, ok := sel.X.(*ast.Ident); !ok || id.Name != imports["net/http"] {
		return false
	}
	return !slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		key, ok := kv.Key.(*ast.Ident)
		return ok && key.Name == "Transport"
	})
}

// walkUses calls use for every pkg.Name in a file where pkg is an import.
func walkUses(f *srcFile, use func(pos token.Pos, importPath, name string)) {
	byName := map[string]string{}
	for p, name := range f.imports() {
		byName[name] = p
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok && byName[id.Name] != "" {
				use(sel.Pos(), byName[id.Name], sel.Sel.Name)
			}
		}
		return true
	})
}

func TestAuthorityRuleCanFail(t *testing.T) {
	mustFind(t, checkAuthority(sample(t,
		"toolbox/a/exec.go", "package a\nimport _ \"os/exec\"",
		"toolbox/a/net.go", "package a\nimport \"net\"\nvar _ = net.IPv4len",
		"toolbox/a/sys_windows.go", "package a\nimport _ \"golang.org/x/sys/windows\"",
		"toolbox/a/read.go", "package a\nimport renamed \"os\"\nvar _, _ = renamed.ReadFile(\"x\")",
		"toolbox/a/getenv.go", "package a\nimport \"os\"\nvar _ = os.Getenv",
		"toolbox/a/dot.go", "package a\nimport . \"os\"\nvar _ = Getenv",
		"toolbox/a/get.go", "package a\nimport \"net/http\"\nvar _ = http.Get",
		"toolbox/a/client.go", "package a\nimport \"net/http\"\nvar _ = http.Client{Timeout: 1}",
		"toolbox/a/print.go", "package a\nimport \"fmt\"\nfunc f() { fmt.Println() }",
		"toolbox/a/glob.go", "package a\nimport \"path/filepath\"\nvar _ = filepath.Glob",
		"toolbox/a/good.go", "package a\nimport (\"net/http\"; \"net/url\"; \"os\"; \"fmt\")\nvar rt http.RoundTripper\nvar _ = http.Client{Transport: rt}\nvar _ = os.ErrNotExist\nvar _ url.URL\nvar _ = fmt.Sprint",
		"toolbox/a/good_test.go", "package a\nimport \"os\"\nvar _ = os.Getenv",
		"internal/app/good.go", "package app\nimport \"os\"\nvar _ = os.Getenv",
	)), "toolbox/a/exec.go", "toolbox/a/net.go", "toolbox/a/sys_windows.go", "toolbox/a/read.go", "toolbox/a/getenv.go", "toolbox/a/dot.go",
		"toolbox/a/get.go", "toolbox/a/client.go", "toolbox/a/print.go", "toolbox/a/glob.go")
}
