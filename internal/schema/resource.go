package schema

import (
	"bytes"
	"net/url"
	"strings"
)

// baseAddress is the address of a schema that names none. It cannot be resolved, and nothing tries to.
const baseAddress = "https://schema.invalid/root"

// resource is a schema with an address of its own: the whole text, and every part of it that has an identifier.
type resource struct {
	at      uint32
	draft   int
	base    *url.URL          // its address; that of the whole text is set once it is asked for
	anchors map[string]uint32 // the subschemas that have a name in it, by $anchor or $dynamicAnchor
	dynamic map[string]uint32 // those by $dynamicAnchor; the empty name stands for $recursiveAnchor
}

// resources are those of one text.
type resources struct {
	home      *resource // the whole text
	at        map[uint32]*resource
	byAddress map[string]*resource
	addresses int             // the length of all addresses so far
	scanned   bool            // all are known
	dynamic   map[string]bool // all dynamic anchors
	contested map[string]bool // those that several resources have
}

// place is where in the text the builder is.
type place struct {
	draft int
	res   *resource
	scope *scope // nil: no dynamic reference depends on the way here
}

// scan builds the whole schema, and learns on the way which identifiers and anchors it has: until then no reference can be
// followed.
func (b *builder) scan(draft int) (*rule, error) {
	b.home = &resource{draft: draft}
	b.place = place{draft: draft, res: b.home}
	root, err := b.build(0)
	if err != nil {
		return nil, err
	}
	b.scanned = true
	b.place = place{draft: draft, res: b.home}
	if b.findContested(); b.contested == nil {
		return root, nil
	}
	// What a dynamic reference leads to depends on the way to it. So every rule is made anew for every way that matters.
	b.scope = &scope{rules: map[uint32]*rule{}}
	clear(b.from)
	return b.build(0)
}

// findContested finds the dynamic anchors that several resources have.
func (b *builder) findContested() {
	note := func(res *resource) {
		for name := range res.dynamic {
			if b.dynamic[name] {
				b.contested = with(b.contested, name, true)
			}
			b.dynamic = with(b.dynamic, name, true)
		}
	}
	note(b.home)
	for _, res := range b.at {
		note(res)
	}
}

// with adds an entry to a map that may not be there yet.
func with[K comparable, V any](m map[K]V, key K, v V) map[K]V {
	if m == nil {
		m = map[K]V{}
	}
	m[key] = v
	return m
}

// enter moves into the resource that begins at the subschema at node i, if one does.
func (b *builder) enter(i uint32) error {
	res := b.at[i]
	if i == 0 && b.scanned {
		res = b.home
	}
	if res == nil && !b.scanned {
		var err error
		if res, err = b.register(i); err != nil {
			return err
		}
	}
	if res != nil {
		b.place = b.placeIn(res)
	}
	return nil
}

// register notes the identifier of the subschema at node i. It gives nil when that begins no resource.
func (b *builder) register(i uint32) (*resource, error) {
	if _, ok := b.d.member(i, []byte("$id")); !ok {
		if _, ok := b.d.member(i, []byte("id")); !ok {
			return nil, nil
		}
	}
	draft := b.draft
	v, declared := b.d.member(i, []byte("$schema"))
	if declared && b.d.nodes[v].kind == String {
		draft = draftOf(string(b.d.str(v)))
	}
	id, ok := b.d.member(i, []byte(idKeyword(draft)))
	_, ref := b.d.member(i, []byte("$ref"))
	if !ok || b.d.nodes[id].kind != String || (ref && draft < draft2019) { // up to draft-07 nothing counts beside $ref
		return nil, nil
	}
	if draft == 0 {
		return nil, b.fail(v, "%s is another document; a schema must not refer to other documents", quoteValue(b.d, v))
	}
	text, anchor, _ := strings.Cut(string(b.d.str(id)), "#")
	u, address, err := b.resolved(id, text)
	if err != nil {
		return nil, err
	}
	if anchor != "" && draft >= draft2019 {
		return nil, b.fail(id, "an identifier must have nothing after #, got %s", quoteValue(b.d, id))
	}
	res, known := b.byAddress[address]
	switch {
	case i == 0:
		res, known = b.home, true
		b.home.base = u
		b.byAddress = with(b.byAddress, address, res)
	case !known:
		res = &resource{at: i, draft: draft, base: u}
		b.byAddress, b.at = with(b.byAddress, address, res), with(b.at, i, res)
	case res != b.res || !bytes.HasPrefix(b.d.str(id), []byte("#")):
		return nil, b.fail(id, "two parts of this schema have the identifier %s", quoteValue(b.d, id))
	}
	if anchor != "" && anchor[0] != '/' {
		if err := b.name(res, anchor, i, id); err != nil {
			return nil, err
		}
	}
	if known {
		return nil, nil
	}
	return res, nil
}

// resolved gives the address that the text at node v stands for in the present resource.
func (b *builder) resolved(v uint32, text string) (u *url.URL, address string, err error) {
	if b.home.base == nil {
		if b.home.base, err = url.Parse(baseAddress); err != nil {
			return nil, "", err
		}
		b.byAddress = with(b.byAddress, baseAddress, b.home)
	}
	if u, err = b.res.base.Parse(text); err != nil {
		return nil, "", b.fail(v, "%s is not a valid address", quoteValue(b.d, v))
	}
	address = u.String()
	if b.addresses += len(address); b.addresses > maxAddresses {
		return nil, "", b.fail(v, "the addresses in this schema are longer than %d bytes together", maxAddresses)
	}
	return u, address, nil
}

func idKeyword(draft int) string {
	if draft == draft4 {
		return "id"
	}
	return "$id"
}

// name gives the subschema at node i a name in a resource.
func (b *builder) name(res *resource, name string, i, v uint32) error {
	if at, ok := res.anchors[name]; ok && at != i {
		return b.fail(v, "two parts of this schema have the anchor %s", quoteValue(b.d, v))
	}
	res.anchors = with(res.anchors, name, i)
	return nil
}

// anchor reads $anchor, $dynamicAnchor and $recursiveAnchor.
func (b *builder) anchor(r *rule, key string, v uint32) error {
	switch {
	case b.draft < draft2019, key == "$dynamicAnchor" && b.draft < draft2020, key == "$recursiveAnchor" && b.draft > draft2019:
		return nil
	case key == "$recursiveAnchor":
		if err := b.expect(v, Bool); err != nil || b.d.nodes[v].flags&flagTrue == 0 || b.checkOnly || r.at != b.res.at {
			return err
		}
		b.res.dynamic = with(b.res.dynamic, "", r.at)
		return nil
	}
	if err := b.expect(v, String); err != nil {
		return err
	}
	name := string(b.d.str(v))
	for j, c := range name {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (j == 0 || !strings.ContainsRune("0123456789-.", c)) {
			name = ""
			break
		}
	}
	if name == "" {
		return b.fail(v, "must match the pattern ^[A-Za-z_][-A-Za-z0-9._]*$, got %s", describeValue(b.d, v))
	}
	if b.checkOnly || b.scanned {
		return nil
	}
	if key == "$dynamicAnchor" {
		b.res.dynamic = with(b.res.dynamic, name, r.at)
	}
	return b.name(b.res, name, r.at, v)
}
