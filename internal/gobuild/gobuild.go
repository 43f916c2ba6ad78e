// Package gobuild says how a Go program of one file is compiled: offline, without cgo, with the standard library alone. It
// starts nothing. What runs tools of files and what checks generated ones import it, so that what was checked is what runs.
//
// Its invariant: a build runs no code of the program, so that a cache which only builds can write holds what the compiler made.
package gobuild

import (
	"path/filepath"
	"strings"
)

// Is reports whether a file is a Go source.
func Is(path string) bool { return strings.EqualFold(filepath.Ext(path), ".go") }

// Module is the text of the go.mod beside the source.
const Module = "module generated\n\ngo 1.21\n"

// Main is what the source is called where it is built: another name could make it a test, or one for another system.
const Main = "main.go"

// Work is where programs of ours are built and tried. It is neither in the state directory nor in the cache, of which no
// program in a sandbox sees anything; each is shown one directory of it.
func Work(home string) string { return filepath.Join(home, ".cache", "toolcrib-work") }

// Cache is where builds keep what they compiled.
func Cache(home string) string { return filepath.Join(Work(home), "go") }

// Env are the variables of a build, in place of those of the same names. Nothing is fetched, and no setting of the person
// has the compiler start another program.
func Env(env []string, cache string) []string {
	own := []string{
		"GOCACHE=" + cache, "GOPATH=/tmp/go", "GOMODCACHE=/tmp/go/pkg/mod", "GOENV=off", "GOWORK=off", "GO111MODULE=on", "GOPROXY=off", "GOSUMDB=off",
		"GOTOOLCHAIN=local", "GOFLAGS=-mod=mod -buildvcs=false -trimpath", "CGO_ENABLED=0", "GOTELEMETRY=off", "GOMAXPROCS=2",
	}
	var out []string
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "GO") && name != "CGO_ENABLED" {
			out = append(out, v)
		}
	}
	return append(out, own...)
}

// Root is the tool chain that a program go belongs to, by its path after links.
func Root(program string) string { return filepath.Dir(filepath.Dir(program)) }
