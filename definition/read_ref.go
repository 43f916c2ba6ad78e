package definition

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// follow reads what a reference leads to. One that leads back to where it stands, out of the text, or further than the
// bounds allow is cut: the value is free there but for its type.
func (r *reader) follow(ref string, depth int) (*shape, error) {
	target := r.resolve(ref)
	if target == nil {
		s := free()
		s.cut = "its definition is not shown"
		return s, nil
	}
	if slices.Contains(r.following, target) || r.made > maxFollowed {
		return r.stub(ref, target), nil
	}
	r.following = append(r.following, target)
	defer func() { r.following = r.following[:len(r.following)-1] }()
	return r.read(target, depth+1)
}

// stub stands for a schema that is not read again.
func (r *reader) stub(ref string, target *tree) *shape {
	s := free()
	s.cut = "in the same form as the value around it"
	if name := ref[strings.LastIndexByte(ref, '/')+1:]; name != "" && name != "#" && len(name) <= 80 {
		s.cut = "in the form of " + name
	}
	if target.is(kindObject) && target.get("$ref") == nil {
		if v := target.get("type"); v.is(kindString) && kindOf(v.text) != 0 {
			s.kinds = kindOf(v.text)
		}
	}
	return s
}

// resolve finds the target of a reference inside the text, nil if there is none.
func (r *reader) resolve(ref string) *tree {
	rest, ok := strings.CutPrefix(ref, "#")
	if !ok || r.nested {
		return nil
	}
	pointer, err := url.PathUnescape(rest)
	if err != nil {
		return nil
	}
	at := r.root
	if pointer == "" {
		return at
	}
	steps := strings.Split(pointer, "/")
	if steps[0] != "" { // an anchor
		return nil
	}
	for _, step := range steps[1:] {
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		switch at.kind {
		case kindObject:
			at = at.get(step)
		case kindArray:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(at.elems) {
				return nil
			}
			at = at.elems[i]
		default:
			return nil
		}
		if at == nil {
			return nil
		}
	}
	return at
}

// identifiers reports whether a schema inside the text has an address of its own. References below it then do not start
// at the root, so none is followed.
func identifiers(t *tree, key string, root bool) bool {
	if !root && t.kind == kindObject && t.get(key).is(kindString) {
		return true
	}
	for _, m := range t.members {
		if identifiers(m.value, key, false) {
			return true
		}
	}
	return slices.ContainsFunc(t.elems, func(e *tree) bool { return identifiers(e, key, false) })
}
