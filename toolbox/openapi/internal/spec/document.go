package spec

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// Source is a document and how to get at what it needs.
type Source struct {
	Text []byte
	// Name is the document's name in its own directory. References to other files are
	// relative to it.
	Name string
	// URL is where the document came from, for relative addresses of servers. Nil: from a file.
	URL *url.URL
	// YAML decodes YAML. Nil: only JSON is read.
	YAML func(text []byte, into any) error
	// ReadFile reads a file of the document's directory by its slash-separated name. Nil:
	// references to other files are not followed.
	ReadFile func(name string) ([]byte, error)
}

// Bounds on what a document may refer to.
const (
	maxFiles    = 200      // other files
	maxAllFiles = 64 << 20 // bytes of all files
	maxHops     = 64       // references that lead to a reference
	maxWork     = 4 << 20  // steps of translating: operations can share schemas, and each has its own copy
	maxWritten  = 96 << 20 // bytes of these copies
)

// Document is a parsed document. It is for one goroutine.
type Document struct {
	src    Source
	root   *file
	files  map[string]*file
	read   int // bytes of all files
	work   int // schemas that were translated, and the like
	wrote  int // bytes of schemas of tools
	legacy bool
	dialect
	memo    map[string]located
	cleaned map[cut]string // descriptions, since many operations share them
	// patterns says which can be used, since many schemas share them.
	patterns map[string]bool
	scratch  []byte // room to write schemas in
	// Operations, in the order of the document.
	Operations []*Operation
	// Faults is what was left out or repaired.
	Faults []Fault
	Title  string
	// Select and Save give every operation that can use it an argument to cut its answer, or
	// to write it to a file. To be set before Load.
	Select, Save bool
}

// cut is a text that is shown in at most so many characters.
type cut struct {
	text string
	most int
}

// dialect is how schemas of a version of OpenAPI differ from JSON Schema.
type dialect struct {
	refSiblings bool // what stands beside a reference counts (3.1)
}

// Fault says what is wrong with a part of a document.
type Fault struct {
	Where  string // such as GET /pets/{id}
	Reason string
	// Left: the operation is left out because of it.
	Left bool
}

type file struct {
	name string
	root any
}

// located is a value and the file it stands in: references in it are relative to that.
type located struct {
	file  *file
	value any
}

// Parse reads a document. Its error says why there is nothing to be had of it.
func Parse(src Source) (*Document, error) {
	d := &Document{src: src, files: map[string]*file{}, memo: map[string]located{}, cleaned: map[cut]string{}}
	if src.Name == "" {
		d.src.Name = "openapi"
	}
	root, err := d.parse(src.Text)
	if err != nil {
		return nil, err
	}
	d.root = &file{name: path.Clean(d.src.Name), root: root}
	d.files[d.root.name] = d.root
	o, ok := root.(*Object)
	if !ok {
		return nil, errors.New("it is not an OpenAPI document: want an object with openapi or swagger in it")
	}
	switch v3, v2 := o.text("openapi"), o.text("swagger"); {
	case strings.HasPrefix(v3, "3.0"):
	case strings.HasPrefix(v3, "3."):
		d.refSiblings = true
	case strings.HasPrefix(v2, "2"):
		d.legacy = true
	case v3 != "" || v2 != "":
		return nil, fmt.Errorf("its version is %s: OpenAPI 3.0, 3.1 and Swagger 2.0 can be read", quoted(v3+v2))
	default:
		return nil, errors.New("it is not an OpenAPI document: it has neither openapi nor swagger at its top")
	}
	if paths, there := o.Get("paths"); there {
		if _, ok := paths.(*Object); !ok && paths != nil {
			return nil, errors.New("its paths are not an object")
		}
	} else if !d.refSiblings { // 3.1 may have webhooks only
		return nil, errors.New("it has no paths, so there is nothing to call")
	}
	d.Title = Clean(o.object("info").text("title"), 200)
	return d, nil
}

// parse reads JSON or YAML.
func (d *Document) parse(source []byte) (any, error) {
	if len(source) > maxText {
		return nil, fmt.Errorf("it has %d bytes, and at most %d are read", len(source), maxText)
	}
	if d.read += len(source); d.read > maxAllFiles {
		return nil, fmt.Errorf("the document and the files that it refers to have more than %d bytes", maxAllFiles)
	}
	source = bytes.TrimPrefix(source, []byte("\uFEFF"))
	trimmed := bytes.TrimLeft(source, " \t\r\n")
	if len(trimmed) == 0 {
		return nil, errors.New("it is empty")
	}
	var jsonErr error
	if trimmed[0] == '{' || trimmed[0] == '[' || d.src.YAML == nil {
		v, err := parseJSON(source)
		if err == nil || d.src.YAML == nil || errors.Is(err, errDepth) || errors.Is(err, errValues) || len(source) > 1<<20 {
			return v, err
		}
		jsonErr = err
	}
	var v any
	if err := d.src.YAML(source, &v); err != nil {
		if jsonErr != nil {
			return nil, jsonErr
		}
		return nil, fmt.Errorf("it is not valid YAML: %s", text.Clip(text.ShowLine(strings.TrimPrefix(err.Error(), "yaml: ")), 200))
	}
	return fromYAML(v)
}

func (d *Document) fault(where string, left bool, format string, args ...any) {
	const most = 5000
	if len(d.Faults) < most {
		d.Faults = append(d.Faults, Fault{Where: where, Reason: fmt.Sprintf(format, args...), Left: left})
	}
}

// quoted is a word of the document in a message of ours.
func quoted(word string) string { return strconv.QuoteToASCII(text.Clip(word, 120)) }
