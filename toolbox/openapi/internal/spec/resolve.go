package spec

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

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
