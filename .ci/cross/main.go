// Cross checks the types of all packages as another system compiles them. It reads
// the packages from their source, without code for their functions: compiling all of
// them, with the standard library, takes minutes for each system.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: cross SYSTEM...  (such as darwin or windows)")
		os.Exit(2)
	}
	failed := false
	for _, system := range os.Args[1:] {
		if err := check(system); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", system, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// source is a package as "go list" tells it.
type source struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct{ GoVersion string }
	DepOnly         bool
	Error           *struct{ Err string }
}

// check looks at all packages of this module for one system.
func check(system string) error {
	// What others import comes before them.
	list := exec.Command("go", "list", "-deps", "-e", "-json=ImportPath,Dir,GoFiles,ImportMap,Module,DepOnly,Error", "./...")
	list.Env, list.Stderr = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"), os.Stderr
	out, err := list.StdoutPipe()
	if err != nil {
		return err
	}
	if err := list.Start(); err != nil {
		return err
	}
	c := newChecker()
	errs := c.read(out)
	if len(c.known) < 100 {
		errs = append(errs, fmt.Errorf("only %d packages were found", len(c.known)))
	}
	_, _ = io.Copy(io.Discard, out) // what is left after an error, for which "go list" would wait
	return errors.Join(append(errs, list.Wait())...)
}

// checker knows the packages of one system so far.
type checker struct {
	fset  *token.FileSet
	known map[string]*types.Package
}

func newChecker() *checker {
	return &checker{fset: token.NewFileSet(), known: map[string]*types.Package{"unsafe": types.Unsafe}}
}

// read looks at the packages of a list, one after the other. A list that ends in the middle
// of one is an error.
func (c *checker) read(list io.Reader) (errs []error) {
	for decoder := json.NewDecoder(list); ; {
		var s source
		if err := decoder.Decode(&s); errors.Is(err, io.EOF) {
			return errs
		} else if err != nil {
			return append(errs, err)
		}
		errs = append(errs, c.add(s)...)
	}
}

// importer finds a package by the name that one package has for it.
type importer struct {
	c       *checker
	renamed map[string]string
}

func (i importer) Import(path string) (*types.Package, error) {
	if other, ok := i.renamed[path]; ok {
		path = other
	}
	if p, ok := i.c.known[path]; ok {
		return p, nil
	}
	return nil, fmt.Errorf("%s is not there", path)
}

// add looks at one package; the functions of others are not looked into.
func (c *checker) add(s source) (errs []error) {
	if s.ImportPath == "unsafe" {
		return nil
	}
	if s.Error != nil && !s.DepOnly && !strings.Contains(s.Error.Err, "build constraints exclude all Go files") {
		errs = append(errs, errors.New(s.Error.Err))
	}
	var files []*ast.File
	for _, name := range s.GoFiles {
		f, err := parser.ParseFile(c.fset, filepath.Join(s.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return append(errs, err)
		}
		files = append(files, f)
	}
	conf := types.Config{
		Importer: importer{c, s.ImportMap}, IgnoreFuncBodies: s.DepOnly, FakeImportC: true, Sizes: types.SizesFor("gc", "amd64"),
		Error: func(err error) { errs = append(errs, err) },
	}
	if s.Module != nil && s.Module.GoVersion != "" {
		conf.GoVersion = "go" + s.Module.GoVersion
	}
	c.known[s.ImportPath], _ = conf.Check(s.ImportPath, c.fset, files, nil) // its errors were collected
	return errs
}
