package spec

import (
	"fmt"
	"mime"
	"strings"
)

// Kind is how a body is written.
type Kind int

// The kinds of bodies.
const (
	JSON Kind = iota + 1
	Form
	Multipart
	Text   // one text, whatever its media type is
	Binary // a file
)

// Body is what is sent behind the header.
type Body struct {
	Kind     Kind
	Media    string // the Content-Type
	Required bool
	// Fields is how the parts of a form are written, by name.
	Fields map[string]Field
	// Flat: the properties of the body are arguments of their own.
	Flat   bool
	schema located
	fields []located // of Swagger 2.0, instead of a schema
	words  string
}

// Field is a part of a form.
type Field struct {
	File    bool   // its value is the path of a file
	Media   string // its Content-Type, if the document says
	Style   string // empty: arrays are repeated, objects are JSON
	Explode bool
	// AllowReserved leaves characters such as / as they are.
	AllowReserved bool
}

// body reads what an operation is sent.
func (d *Document) body(o *Operation, file *file, p pathItem, def *Object, fields []located) error {
	if d.legacy {
		return d.legacyBody(o, p, def, fields)
	}
	v, there := def.Get("requestBody")
	if !there {
		return nil
	}
	at, err := d.follow(located{file, v})
	if err != nil {
		return fmt.Errorf("its body cannot be found: %w", err)
	}
	req, ok := at.value.(*Object)
	if !ok {
		return fmt.Errorf("its body is not an object")
	}
	content := req.object("content")
	if content.Len() == 0 {
		return nil
	}
	best, rank := Member{}, 100
	for _, m := range content.Members[:min(content.Len(), maxList)] {
		if r := preference(m.Key); r < rank {
			best, rank = m, r
		}
	}
	media, _ := best.Value.(*Object)
	b := &Body{Required: req.flag("required"), words: req.text("description")}
	b.Kind, b.Media = kindOf(best.Key)
	s, _ := media.Get("schema")
	b.schema = located{at.file, s}
	if b.Kind == Form && content.Len() > 1 && d.hasFile(b.schema) {
		if m, ok := content.Get("multipart/form-data"); ok {
			media, _ = m.(*Object)
			b.Kind, b.Media = Multipart, "multipart/form-data"
			s, _ := media.Get("schema")
			b.schema = located{at.file, s}
		}
	}
	if b.Kind == Form || b.Kind == Multipart {
		b.Fields = d.formFields(b, media.object("encoding"))
	}
	o.Body = b
	return nil
}

// preference is lower for a media type that is easier to send.
func preference(media string) int {
	kind, _, err := mime.ParseMediaType(media)
	if err != nil {
		kind = strings.ToLower(media)
	}
	switch {
	case kind == "application/json":
		return 0
	case kind == "application/merge-patch+json":
		return 1
	case strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "/json"):
		return 2
	case kind == "*/*" || kind == "application/*":
		return 3
	case kind == "application/x-www-form-urlencoded":
		return 4
	case kind == "multipart/form-data":
		return 5
	case strings.HasPrefix(kind, "multipart/"):
		return 6
	case strings.HasPrefix(kind, "text/"):
		return 7
	case isXML(kind):
		return 8
	case kind == "application/octet-stream":
		return 9
	}
	return 10
}

func isXML(kind string) bool {
	return kind == "application/xml" || kind == "text/xml" || strings.HasSuffix(kind, "+xml")
}

// kindOf says how a body of a media type is written, and with which Content-Type.
func kindOf(media string) (Kind, string) {
	media = strings.Clone(strings.TrimSpace(media))
	kind, _, err := mime.ParseMediaType(media)
	if err != nil {
		kind, media = "", "application/json"
	}
	switch p := preference(media); {
	case strings.ContainsAny(kind, "*") && p != 3:
		return Binary, "application/octet-stream"
	case p == 3:
		return JSON, "application/json"
	case p < 3:
		return JSON, media
	case p == 4:
		return Form, media
	case p == 5 || p == 6:
		return Multipart, kind
	case p == 7 || p == 8 || isTextual(kind):
		return Text, media
	}
	return Binary, media
}

// isTextual: a model can write it.
func isTextual(kind string) bool {
	switch kind {
	case "application/graphql", "application/yaml", "application/x-yaml", "application/x-ndjson", "application/jsonl", "application/javascript", "application/sql",
		"application/toml", "application/jwt", "application/csv", "application/vnd.yaml":
		return true
	}
	return strings.HasSuffix(kind, "+yaml")
}

// hasFile reports whether a form has a part that is a file.
func (d *Document) hasFile(schema located) bool {
	for _, p := range d.propertiesOf(schema, 0) {
		if d.isFile(p.at) {
			return true
		}
	}
	return false
}

// isFile reports whether a value is bytes, or a list of such.
func (d *Document) isFile(at located) bool {
	at, err := d.follow(at)
	o, ok := at.value.(*Object)
	if err != nil || !ok {
		return false
	}
	if items, ok := o.Get("items"); ok {
		if at, err = d.follow(located{at.file, items}); err != nil {
			return false
		}
		if o, ok = at.value.(*Object); !ok {
			return false
		}
	}
	if o.text("type") == "file" || o.text("format") == "binary" {
		return true
	}
	return o.text("type") == "string" && o.text("contentMediaType") != "" && o.text("contentEncoding") == "" && !strings.HasPrefix(o.text("contentMediaType"), "text/")
}

// formFields says how each part of a form is written.
func (d *Document) formFields(b *Body, encoding *Object) map[string]Field {
	out := map[string]Field{}
	for _, p := range d.propertiesOf(b.schema, 0) {
		f := Field{File: b.Kind == Multipart && d.isFile(p.at)}
		if e := encoding.object(p.name); e != nil {
			f.Media, _, _ = strings.Cut(strings.Clone(e.text("contentType")), ",")
			if s := e.text("style"); s != "" {
				f.Style, f.Explode = strings.Clone(s), s == "form" || s == "deepObject"
			}
			if x, ok := e.Get("explode"); ok {
				if f.Explode = x == true; f.Style == "" {
					f.Style = "form"
				}
			}
			f.AllowReserved = e.flag("allowReserved")
			if strings.ContainsAny(f.Media, "*\r\n") {
				f.Media = ""
			}
		}
		if f != (Field{}) {
			out[strings.Clone(p.name)] = f
		}
	}
	return out
}

// property is one property of a schema.
type property struct {
	name     string
	at       located
	required bool
}

// propertiesOf lists the properties of an object, those of its allOf among them.
func (d *Document) propertiesOf(at located, depth int) []property {
	at, err := d.follow(at)
	o, ok := at.value.(*Object)
	if d.work++; err != nil || !ok || depth > 10 || d.work > maxWork {
		return nil
	}
	var out []property
	for _, m := range o.object("properties").members() {
		if out = append(out, property{name: m.Key, at: located{at.file, m.Value}}); len(out) > maxParams {
			return out
		}
	}
	for _, part := range o.list("allOf") {
		out = append(out, d.propertiesOf(located{at.file, part}, depth+1)...)
		if len(out) > maxParams {
			return out[:maxParams]
		}
	}
	return out
}
