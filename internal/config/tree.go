package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// newTree reads the tags of a struct type. Its errors are mistakes of a programmer, not of a user, and all of them come
// back together.
func newTree(typ reflect.Type) (*field, error) {
	if typ == nil || typ.Kind() != reflect.Struct {
		return nil, fmt.Errorf("describing settings: %v is not a struct", typ)
	}
	b := builder{envs: map[string]string{}}
	root := &field{kind: kindBlock, typ: typ}
	b.members(root, container{})
	if err := errors.Join(b.errs...); err != nil {
		return nil, fmt.Errorf("describing settings of %v: %w", typ, err)
	}
	return root, nil
}

// builder makes a tree of fields.
type builder struct {
	errs []error
	open []reflect.Type    // the structs around the present one: a type that holds itself has no end
	envs map[string]string // variable → key, to find two settings with one variable
}

// container says what kind of container the present struct lies in.
type container struct {
	inList bool // an element of a list: replaced or added as a whole, so rules inside it have no meaning
	named  bool // below a list or a map: keys are not fixed, so no environment variable
}

func (b *builder) fail(key, format string, args ...any) {
	b.errs = append(b.errs, fmt.Errorf("%s: %s", key, fmt.Sprintf(format, args...)))
}

// members fills the fields of a block.
func (b *builder) members(block *field, in container) {
	if slices.Contains(b.open, block.typ) {
		b.fail(block.key, "%v contains itself", block.typ)
		return
	}
	b.open = append(b.open, block.typ)
	defer func() { b.open = b.open[:len(b.open)-1] }()

	for i := range block.typ.NumField() {
		sf := block.typ.Field(i)
		if !sf.IsExported() && !sf.Anonymous {
			continue
		}
		name, _, _ := strings.Cut(sf.Tag.Get("yaml"), ",")
		if name == "-" {
			continue
		}
		at := joinKey(block.key, sf.Name)
		switch {
		case sf.Anonymous:
			b.fail(at, "embedded fields are not supported")
			continue
		case !validName(name):
			b.fail(at, "yaml tag %q: a key is lower-case letters, digits, _ and -, and starts with a letter", name)
			continue
		case block.field(name) != nil:
			b.fail(at, "yaml tag %q is used twice", name)
			continue
		}
		f := &field{
			name:   name,
			key:    joinKey(block.key, name),
			typ:    sf.Type,
			index:  i,
			doc:    strings.TrimSpace(sf.Tag.Get("doc")),
			secret: block.secret,
		}
		b.describe(f, sf.Tag, in)
		block.fields = append(block.fields, f)
	}
	if len(block.fields) == 0 && block.typ.NumField() > 0 && len(b.errs) == 0 {
		// Such as time.Time: what it holds is hidden, so it would look like a block without settings.
		b.fail(block.key, "%v is not supported: it has fields, but none of them is a setting", block.typ)
	}
}

// describe fills in what follows from the type and the tags of one field.
func (b *builder) describe(f *field, tag reflect.StructTag, in container) {
	if text, ok := tag.Lookup("secret"); ok {
		if text != "true" {
			b.fail(f.key, "secret tag %q: only true is known", text)
		}
		f.secret = true
	}
	b.shape(f, tag, in)
	if f.kind == 0 {
		return
	}
	b.limits(f, tag)
	b.joined(f, tag, in)
	b.apart(f, tag)
	b.owned(f, tag, in)
	b.projectRule(f, tag, in)
	b.variable(f, tag, in)
}

// shape finds the kind and describes what lies below.
func (b *builder) shape(f *field, tag reflect.StructTag, in container) {
	unit, hasUnit := tag.Lookup("unit")
	if hasUnit && (unit != "bytes" || !holdsInt64(f.typ)) {
		b.fail(f.key, "unit tag %q on %v: only bytes on an int64 is known", unit, f.typ)
		return
	}
	switch f.typ.Kind() {
	case reflect.Bool:
		f.kind = kindBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		switch {
		case f.typ == reflect.TypeFor[time.Duration]():
			f.kind = kindDuration
		case hasUnit:
			f.kind = kindBytes
		default:
			f.kind = kindInt
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		f.kind = kindUint
	case reflect.Float32, reflect.Float64:
		f.kind = kindFloat
	case reflect.String:
		f.kind = kindText
	case reflect.Struct:
		f.kind = kindBlock
		b.members(f, in)
	case reflect.Pointer:
		if f.typ.Elem().Kind() != reflect.Struct {
			b.fail(f.key, "%v is not supported: only a pointer to a struct is", f.typ)
			return
		}
		f.kind = kindOptional
		// The members belong to the struct behind the pointer.
		behind := &field{key: f.key, typ: f.typ.Elem(), secret: f.secret}
		b.members(behind, in)
		f.fields = behind.fields
	case reflect.Slice:
		f.kind = kindList
		b.element(f, tag, f.key+"[]", container{inList: true, named: true})
	case reflect.Map:
		if f.typ.Key().Kind() != reflect.String {
			b.fail(f.key, "%v is not supported: the keys of a map must be strings", f.typ)
			return
		}
		f.kind = kindMap
		b.element(f, tag, f.key+".NAME", container{inList: in.inList, named: true})
	default:
		b.fail(f.key, "%v is not supported", f.typ)
	}
}

func holdsInt64(typ reflect.Type) bool {
	for typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
		typ = typ.Elem()
	}
	return typ.Kind() == reflect.Int64 && typ != reflect.TypeFor[time.Duration]()
}

// element describes what a list or a map holds. Unit, enum, min and max of the container speak of its elements.
func (b *builder) element(f *field, tag reflect.StructTag, key string, in container) {
	f.elem = &field{key: key, typ: f.typ.Elem(), doc: f.doc, secret: f.secret}
	b.shape(f.elem, tag, in)
	switch {
	case f.elem.kind == 0:
		f.kind = 0
	case f.elem.kind.scalar(), f.elem.kind == kindBlock:
	case f.kind == kindMap && f.elem.kind == kindList && f.elem.elem.kind.scalar():
	default:
		b.fail(f.key, "%v is not supported", f.typ)
		f.kind = 0
	}
}

// innermost gives the field whose single values a tag speaks of.
func (f *field) innermost() *field {
	for f.elem != nil {
		f = f.elem
	}
	return f
}

// limits reads enum, min and max.
func (b *builder) limits(f *field, tag reflect.StructTag) {
	value := f.innermost()
	if text, ok := tag.Lookup("enum"); ok {
		if value.kind != kindText {
			b.fail(f.key, "enum tag on %v: only texts have one", f.typ)
			return
		}
		value.enum = strings.Split(text, ",")
	}
	for _, bound := range []struct {
		tag  string
		into *reflect.Value
	}{{"min", &value.low}, {"max", &value.high}} {
		text, ok := tag.Lookup(bound.tag)
		if !ok {
			continue
		}
		if !value.kind.number() {
			b.fail(f.key, "%s tag on %v: only numbers, durations and sizes have one", bound.tag, f.typ)
			continue
		}
		parsed, err := value.scan(text)
		if err != nil {
			b.fail(f.key, "%s tag %q: %v", bound.tag, text, err)
			continue
		}
		*bound.into = parsed
	}
	if value.low.IsValid() && value.high.IsValid() && compare(value.low, value.high) > 0 {
		b.fail(f.key, "min is larger than max")
	}
}

// joined reads whether layers add to a list.
func (b *builder) joined(f *field, tag reflect.StructTag, in container) {
	text, ok := tag.Lookup("layers")
	if !ok {
		return
	}
	if f.joined = true; text != "join" || f.kind != kindList || in.inList {
		b.fail(f.key, "layers tag %q on %v: only join on a list is known", text, f.typ)
	}
}

// owned reads whether only the files of the user and of the administrator set it.
func (b *builder) owned(f *field, tag reflect.StructTag, in container) {
	text, ok := tag.Lookup("set")
	if !ok {
		return
	}
	if f.own = true; text != "own" || in.named || !f.kind.scalar() && f.kind != kindList {
		b.fail(f.key, "set tag %q on %v: only own is known, on a single value or a list outside of lists and maps", text, f.typ)
	}
	if _, both := tag.Lookup("project"); both {
		b.fail(f.key, "set tag with a project tag: a project file cannot set it")
	}
}

// projectRule reads what a project file may do.
func (b *builder) projectRule(f *field, tag reflect.StructTag, in container) {
	text, ok := tag.Lookup("project")
	if !ok {
		return
	}
	fits := false
	switch f.rule = rule(text); f.rule {
	case ruleLower:
		fits = f.kind.number() || f.kind == kindText && len(f.enum) > 0
	case ruleOff, ruleOn:
		fits = f.kind == kindBool
	case ruleAdd:
		fits = f.kind == kindList || f.kind == kindMap
	case ruleSubset, ruleDrop:
		fits = f.kind == kindList
	}
	if !fits {
		b.fail(f.key, "project tag %q does not fit %v", text, f.typ)
	}
	if in.inList {
		b.fail(f.key, "project tag %q inside a list: a list is added to or narrowed as a whole", text)
	}
}

// variable finds the environment variable of a setting that can be written as one text.
func (b *builder) variable(f *field, tag reflect.StructTag, in container) {
	text, explicit := tag.Lookup("env")
	single := f.kind.scalar() || (f.kind == kindList || f.kind == kindMap) && f.elem.kind.scalar()
	if explicit && text != "-" {
		switch {
		case !single:
			b.fail(f.key, "env tag on %v: it cannot be written as one text", f.typ)
			return
		case in.named:
			b.fail(f.key, "env tag below a list or a map: there may be many of it")
			return
		case text == "" || strings.ContainsAny(text, "=\x00"):
			b.fail(f.key, "env tag %q is no name of a variable", text)
			return
		}
		f.env = text
	} else if !explicit && single && !in.named {
		f.env = "TOOLCRIB_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(f.key))
	}
	if f.env == "" {
		return
	}
	if other, taken := b.envs[f.env]; taken {
		b.fail(f.key, "the environment variable %s already belongs to %s", f.env, other)
	}
	b.envs[f.env] = f.key
}

func validName(name string) bool {
	return plainName(name) && strings.ToLower(name) == name && name[0] >= 'a' && name[0] <= 'z'
}
