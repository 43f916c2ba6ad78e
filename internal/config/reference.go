package config

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
)

// Reference writes a Markdown page about all settings: one section for each block, one row for each setting. It refuses
// a setting without a description and a default that a user could not write.
func Reference[T any](defaults T) ([]byte, error) {
	value := reflect.ValueOf(&defaults).Elem()
	root, err := documented(value)
	if err != nil {
		return nil, err
	}
	var r referenceWriter
	r.out.WriteString(preface)
	r.section(section{title: "Top level", members: root.fields, value: value})
	return r.out.Bytes(), nil
}

const preface = `# Configuration reference

Each layer is laid over the one before it: defaults, system file, user file, environment, flags. A project file may only
tighten the result, in the way its column says; anything else in it is ignored with a warning. A list replaces the list of
the layer below (those under permissions, and tools.disable, are joined); blocks and maps are merged key by key. In an environment variable a list is written with commas, a map as
` + "`name=value`" + ` with commas.

Durations are written like ` + "`30s`, `1h30m` or `90d`" + `; sizes like ` + "`4096`, `16MiB` (units of 1024) or `1GB`" + ` (units of 1000).
`

// referenceWriter writes the page.
type referenceWriter struct{ out bytes.Buffer }

// section is one block of settings.
type section struct {
	title   string
	doc     string
	note    string // what kind of block it is, where that matters
	members []*field
	value   reflect.Value // the defaults; invalid where a block has none
	inList  bool          // a project file deals with the list as a whole, not with settings in its elements
}

// section writes the settings of one block as a table and then the blocks inside it as sections of their own.
func (r *referenceWriter) section(s section) {
	var rows, inner []*field
	for _, member := range s.members {
		if member.below() != nil {
			inner = append(inner, member)
		}
		if member.kind != kindBlock && member.kind != kindOptional {
			rows = append(rows, member)
		}
	}
	// A block that only holds other blocks is a heading worth having when it has something to say.
	if len(rows) > 0 || s.doc != "" {
		fmt.Fprintf(&r.out, "\n## %s\n", s.title)
		if s.doc != "" {
			fmt.Fprintf(&r.out, "\n%s%s\n", s.doc, s.note)
		}
	}
	if len(rows) > 0 {
		r.out.WriteString("\n| Key | Type | Default | Environment | A project file may | Description |\n|---|---|---|---|---|---|\n")
		for _, f := range rows {
			r.row(f, s)
		}
	}
	for _, f := range inner {
		r.inner(f, s)
	}
}

// inner writes the section of a block, or of the blocks in a list or a map.
func (r *referenceWriter) inner(f *field, outer section) {
	block := outer.value
	s := section{title: "`" + f.key + "`", doc: f.doc, members: f.below().fields, inList: outer.inList}
	switch f.kind {
	case kindBlock:
		if block.IsValid() {
			s.value = block.Field(f.index)
		}
	case kindOptional:
		s.note = " This block is optional; it is absent until a layer writes it."
		if block.IsValid() && !block.Field(f.index).IsNil() {
			s.value = block.Field(f.index).Elem()
			s.note = " This block is optional; it is there by default."
		}
	default:
		s.title = "`" + f.elem.key + "`"
		s.doc = "One entry of `" + f.key + "`."
		s.inList = s.inList || f.kind == kindList
		if !s.inList {
			s.note = " What a project file may do to these settings concerns entries that are there without it."
		}
	}
	r.section(s)
}

// below gives the block inside a field, nil if it holds none.
func (f *field) below() *field {
	if f.kind == kindBlock || f.kind == kindOptional {
		return f
	}
	if f.elem != nil {
		return f.elem.below()
	}
	return nil
}

func (r *referenceWriter) row(f *field, s section) {
	standard, env, kind, allowed := "", "", f.typeName(), f.rule.allowed()
	if s.value.IsValid() {
		standard = code(brief(f, s.value.Field(f.index)))
	}
	if f.secret {
		kind += ", never shown"
	}
	if s.inList {
		allowed = ""
	}
	if f.env != "" && !f.own {
		env = code(f.env)
	}
	fmt.Fprintf(&r.out, "| %s | %s | %s | %s | %s | %s |\n",
		code(f.key), cell(kind), standard, env, allowed, cell(f.doc))
}

// brief writes a default on one line.
func brief(f *field, v reflect.Value) string {
	switch f.kind {
	case kindList:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = brief(f.elem, v.Index(i))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case kindMap:
		var items []string
		for _, name := range entryNames(v) {
			entry, _ := entryOf(f, v, name)
			items = append(items, name+": "+brief(f.elem, entry))
		}
		return "{" + strings.Join(items, ", ") + "}"
	case kindBlock, kindOptional:
		return "{…}"
	}
	switch {
	case f.secret && !v.IsZero():
		return Hidden
	case f.kind == kindText && v.String() == "":
		return `""`
	}
	return f.format(v)
}

// code puts a text into backquotes, more of them than the text itself has in a row.
func code(text string) string {
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return cell(fence + text + fence)
}

// cell keeps a text inside its cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\r", " ", "\n", " ").Replace(text)
}
