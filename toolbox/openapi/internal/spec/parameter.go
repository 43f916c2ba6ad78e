package spec

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

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
