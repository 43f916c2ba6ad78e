package spec

import (
	"errors"
	"fmt"
	"slices"
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

// parameters reads those of the path and of the operation, which win. Fields are the
// parameters of Swagger 2.0 that are parts of the body.
func (d *Document) parameters(o *Operation, p pathItem, file *file, def *Object) (fields []located, err error) {
	type key struct{ in, name string }
	seen := map[key]int{}
	add := func(at located) error {
		d.work++
		if len(seen) > maxParams {
			return fmt.Errorf("it has more than %d parameters", maxParams)
		}
		at, err := d.follow(at)
		if err != nil {
			return fmt.Errorf("a parameter cannot be found: %w", err)
		}
		v, ok := at.value.(*Object)
		if !ok {
			return errors.New("a parameter is not an object")
		}
		in, name := v.text("in"), v.text("name")
		switch {
		case in == "body" || in == "formData":
			k := key{in, name}
			if in == "body" {
				k.name = ""
			}
			if i, ok := seen[k]; ok {
				fields[i] = at
				return nil
			}
			seen[k] = len(fields)
			fields = append(fields, at)
			return nil
		case name == "":
			d.fault(o.Where(), false, "a parameter in %s has no name and is left out", quoted(in))
			return nil
		case !slices.Contains([]string{"path", "query", "header", "cookie"}, in):
			return fmt.Errorf("the parameter %s is in %s: want path, query, header or cookie", quoted(name), quoted(in))
		}
		if in == "header" && setByUs(name) || p.hide != nil && p.hide(in, name) {
			return nil
		}
		if in == "header" && !isToken(name) {
			return fmt.Errorf("the parameter %s cannot be the name of a header", quoted(name))
		}
		param, err := d.parameter(at, v)
		if err != nil {
			return err
		}
		if i, ok := seen[key{in, name}]; ok {
			o.Params[i] = param
			return nil
		}
		seen[key{in, name}] = len(o.Params)
		o.Params = append(o.Params, param)
		return nil
	}
	for _, v := range p.item.list("parameters") {
		if err := add(located{p.at.file, v}); err != nil {
			return nil, err
		}
	}
	for _, v := range def.list("parameters") {
		if err := add(located{file, v}); err != nil {
			return nil, err
		}
	}
	return fields, o.matchTemplate()
}

const maxParams = 2000

// setByUs are headers that follow from the rest of the request, or from a credential.
func setByUs(name string) bool {
	switch strings.ToLower(name) {
	case "accept", "content-type", "authorization", "content-length", "host", "connection", "transfer-encoding", "cookie":
		return true
	}
	return false
}

// isToken reports whether a word can be the name of a header or of a cookie.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

// matchTemplate holds the parameters of the path against its template. One that nobody
// declared is a text.
func (o *Operation) matchTemplate() error {
	names := o.Template.Names()
	o.Params = slices.DeleteFunc(o.Params, func(p Param) bool { return p.In == "path" && !slices.Contains(names, p.Name) })
	for _, name := range names {
		if !slices.ContainsFunc(o.Params, func(p Param) bool { return p.In == "path" && p.Name == name }) {
			o.Params = append(o.Params, Param{Name: name, In: "path", Style: "simple", Required: true, schema: located{&file{}, obj("type", "string")}})
		}
	}
	return nil
}

// parameter reads one parameter.
func (d *Document) parameter(at located, v *Object) (Param, error) {
	p := Param{Name: strings.Clone(v.text("name")), In: strings.Clone(v.text("in")), Required: v.flag("required"), AllowReserved: v.flag("allowReserved"), described: v.text("description")}
	if p.In == "path" {
		p.Required = true
	}
	p.Style = "form"
	if p.In == "path" || p.In == "header" {
		p.Style = "simple"
	}
	if d.legacy {
		p.schema = at // it is a schema itself
		switch v.text("collectionFormat") {
		case "ssv":
			p.Style = "spaceDelimited"
		case "tsv":
			p.Style = "tabDelimited"
		case "pipes":
			p.Style = "pipeDelimited"
		case "multi":
			p.Explode = p.In == "query"
		}
		return p, nil
	}
	if s := v.text("style"); s != "" {
		if !slices.Contains(stylesOf(p.In), s) {
			return p, fmt.Errorf("the parameter %s in %s has the style %s, which is not one of %s", quoted(p.Name), p.In, quoted(s), strings.Join(stylesOf(p.In), ", "))
		}
		p.Style = strings.Clone(s)
	}
	p.Explode = p.Style == "form" || p.Style == "deepObject"
	if e, ok := v.Get("explode"); ok {
		p.Explode = e == true
	}
	if c := v.object("content"); c.Len() > 0 {
		m := c.Members[0]
		p.Media = strings.Clone(m.Key)
		media, _ := m.Value.(*Object)
		s, _ := media.Get("schema")
		p.schema = located{at.file, s}
		return p, nil
	}
	s, _ := v.Get("schema")
	p.schema = located{at.file, s}
	return p, nil
}

func stylesOf(in string) []string {
	switch in {
	case "path":
		return []string{"simple", "label", "matrix"}
	case "query":
		return []string{"form", "spaceDelimited", "pipeDelimited", "deepObject"}
	case "header":
		return []string{"simple"}
	}
	return []string{"form", "cookie"}
}
