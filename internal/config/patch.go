package config

import (
	"reflect"
)

// patch is what one layer says about one setting and those below it. A layer is first decoded into a patch as a whole
// and then applied, so that checking it, overlaying it and holding it against the present value are three separate jobs.
type patch struct {
	f      *field
	name   string // the YAML key or the name of the map entry
	key    string // the dotted key, with real names in place of NAME
	origin Origin
	at     mark
	value  reflect.Value // of a scalar or a list
	items  []mark        // where the elements of a list stand
	parts  []*patch      // of a block, an optional block or a map, in the order of the layer
}

// origins remembers the layer of every key that is not as the defaults have it.
type origins map[string]Origin

// overlay sets what the patch says, whatever was there.
func (o origins) overlay(p *patch, v reflect.Value) {
	switch p.f.kind {
	case kindBlock, kindOptional:
		if p.f.kind == kindOptional {
			if v.IsNil() {
				v.Set(reflect.New(p.f.typ.Elem()))
			}
			v = v.Elem()
		}
		for _, part := range p.parts {
			o.overlay(part, v.Field(part.f.index))
		}
	case kindMap:
		if v.IsNil() {
			v.Set(reflect.MakeMap(p.f.typ))
		}
		for _, part := range p.parts {
			entry, _ := entryOf(p.f, v, part.name)
			o.overlay(part, entry)
			v.SetMapIndex(mapKey(p.f, part.name), entry)
		}
	default:
		if p.f.joined {
			o.join(p, v)
			return
		}
		v.Set(p.value)
		o[p.key] = p.origin
	}
}

// join adds the elements that are not there yet.
func (o origins) join(p *patch, v reflect.Value) {
	present := newSet(p.f.elem, v)
	if v.Len() == 0 {
		o[p.key] = p.origin
	}
	for i := range p.value.Len() {
		if !present.add(p.value.Index(i)) {
			continue
		}
		origin := p.origin
		if i < len(p.items) {
			origin.Line = p.items[i].line
		}
		o[elementKey(p.key, v.Len())] = origin
		v.Set(reflect.Append(v, p.value.Index(i)))
	}
}

// entryOf gives a settable copy of a map entry, the zero value if there is none: entries of a Go map cannot be changed
// in place.
func entryOf(f *field, m reflect.Value, name string) (entry reflect.Value, present bool) {
	entry = reflect.New(f.elem.typ).Elem()
	if old := m.MapIndex(mapKey(f, name)); old.IsValid() {
		entry.Set(old)
		return entry, true
	}
	return entry, false
}

func mapKey(f *field, name string) reflect.Value {
	return reflect.ValueOf(name).Convert(f.typ.Key())
}

// clone copies a value with everything it points to, so that the caller's defaults stay as they are. Fields outside the
// settings are copied as they are.
func clone(f *field, v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	switch f.kind {
	case kindBlock, kindOptional:
		into := c
		if f.kind == kindOptional && !v.IsNil() {
			c.Set(reflect.New(f.typ.Elem()))
			into = c.Elem()
			into.Set(v.Elem())
		}
		for member, value := range f.settings(v) {
			into.Field(member.index).Set(clone(member, value))
		}
	case kindList:
		if v.IsNil() {
			break
		}
		c.Set(reflect.MakeSlice(f.typ, v.Len(), v.Len()))
		for i := range v.Len() {
			c.Index(i).Set(clone(f.elem, v.Index(i)))
		}
	case kindMap:
		if v.IsNil() {
			break
		}
		c.Set(reflect.MakeMapWithSize(f.typ, v.Len()))
		for entries := v.MapRange(); entries.Next(); {
			c.SetMapIndex(entries.Key(), clone(f.elem, entries.Value()))
		}
	}
	return c
}
