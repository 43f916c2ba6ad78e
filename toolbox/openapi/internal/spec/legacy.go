package spec

import "strings"

// legacyBody is the body of Swagger 2.0: one parameter, or the fields of a form.
func (d *Document) legacyBody(o *Operation, p pathItem, def *Object, fields []located) error {
	if len(fields) == 0 {
		return nil
	}
	consumes := def.list("consumes")
	if consumes == nil {
		consumes = p.root.list("consumes")
	}
	best, rank := "", 100
	consumes = consumes[:min(len(consumes), maxList)]
	for _, v := range consumes {
		if r := preference(textOf(v)); r < rank {
			best, rank = textOf(v), r
		}
	}
	b := &Body{}
	for _, f := range fields {
		v := f.value.(*Object)
		if v.text("in") == "body" {
			s, _ := v.Get("schema")
			b.schema, b.Required, b.words = located{f.file, s}, v.flag("required"), v.text("description")
			if best == "" || rank == 4 || rank == 5 {
				best = "application/json"
			}
			b.Kind, b.Media = kindOf(best)
			b.Fields, b.fields = nil, nil
			o.Body = b
			return nil
		}
	}
	b.Kind, b.Media, b.fields, b.Fields = Form, "application/x-www-form-urlencoded", fields, map[string]Field{}
	for _, v := range consumes {
		if strings.HasPrefix(strings.ToLower(textOf(v)), "multipart/") && rank != 4 {
			b.Kind, b.Media = Multipart, "multipart/form-data"
		}
	}
	for _, f := range fields {
		v := f.value.(*Object)
		field := Field{File: v.text("type") == "file"}
		if field.File {
			b.Kind, b.Media = Multipart, "multipart/form-data"
		}
		if v.text("type") == "array" {
			switch v.text("collectionFormat") {
			case "multi":
				field.Style, field.Explode = "form", true
			case "ssv":
				field.Style = "spaceDelimited"
			case "tsv":
				field.Style = "tabDelimited"
			case "pipes":
				field.Style = "pipeDelimited"
			default:
				field.Style = "form"
			}
			if field.File {
				field.Style, field.Explode = "", false
			}
		}
		b.Required = b.Required || v.flag("required")
		if field != (Field{}) {
			b.Fields[strings.Clone(v.text("name"))] = field
		}
	}
	o.Body = b
	return nil
}
