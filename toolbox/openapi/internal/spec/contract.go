package spec

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Contract is what a caller of an operation sees.
type Contract struct {
	Input  []byte // JSON Schema of the arguments
	Output []byte // JSON Schema of the result, lenient; nil: nothing is known of it
	// Nested: the arguments stand under path, query, header, cookie and body, because
	// two places have one of the same name.
	Nested bool
	// Names are the names of the arguments at the top.
	Names []string
	// Cut: the schema does not show all of the input.
	Cut bool
	// Select and SaveTo are the names of the arguments that are for us and not for the API;
	// empty: there is none. They differ from every argument of the API.
	Select, SaveTo string

	success located
}

// argument is one property of the input schema.
type argument struct {
	place, name string
	schema      any
	required    bool
}

// contract writes the schemas of an operation.
func (d *Document) contract(o *Operation) error {
	b := d.newBuilder(o.Where(), false)
	var args []argument
	for i := range o.Params {
		p := &o.Params[i]
		args = append(args, argument{p.In, p.Name, d.described(b, p), p.Required})
		p.schema, p.described = located{}, ""
	}
	args = append(args, d.bodyArguments(b, o)...)
	seen := map[string]string{}
	for _, a := range args {
		if place, clash := seen[a.name]; clash && place != a.place {
			o.Nested = true
		}
		seen[a.name] = a.place
	}
	root := inputSchema(args, o)
	for _, m := range root.object("properties").members() {
		o.Names = append(o.Names, strings.Clone(m.Key))
	}
	d.reserved(o, root)
	o.Input = d.written(b.finish(root))
	o.Cut = b.cut
	d.wrote += len(o.Input)
	if len(o.Input) > maxInput {
		return fmt.Errorf("its arguments take a schema of %d bytes, and at most %d are shown", len(o.Input), maxInput)
	}
	d.output(o)
	d.wrote += len(o.Output)
	return nil
}

const maxInput = 256 << 10

// reserved adds the arguments that are for us.
func (d *Document) reserved(o *Operation, root *Object) {
	add := func(name, words string) string {
		for slices.Contains(o.Names, name) {
			name += "_"
		}
		props := root.object("properties")
		if props == nil {
			props = &Object{}
			root.Set("properties", props)
			root.last("additionalProperties", false)
		}
		props.Members = append(props.Members, Member{name, obj("type", "string", "description", words)})
		return name
	}
	if d.Select && !o.Binary && o.Method != http.MethodHead {
		o.Select = add("_select", "jq expression that cuts the answer, such as .items[].name")
	}
	if d.Save && o.Binary && o.Method != http.MethodHead {
		o.SaveTo = add("_save_to", "File to write the answer to")
	}
}

// described is the schema of a parameter with the words that its document has for it.
func (d *Document) described(b *builder, p *Param) any {
	s := b.schema(p.schema, 0)
	o, ok := s.(*Object)
	if !ok {
		o = &Object{}
	}
	if words := b.words(p.described); words != "" {
		o.Set("description", words)
	}
	return o
}

// bodyArguments are the properties of the body where it is a plain object, else the body as
// one argument.
func (d *Document) bodyArguments(b *builder, o *Operation) []argument {
	body := o.Body
	if body == nil {
		return nil
	}
	defer func() { body.schema, body.fields, body.words = located{}, nil, "" }()
	if body.fields != nil {
		body.Flat = true
		var out []argument
		for _, f := range body.fields {
			v := f.value.(*Object)
			s := b.schema(f, 0)
			if words := b.words(v.text("description")); words != "" {
				s.(*Object).Set("description", words)
			}
			name := strings.Clone(v.text("name"))
			out = append(out, argument{"body", name, fileHint(s, body.Fields[name]), v.flag("required")})
		}
		return out
	}
	if body.Kind == JSON || body.Kind == Form || body.Kind == Multipart {
		if out, ok := d.flatBody(b, body); ok {
			body.Flat = true
			return out
		}
	}
	var s any
	switch body.Kind {
	case Text:
		s = obj("type", "string", "description", strings.TrimSpace(Clean(body.words, 200)+" The body, as "+Clean(body.Media, 60)+"."))
	case Binary:
		s = obj("type", "string", "description", strings.TrimSpace(Clean(body.words, 200)+" Path of the file to send."))
	default:
		s = b.schema(body.schema, 0)
		if words := b.words(body.words); words != "" {
			if so, ok := s.(*Object); ok {
				if _, has := so.Get("description"); !has {
					so.Set("description", words)
				}
			}
		}
		if so, ok := s.(*Object); ok && len(body.Fields) > 0 {
			for _, m := range so.object("properties").members() {
				fileHint(m.Value, body.Fields[m.Key])
			}
		}
	}
	return []argument{{"body", "body", s, body.Required}}
}

// fileHint tells a model that a file is named and not written out.
func fileHint(s any, f Field) any {
	o, ok := s.(*Object)
	if !ok || !f.File {
		return s
	}
	if items := o.object("items"); items != nil {
		fileHint(items, f)
		return s
	}
	o.Members = append([]Member{}, o.without("format").Members...)
	o.Set("type", "string")
	words, _ := o.Get("description")
	o.Set("description", strings.TrimSpace(textOf(words)+" Path of the file to send."))
	return s
}

// inputSchema puts arguments together: flat, or by place.
func inputSchema(args []argument, o *Operation) *Object {
	if !o.Nested {
		return closed(args)
	}
	root := closed(nil)
	var required []any
	props := &Object{}
	for _, place := range []string{"path", "query", "header", "cookie", "body"} {
		var some []argument
		need := false
		for _, a := range args {
			if a.place == place {
				some = append(some, a)
				need = need || a.required
			}
		}
		if len(some) == 0 {
			continue
		}
		var group any = closed(some)
		if place == "body" && !o.Body.Flat {
			group = some[0].schema
		}
		if place == "body" && o.Body.Required || place != "body" && need {
			required = append(required, place)
		}
		props.Set(place, group)
	}
	root.Set("properties", props)
	if len(required) > 0 {
		root.Set("required", required)
	}
	root.last("additionalProperties", false)
	return root
}

// closed is an object of these properties and no others.
func closed(args []argument) *Object {
	out := obj("type", "object")
	props := &Object{}
	var required []any
	for _, a := range args {
		props.Members = append(props.Members, Member{a.name, a.schema})
		if a.required {
			required = append(required, a.name)
		}
	}
	if props.Len() > 0 {
		out.Set("properties", props)
	}
	if len(required) > 0 {
		out.Set("required", required)
	}
	out.Set("additionalProperties", false)
	return out
}
