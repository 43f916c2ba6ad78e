package definition

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Restore turns the arguments that a model gave for a tool, by its shown name, into arguments of the real contract: real
// names of properties, JSON where text stood for it, and nothing where null meant nothing. What it does not understand
// stays as it is, for the crib to refuse. No arguments are an empty object.
func (s Set) Restore(shown string, args json.RawMessage) (json.RawMessage, error) {
	if _, ok := s.Names[shown]; !ok {
		return nil, fmt.Errorf("no tool is shown as %.80q", shown)
	}
	out, err := restore(s.back[shown], args)
	if err != nil {
		return nil, fmt.Errorf("restoring the arguments of %s: %w", shown, err)
	}
	return out, nil
}

var errTwice = errors.New("an argument is given twice")

// maxLook bounds how far values are compared with alternatives.
const maxLook = 200_000

// restorer turns one set of arguments back.
type restorer struct{ look int }

func restore(u *undo, args json.RawMessage) (json.RawMessage, error) {
	if len(args) == 0 {
		return json.RawMessage("{}"), nil
	}
	v, err := parse(args)
	if err != nil {
		return nil, fmt.Errorf("reading the arguments: %w", err)
	}
	if u == nil {
		return args, nil
	}
	r := &restorer{look: maxLook}
	if u.rename != nil {
		v, err = rename(v, u.rename)
	} else {
		v, err = r.value(v, u)
	}
	if err != nil {
		return nil, err
	}
	return v.append(nil), nil
}

func rename(v *tree, names map[string]string) (*tree, error) {
	out := &tree{kind: v.kind, text: v.text}
	seen := map[string]bool{}
	for _, m := range v.members {
		name := m.key
		if n, ok := names[name]; ok {
			name = n
		}
		if seen[name] {
			return nil, fmt.Errorf("%w: %.80q", errTwice, name)
		}
		seen[name] = true
		value, err := rename(m.value, names)
		if err != nil {
			return nil, err
		}
		out.set(name, value)
	}
	for _, e := range v.elems {
		value, err := rename(e, names)
		if err != nil {
			return nil, err
		}
		out.elems = append(out.elems, value)
	}
	return out, nil
}

func (r *restorer) value(v *tree, u *undo) (*tree, error) {
	switch v.kind {
	case kindString:
		return r.string(v, u), nil
	case kindArray:
		if len(u.arrays) == 0 {
			return v, nil
		}
		form := u.arrays[0]
		for _, a := range u.arrays {
			if len(u.arrays) > 1 && r.arrayFits(v, a) {
				form = a
				break
			}
		}
		out := &tree{kind: kindArray}
		for _, e := range v.elems {
			e, err := r.value(e, form)
			if err != nil {
				return nil, err
			}
			out.elems = append(out.elems, e)
		}
		return out, nil
	case kindObject:
		if len(u.objects) == 0 {
			return v, nil
		}
		return r.object(v, r.form(v, u.objects))
	}
	return v, nil
}

// string reads a text that stands for JSON. One that does not is left as it is: the crib then says what is wrong, in
// terms of the real contract.
func (r *restorer) string(v *tree, u *undo) *tree {
	if u.null && v.text == nullMark {
		return &tree{kind: kindNull, text: "null"}
	}
	if u.text == 0 {
		return v
	}
	t, err := parse([]byte(v.text))
	if err != nil || valueKind(t)&u.text == 0 {
		return v
	}
	return t
}

func (r *restorer) object(v *tree, form *objectUndo) (*tree, error) {
	out := object()
	seen := map[string]bool{}
	put := func(name string, value *tree) error {
		if seen[name] {
			return fmt.Errorf("%w: %.80q", errTwice, name)
		}
		seen[name] = true
		out.set(name, value)
		return nil
	}
	for _, m := range v.members {
		f, known := form.fields[m.key]
		switch {
		case known && f.drop && m.value.kind == kindNull:
		case known:
			value, err := r.value(m.value, f.back)
			if err != nil {
				return nil, err
			}
			if err := put(f.name, value); err != nil {
				return nil, err
			}
		case m.key == form.more && m.value.kind == kindNull:
		case m.key == form.more && entries(m.value) != nil:
			for _, e := range entries(m.value).members {
				if err := put(e.key, e.value); err != nil {
					return nil, err
				}
			}
		default:
			if err := put(m.key, m.value); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// entries reads the entries with free names, nil if they are none.
func entries(v *tree) *tree {
	if v.kind == kindString {
		t, err := parse([]byte(v.text))
		if err != nil {
			return nil
		}
		v = t
	}
	if v.kind != kindObject {
		return nil
	}
	return v
}

// form picks the form that an object has: the first that it fits, or else the one that knows most of its members.
func (r *restorer) form(v *tree, forms []*objectUndo) *objectUndo {
	best, most := forms[0], -1
	if len(forms) == 1 {
		return best
	}
	for _, f := range forms {
		if r.objectFits(v, f) {
			return f
		}
		known := 0
		for _, m := range v.members {
			if _, ok := f.fields[m.key]; ok {
				known++
			}
		}
		if known > most {
			best, most = f, known
		}
	}
	return best
}

func (r *restorer) fits(v *tree, u *undo) bool {
	if r.look--; r.look < 0 {
		return true
	}
	switch v.kind {
	case kindObject:
		for _, f := range u.objects {
			if r.objectFits(v, f) {
				return true
			}
		}
		return false
	case kindArray:
		for _, a := range u.arrays {
			if r.arrayFits(v, a) {
				return true
			}
		}
		return false
	case kindString:
		if u.text != 0 || (u.null && v.text == nullMark) {
			return true
		}
	}
	k := valueKind(v) & u.kinds
	if k&u.listed == 0 {
		return k != 0
	}
	return slices.ContainsFunc(u.only, func(w *tree) bool { return same(v, w) })
}

func (r *restorer) arrayFits(v *tree, items *undo) bool {
	for _, e := range v.elems {
		if !r.fits(e, items) {
			return false
		}
	}
	return true
}

func (r *restorer) objectFits(v *tree, form *objectUndo) bool {
	given := make(map[string]bool, len(v.members))
	for _, m := range v.members {
		given[m.key] = true
		f, known := form.fields[m.key]
		switch {
		case known && (m.value.kind == kindNull && f.drop || r.fits(m.value, f.back)):
		case !known && m.key == form.more && form.more != "":
		default:
			return false
		}
	}
	for _, name := range form.must {
		if !given[name] {
			return false
		}
	}
	return true
}
