// Package toolfile reads the files in which people declare tools: NAME.yaml, and comments at the head of scripts, Python
// files and JavaScript files. It judges what a file says and does nothing: running is for others.
//
// The invariant: what Parse gives without a fault that is an error can be run as it is. Every placeholder has an argument,
// every schema compiles, and effects, directories and hosts do not contradict each other.
package toolfile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/gobuild"
)

// File is one declaration. The zero value of every key is the narrowest: no directory, no host, no secret.
type File struct {
	Path    string // as it was given to Parse
	Content []byte // what was read: a script runs from this, not from the path
	Hash    string // SHA-256 of Content, in hex
	Kind    Kind
	Header  bool // the declaration is a comment in a script

	Name        string // [a-zA-Z0-9_-]{1,64}
	Title       string
	Description string
	Group       string

	Args   []Arg           // the arguments in the order of the file
	Schema json.RawMessage // the JSON Schema of the arguments: an object that takes no others

	Command []Element // empty: the script itself, with its arguments in order
	Stdin   Stdin
	Output  Output
	Result  json.RawMessage // the JSON Schema of a JSON output; nil: any

	Effects toolcrib.Effects // zero: undeclared, counts as all
	// ByFunction are the effects of single functions, in a file of functions; Effects are those of the others.
	ByFunction map[string]toolcrib.Effects
	Derived    bool     // nobody wrote the effects: they are what a sandbox lets it do
	Read       []string // directories as they were written: whole, ~/…, or from the working directory on
	Write      []string // the same; they can be read too
	Hosts      []string
	Secrets    []Variable // variable and name of a secret
	Env        []Variable // variable and value
	Timeout    time.Duration
	Python     string // an interpreter or a virtual environment, for .py
	Sandbox    string // empty: one that holds the declaration, or none; host, linux, container, microvm

	Lines map[string]int // the line of each key that was written
}

// Variable is one variable of the environment.
type Variable struct{ Name, Value string }

// Arg is one argument.
type Arg struct {
	Name     string
	Type     string            // string, integer, number, boolean, array, object; empty: several, or unknown
	Items    string            // the type of the elements of an array
	Enum     []json.RawMessage // the values that it can have; nil: not a few
	Required bool
	Default  json.RawMessage // nil: none
	Options  bool            // a value may begin with -
	Listed   bool            // only values that the file lists are taken
	Line     int
}

// Stdin says what a program reads on its standard input.
type Stdin struct {
	JSON bool // the arguments as one JSON object
	Text Word // a text with placeholders; nil: none
}

// Output is how the standard output of a program is taken.
type Output string

// The outputs.
const (
	OutputText Output = "text"
	OutputJSON Output = "json"
)

// Fault is something wrong with a file. A warning leaves the tool in use.
type Fault struct {
	File    string
	Line    int // 1-based; 0: the file as a whole
	Key     string
	Message string
	Warning bool
}

func (f Fault) Error() string {
	s := f.File
	if f.Line > 0 {
		s += fmt.Sprintf(":%d", f.Line)
	}
	if f.Key != "" {
		s += ": " + f.Key
	}
	return s + ": " + f.Message
}

// ErrUntrusted is what is wrong with a file of a project that the person has not looked at as it is.
var ErrUntrusted = errors.New("not trusted: toolcrib trust shows it")

// Broken reports whether one of the faults is more than a warning.
func Broken(faults []Fault) bool {
	for _, f := range faults {
		if !f.Warning {
			return true
		}
	}
	return false
}

// Arg gives an argument by its name.
func (f *File) Arg(name string) (Arg, bool) {
	for _, a := range f.Args {
		if a.Name == name {
			return a, true
		}
	}
	return Arg{}, false
}

// Compiled reports whether the file is the source of a program that is built before it runs.
func (f *File) Compiled() bool { return f.Kind == Script && len(f.Command) == 0 && gobuild.Is(f.Path) }

// HashOf is the Hash of a content.
func HashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
