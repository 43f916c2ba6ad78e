package spec

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
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

// resolve finds what a reference leads to. It follows references that lead to references.
func (d *Document) resolve(from *file, ref string) (located, error) {
	key := from.name + " " + ref
	if at, ok := d.memo[key]; ok {
		return at, nil
	}
	at := located{from, nil}
	for range maxHops {
		next, err := d.step(at.file, ref, 0)
		if err != nil {
			return located{}, err
		}
		at = next
		o, ok := at.value.(*Object)
		if !ok {
			break
		}
		if ref, ok = refOf(o); !ok || d.refSiblings && o.Len() > 1 {
			d.memo[key] = at
			return at, nil
		}
	}
	if o, ok := at.value.(*Object); ok {
		if _, again := refOf(o); again {
			return located{}, fmt.Errorf("the reference %s leads round in a circle", quoted(ref))
		}
	}
	d.memo[key] = at
	return at, nil
}

// refOf is the reference that an object is.
func refOf(o *Object) (string, bool) {
	v, there := o.Get("$ref")
	ref, ok := v.(string)
	return ref, there && ok
}

// step follows one reference. The way of its path may lead through others.
func (d *Document) step(from *file, ref string, hops int) (located, error) {
	name, pointer, _ := strings.Cut(ref, "#")
	f := from
	if name != "" {
		var err error
		if f, err = d.open(from, name); err != nil {
			return located{}, err
		}
	}
	if unescaped, err := url.PathUnescape(pointer); err == nil {
		pointer = unescaped
	}
	at := located{f, f.root}
	if pointer == "" {
		return at, nil
	}
	if pointer[0] != '/' {
		return located{}, fmt.Errorf("the reference %s names an anchor: only paths such as #/components/schemas/X are followed", quoted(ref))
	}
	steps := strings.Split(pointer[1:], "/")
	for i, s := range steps {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "~1", "/"), "~0", "~")
		if o, ok := at.value.(*Object); ok && i > 0 {
			if inner, isRef := refOf(o); isRef {
				if hops >= maxHops {
					return located{}, fmt.Errorf("the reference %s leads round in a circle", quoted(ref))
				}
				next, err := d.step(at.file, inner, hops+1)
				if err != nil {
					return located{}, err
				}
				at = next
			}
		}
		switch v := at.value.(type) {
		case *Object:
			child, ok := v.Get(s)
			if !ok {
				return located{}, fmt.Errorf("the reference %s leads nowhere", quoted(ref))
			}
			at.value = child
		case []any:
			n, err := strconv.Atoi(s)
			if err != nil || n < 0 || n >= len(v) {
				return located{}, fmt.Errorf("the reference %s leads nowhere", quoted(ref))
			}
			at.value = v[n]
		default:
			return located{}, fmt.Errorf("the reference %s leads nowhere", quoted(ref))
		}
	}
	return at, nil
}

// open reads another file of the document's own directory, once.
func (d *Document) open(from *file, name string) (*file, error) {
	given := name
	if unescaped, err := url.PathUnescape(name); err == nil {
		name = unescaped
	}
	if strings.ContainsAny(name, ":\\\x00") || strings.HasPrefix(name, "/") {
		return nil, fmt.Errorf("the reference to %s is not followed: only files in the document's own directory are read", quoted(given))
	}
	name = path.Join(path.Dir(from.name), name)
	if !fs.ValidPath(name) || name == "." {
		return nil, fmt.Errorf("the reference to %s leads out of the document's own directory", quoted(given))
	}
	if f, ok := d.files[name]; ok {
		if f.root == nil {
			return nil, fmt.Errorf("the file %s cannot be read", quoted(name))
		}
		return f, nil
	}
	if d.src.ReadFile == nil {
		return nil, fmt.Errorf("the reference to the file %s is not followed: the document has no directory", quoted(name))
	}
	if len(d.files) > maxFiles {
		return nil, fmt.Errorf("the document refers to more than %d files", maxFiles)
	}
	f := &file{name: name}
	d.files[name] = f // one that cannot be read is tried once
	source, err := d.src.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("the file %s cannot be read: %s", quoted(name), text.Clip(text.ShowLine(err.Error()), 200))
	}
	if f.root, err = d.parse(source); err != nil {
		f.root = nil
		return nil, fmt.Errorf("the file %s: %w", quoted(name), err)
	}
	return f, nil
}

// follow gives the value itself, or what it refers to in the end. What stands beside a reference
// does not count here.
func (d *Document) follow(at located) (located, error) {
	for range maxHops {
		o, ok := at.value.(*Object)
		if !ok {
			return at, nil
		}
		ref, is := refOf(o)
		if !is {
			return at, nil
		}
		var err error
		if at, err = d.resolve(at.file, ref); err != nil {
			return located{}, err
		}
	}
	return located{}, errors.New("references lead round in a circle")
}

func (d *Document) fault(where string, left bool, format string, args ...any) {
	const most = 5000
	if len(d.Faults) < most {
		d.Faults = append(d.Faults, Fault{Where: where, Reason: fmt.Sprintf(format, args...), Left: left})
	}
}

// quoted is a word of the document in a message of ours.
func quoted(word string) string { return strconv.QuoteToASCII(text.Clip(word, 120)) }
