package schema

import (
	"bytes"
	"fmt"
	"unicode"
)

// alike finds two keys of one object that differ in case only. Many readers take either for the other, some the first
// and some the last, so that what was judged would not be what counts. The outermost object must not have any; one
// further in may hold data of its own, with whatever names (http_proxy and HTTP_PROXY), and is refused only if the
// schema knows one of the two. Where the schema has both, they are two things.
func (s *Schema) alike(d *Doc) []Problem {
	var declared map[string]bool
	for i := range d.nodes {
		if n := &d.nodes[i]; n.kind != Object || n.b < 2 || !d.mayBeAlike(uint32(i)) {
			continue
		}
		if declared == nil {
			declared = s.declared()
		}
		seen := make(map[string]uint32, d.nodes[i].b)
		for _, k := range d.keys(uint32(i)) {
			name := folded(d.str(k))
			other, ok := seen[name]
			if !ok {
				seen[name] = k
				continue
			}
			// Each is held against the first of its kind: among three, one that is declared
			// and one that is not meet in this way, too.
			a, b := declared[string(d.str(other))], declared[string(d.str(k))]
			if a && b || !a && !b && i > 0 {
				continue
			}
			return []Problem{{Rule: "properties", Message: fmt.Sprintf("the keys %s and %s of one object differ in case only, and a reader may take either for the other: leave one of them out",
				quoted(d.str(other)), quoted(d.str(k)))}}
		}
	}
	return nil
}

// fewAlike is how many keys are held against each other one by one.
const fewAlike = 32

// mayBeAlike is the look that nearly every object passes: it has no two such keys, or too many keys to be sure at once.
func (d *Doc) mayBeAlike(object uint32) bool {
	keys := d.keys(object)
	plain := true
	for _, k := range keys {
		plain = plain && lowered(d.str(k))
	}
	if plain || len(keys) > fewAlike {
		return !plain
	}
	for i, k := range keys {
		for _, l := range keys[i+1:] {
			if bytes.EqualFold(d.str(k), d.str(l)) {
				return true
			}
		}
	}
	return false
}

// lowered reports whether a key has no letter that could be the other case of one in a plain key.
func lowered(key []byte) bool {
	for _, c := range key {
		if c >= 'A' && c <= 'Z' || c >= 0x80 {
			return false
		}
	}
	return true
}

// folded is the same for keys that differ in case only.
func folded(key []byte) string {
	return string(bytes.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, key))
}

// declared are the names of all properties in the schema, wherever they stand.
func (s *Schema) declared() map[string]bool {
	names := map[string]bool{}
	for i := range s.doc.nodes {
		if s.doc.nodes[i].kind != Object {
			continue
		}
		if at, ok := s.doc.member(uint32(i), []byte("properties")); ok && s.doc.nodes[at].kind == Object {
			for _, k := range s.doc.keys(at) {
				names[string(s.doc.str(k))] = true
			}
		}
	}
	return names
}
