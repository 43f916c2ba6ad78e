package schema

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Decoder fills Go values of one type from documents. It does what encoding/json does, several times faster, because
// the text is parsed already and the type was looked at beforehand. What it does not know itself (types with their own
// unmarshalling, embedded structs, the string option) it hands to encoding/json, value by value.
type Decoder struct{ fill filler }

type filler func(d *Doc, i uint32, v reflect.Value) error

// NewDecoder prepares a Decoder for a type.
func NewDecoder(t reflect.Type) *Decoder {
	return &Decoder{fillerFor(t, map[reflect.Type]*filler{})}
}

// Decode fills v, which must be settable and of the Decoder's type. Strings are copied: v does not depend on d.
func (dec *Decoder) Decode(d *Doc, v reflect.Value) error { return dec.fill(d, 0, v) }

// fillerFor plans for a type. Types under way are in seen, so that a recursive type finds its own plan.
func fillerFor(t reflect.Type, seen map[reflect.Type]*filler) filler {
	if p := seen[t]; p != nil {
		return func(d *Doc, i uint32, v reflect.Value) error { return (*p)(d, i, v) }
	}
	if unmarshals(t) {
		return fillByLibrary
	}
	var own filler
	seen[t] = &own
	defer delete(seen, t)
	own = fillByLibrary
	switch t.Kind() {
	case reflect.Bool:
		own = expecting(Bool, fillBool)
	case reflect.String:
		own = expecting(String, fillString)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		own = expecting(Number, fillInt)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		own = expecting(Number, fillUint)
	case reflect.Float32, reflect.Float64:
		own = expecting(Number, fillFloat)
	case reflect.Pointer:
		own = pointerFiller(t, fillerFor(t.Elem(), seen))
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 { // bytes are base64 text
			own = expecting(Array, sliceFiller(t, fillerFor(t.Elem(), seen)))
		}
	case reflect.Map:
		if t.Key() == reflect.TypeFor[string]() {
			own = expecting(Object, mapFiller(t, fillerFor(t.Elem(), seen)))
		}
	case reflect.Struct:
		if fields, ok := fieldsOf(t, seen); ok {
			own = expecting(Object, fields.fill)
		}
	}
	return own
}

// unmarshals says whether a type reads JSON or text its own way, or is known to encoding/json by name.
func unmarshals(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) ||
		t == reflect.TypeFor[json.Number]()
}

func fillByLibrary(d *Doc, i uint32, v reflect.Value) error {
	return json.Unmarshal(d.raw(i), v.Addr().Interface())
}

// mismatch is a value of another kind than the Go type takes. The schema should have refused it before.
func mismatch(d *Doc, i uint32, v reflect.Value) error {
	text := d.nodes[i].kind.String()
	if d.nodes[i].kind == Number {
		text = "number " + quoteValue(d, i)
	}
	return fmt.Errorf("cannot put %s into a Go %s", text, v.Type())
}

// expecting makes a filler for one kind of value. As for encoding/json, null leaves what is there, but empties slices and
// maps.
func expecting(kind Kind, fill filler) filler {
	return func(d *Doc, i uint32, v reflect.Value) error {
		switch d.nodes[i].kind {
		case kind:
			return fill(d, i, v)
		case Null:
			if k := v.Kind(); k == reflect.Slice || k == reflect.Map {
				v.SetZero()
			}
			return nil
		}
		return mismatch(d, i, v)
	}
}

func fillBool(d *Doc, i uint32, v reflect.Value) error {
	v.SetBool(d.nodes[i].flags&flagTrue != 0)
	return nil
}

func fillString(d *Doc, i uint32, v reflect.Value) error {
	v.SetString(string(d.str(i)))
	return nil
}

func fillInt(d *Doc, i uint32, v reflect.Value) error {
	n, err := strconv.ParseInt(string(d.raw(i)), 10, 64)
	if err != nil || v.OverflowInt(n) {
		return mismatch(d, i, v)
	}
	v.SetInt(n)
	return nil
}

func fillUint(d *Doc, i uint32, v reflect.Value) error {
	n, err := strconv.ParseUint(string(d.raw(i)), 10, 64)
	if err != nil || v.OverflowUint(n) {
		return mismatch(d, i, v)
	}
	v.SetUint(n)
	return nil
}

func fillFloat(d *Doc, i uint32, v reflect.Value) error {
	f, err := strconv.ParseFloat(string(d.raw(i)), v.Type().Bits())
	if err != nil || math.IsInf(f, 0) {
		return mismatch(d, i, v)
	}
	v.SetFloat(f)
	return nil
}

func pointerFiller(t reflect.Type, elem filler) filler {
	return func(d *Doc, i uint32, v reflect.Value) error {
		if d.nodes[i].kind == Null {
			v.SetZero()
			return nil
		}
		p := reflect.New(t.Elem())
		v.Set(p)
		return elem(d, i, p.Elem())
	}
}

func sliceFiller(t reflect.Type, elem filler) filler {
	return func(d *Doc, i uint32, v reflect.Value) error {
		n := int(d.nodes[i].b)
		s := reflect.MakeSlice(t, n, n)
		for k, e := range (Node{d, i}).Elems() {
			if err := elem(d, e.i, s.Index(k)); err != nil {
				return fmt.Errorf("[%d]: %w", k, err)
			}
		}
		v.Set(s)
		return nil
	}
}

func mapFiller(t reflect.Type, elem filler) filler {
	return func(d *Doc, i uint32, v reflect.Value) error {
		m := reflect.MakeMapWithSize(t, int(d.nodes[i].b))
		for _, k := range d.keys(i) {
			e := reflect.New(t.Elem()).Elem()
			if err := elem(d, k+1, e); err != nil {
				return fmt.Errorf("%s: %w", d.str(k), err)
			}
			m.SetMapIndex(reflect.ValueOf(string(d.str(k))), e)
		}
		v.Set(m)
		return nil
	}
}

// structFields are the fields of a struct, sorted by their JSON names as the keys of a canonical text are.
type structFields []structField

type structField struct {
	name  []byte
	index int
	fill  filler
}

// fieldsOf plans for a struct; false if it needs rules of encoding/json that are not worth repeating.
func fieldsOf(t reflect.Type, seen map[reflect.Type]*filler) (structFields, bool) {
	var fields structFields
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case f.Anonymous || slices.Contains(strings.Split(options, ","), "string"):
			return nil, false
		case !f.IsExported() || tag == "-":
			continue
		case name == "" || strings.ContainsFunc(name, notInTag):
			name = f.Name
		}
		fields = append(fields, structField{[]byte(name), i, fillerFor(f.Type, seen)})
	}
	slices.SortFunc(fields, func(a, b structField) int { return bytes.Compare(a.name, b.name) })
	for i := 1; i < len(fields); i++ {
		if bytes.Equal(fields[i-1].name, fields[i].name) {
			return nil, false
		}
	}
	return fields, true
}

// notInTag are the runes that make encoding/json ignore a name in a tag; plain names have none of them.
func notInTag(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.' && r < 0x80
}

func (fields structFields) fill(d *Doc, i uint32, v reflect.Value) error {
	at := 0
	for _, k := range d.keys(i) { // sorted, as the fields are: one walk over both
		key := d.str(k)
		for at < len(fields) && bytes.Compare(fields[at].name, key) < 0 {
			at++
		}
		f := at
		if f == len(fields) || !bytes.Equal(fields[f].name, key) {
			// A name that differs in case only counts, as for encoding/json.
			if f = slices.IndexFunc(fields, func(f structField) bool { return bytes.EqualFold(f.name, key) }); f < 0 {
				continue
			}
		}
		if err := fields[f].fill(d, k+1, v.Field(fields[f].index)); err != nil {
			return fmt.Errorf("%s: %w", fields[f].name, err)
		}
	}
	return nil
}
