package spec

import (
	"errors"
	"strings"
)

// Operation is one thing that can be called.
type Operation struct {
	ID, Method, Path     string // Method in upper case
	Summary, Description string
	Tags                 []string
	Deprecated           bool
	Base                 string // where its address begins
	Template             Template
	Params               []Param
	Body                 *Body
	Accept               string
	Binary               bool // a success is neither JSON nor text
	Security             []Requirement
	Contract
}

// Requirement is schemes that are used together, by name, with the scopes of each.
type Requirement map[string][]string

// Param is a value that is no part of the body.
type Param struct {
	Name, In      string // path, query, header or cookie
	Style         string
	Explode       bool
	AllowReserved bool
	Required      bool
	Media         string // it is sent in this form, as a text: application/json
	schema        located
	described     string
}

// Where is how an operation is named to people.
func (o *Operation) Where() string { return o.Method + " " + o.Path }

// Selection decides which operations are wanted, before work is put into them.
type Selection func(o *Operation) bool

// Load finds the operations of a document. Hide leaves parameters out that are set by other
// means, by place and name; nil hides none.
func (d *Document) Load(a Addressing, want Selection, hide func(in, name string) bool) {
	root := d.root.root.(*Object)
	for _, m := range root.object("paths").members() {
		if strings.HasPrefix(m.Key, "x-") {
			continue
		}
		at, err := d.follow(located{d.root, m.Value})
		item, ok := at.value.(*Object)
		if err != nil || !ok {
			if err == nil {
				err = errors.New("it is not an object")
			}
			d.fault(shortPath(m.Key), true, "the path is left out: %s", err)
			continue
		}
		for _, method := range []string{"get", "head", "options", "put", "post", "patch", "delete"} {
			v, there := item.Get(method)
			if !there {
				continue
			}
			if d.work > maxWork || d.wrote > maxWritten {
				d.fault(shortPath(m.Key), true, "the schemas of the document are too large: this operation and all after it are left out; choose fewer operations")
				return
			}
			if len(d.Operations) >= maxOperations {
				d.fault(shortPath(m.Key), true, "the document has more than %d operations", maxOperations)
				return
			}
			o := &Operation{Method: strings.ToUpper(method), Path: strings.Clone(m.Key)}
			p := pathItem{root: root, item: item, at: at, hide: hide, addressing: a}
			wanted, err := d.operation(o, p, located{at.file, v}, want)
			if err != nil {
				d.fault(o.Method+" "+shortPath(o.Path), true, "%s", err)
				continue
			}
			if wanted {
				d.Operations = append(d.Operations, o)
			}
		}
	}
}

const (
	maxOperations = 20_000
	maxList       = 50 // tags, servers, media types and the like of one operation
)

func shortPath(p string) string { return Clean(p, 200) }

type pathItem struct {
	root, item *Object
	at         located
	hide       func(in, name string) bool
	addressing Addressing
}

// operation fills in one operation; false: it is not wanted.
func (d *Document) operation(o *Operation, p pathItem, given located, want Selection) (bool, error) {
	at, err := d.follow(given)
	if err != nil {
		return false, err
	}
	def, ok := at.value.(*Object)
	if !ok {
		return false, errors.New("the operation is not an object")
	}
	o.ID = strings.Clone(def.text("operationId"))
	o.Summary, o.Description = def.text("summary"), def.text("description")
	if o.Summary == "" && o.Description == "" {
		o.Summary, o.Description = p.item.text("summary"), p.item.text("description")
	}
	for i, t := range def.list("tags") {
		if i == maxList {
			break
		}
		if s := textOf(t); s != "" {
			o.Tags = append(o.Tags, strings.Clone(s))
		}
	}
	o.Deprecated = def.flag("deprecated")
	if want != nil && !want(o) {
		return false, nil
	}
	if o.Template, err = ParseTemplate(o.Path); err != nil {
		return false, err
	}
	if o.Base, err = d.base(def, p); err != nil {
		return false, err
	}
	fields, err := d.parameters(o, p, at.file, def)
	if err != nil {
		return false, err
	}
	if err := d.body(o, at.file, p, def, fields); err != nil {
		return false, err
	}
	o.Security = d.security(p.root, def)
	d.answers(o, at.file, p.root, def)
	return true, d.contract(o)
}

func (d *Document) base(def *Object, p pathItem) (string, error) {
	if d.legacy {
		return d.legacyServer(p.root, def.list("schemes"), p.addressing)
	}
	for _, o := range []*Object{def, p.item, p.root} {
		if l := o.list("servers"); len(l) > 0 {
			return d.servers(l, p.addressing)
		}
	}
	return d.servers(nil, p.addressing)
}

func (d *Document) security(root, def *Object) []Requirement {
	list, there := def.Get("security")
	if !there {
		list, _ = root.Get("security")
	}
	l, _ := list.([]any)
	var out []Requirement
	for _, v := range l[:min(len(l), maxList)] {
		o, ok := v.(*Object)
		if !ok || o.Len() > maxList {
			continue
		}
		r := Requirement{}
		for _, m := range o.Members {
			var scopes []string
			scoped, _ := m.Value.([]any)
			for _, s := range scoped[:min(len(scoped), maxList)] {
				scopes = append(scopes, strings.Clone(textOf(s)))
			}
			r[strings.Clone(m.Key)] = scopes
		}
		out = append(out, r)
	}
	return out
}
