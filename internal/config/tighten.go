package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// tightener holds a project's patch against the present settings and lets through only what its rules allow. It fails
// safe: what is not known to be tighter is left out.
type tightener struct {
	origins  origins
	file     string
	warnings []Warning
}

// apply walks the patch. Blocks have no rule of their own: what counts is the rule of each setting in them.
func (t *tightener) apply(p *patch, v reflect.Value) {
	switch p.f.kind {
	case kindBlock, kindOptional:
		if p.f.kind == kindOptional {
			if v.IsNil() {
				// To bring the block into being would turn something on, whatever stands in it.
				t.refuse(p, "a project file cannot add this block")
				return
			}
			v = v.Elem()
		}
		for _, part := range p.parts {
			t.apply(part, v.Field(part.f.index))
		}
	case kindMap:
		t.entries(p, v)
	case kindList:
		t.list(p, v)
	default:
		t.scalar(p, v)
	}
}

func (t *tightener) scalar(p *patch, v reflect.Value) {
	if p.f.rule == ruleNone {
		t.refuse(p, "a project file cannot set it")
		return
	}
	if p.value.Equal(v) {
		return
	}
	switch p.f.rule {
	case ruleLower:
		if p.f.kind == kindText {
			if slices.Index(p.f.enum, p.value.String()) > slices.Index(p.f.enum, v.String()) {
				t.refuse(p, "a project file can only make it stricter, and "+p.value.String()+" is not stricter than "+v.String())
				return
			}
			break
		}
		// Zero and less are refused on both sides: they may mean none, and they may mean unlimited.
		zero := reflect.Zero(p.f.typ)
		if compare(p.value, zero) <= 0 || compare(p.value, v) > 0 {
			t.refuse(p, "a project file can only lower it, to more than zero, and "+t.shown(p.f, p.value)+
				" is not lower than "+t.shown(p.f, v))
			return
		}
	case ruleOff, ruleOn:
		if p.value.Bool() != (p.f.rule == ruleOn) {
			t.refuse(p, "a project file can only turn it "+string(p.f.rule))
			return
		}
	default:
		t.refuse(p, "a project file cannot set it")
		return
	}
	v.Set(p.value)
	t.origins[p.key] = p.origin
}

func (t *tightener) shown(f *field, v reflect.Value) string {
	if f.secret {
		return "a value that is not shown"
	}
	return f.format(v)
}

func (t *tightener) list(p *patch, v reflect.Value) {
	switch p.f.rule {
	case ruleAdd:
		t.origins.join(p, v)
	case ruleSubset, ruleDrop:
		t.narrow(p, v)
	default:
		t.refuse(p, "a project file cannot set it")
	}
}

// narrow keeps the present elements that the project names, in their present order. Elements that are not present are
// left out. A list is never emptied, unless it says that empty means nothing: to many readers an empty list of allowed
// things means that everything is allowed.
func (t *tightener) narrow(p *patch, v reflect.Value) {
	present, wanted := newSet(p.f.elem, v), newSet(p.f.elem, p.value)
	kept := reflect.MakeSlice(p.f.typ, 0, v.Len())
	for i := range v.Len() {
		if wanted.has(v.Index(i)) {
			kept = reflect.Append(kept, v.Index(i))
		}
	}
	var extra []string
	for i := range p.value.Len() {
		if !present.has(p.value.Index(i)) {
			extra = append(extra, t.named(p.f.elem, p.value.Index(i), i))
		}
	}
	if kept.Len() == 0 && p.f.rule != ruleDrop {
		if v.Len() > 0 || len(extra) > 0 {
			t.refuse(p, "a project file can only narrow this list, and nothing would be left of it")
		}
		return
	}
	if len(extra) > 0 {
		t.refuse(p, "a project file can only narrow this list, and "+strings.Join(bounded(extra), ", ")+" is not in it")
	}
	if kept.Len() == v.Len() {
		return
	}
	v.Set(kept)
	t.origins[p.key] = p.origin
}

// named shows one element in a message.
func (t *tightener) named(f *field, v reflect.Value, index int) string {
	if f.secret || !f.kind.scalar() {
		return fmt.Sprintf("element %d", index+1)
	}
	return clip(f.format(v))
}

// bounded keeps a list in a message short.
func bounded(words []string) []string {
	const most = 5
	if len(words) <= most {
		return words
	}
	return append(words[:most:most], fmt.Sprintf("and %d more", len(words)-most))
}

// entries adds new entries where that is allowed, and holds the others against the present ones. Entries that are refused
// for the same reason make one warning: a file can hold thousands of them.
func (t *tightener) entries(p *patch, v reflect.Value) {
	var unwanted, different []*patch
	for _, part := range p.parts {
		entry, present := entryOf(p.f, v, part.name)
		switch {
		case !present && p.f.rule == ruleAdd:
			if v.IsNil() {
				v.Set(reflect.MakeMap(p.f.typ))
			}
			t.origins.overlay(part, entry)
		case !present:
			unwanted = append(unwanted, part)
			continue
		case p.f.elem.kind == kindBlock:
			t.apply(part, entry)
		case identity(p.f.elem, entry) != identity(p.f.elem, part.value):
			different = append(different, part)
			continue
		default:
			continue
		}
		v.SetMapIndex(mapKey(p.f, part.name), entry)
	}
	t.refuseAll(unwanted, "a project file cannot add entries here")
	t.refuseAll(different, "a project file cannot change an entry that is already there")
}

func (t *tightener) refuseAll(parts []*patch, why string) {
	if len(parts) == 0 {
		return
	}
	if len(parts) > 1 {
		why += fmt.Sprintf(" (and %d more like it)", len(parts)-1)
	}
	t.refuse(parts[0], why)
}

// refuse notes that something was left out and how the user can have it all the same.
func (t *tightener) refuse(p *patch, why string) {
	t.warnings = append(t.warnings, Warning{
		File: t.file, Line: p.at.line, Column: p.at.column, Key: p.key,
		Message: "ignored: " + why + "; it takes effect only when you set it in your own config, or trust this file (toolcrib trust)",
	})
}
