package schema

import (
	"maps"
	"net/url"
	"strconv"
	"strings"
)

// referenceKind is the keyword of a reference.
type referenceKind uint8

const (
	plainRef     referenceKind = iota
	dynamicRef                 // $dynamicRef
	recursiveRef               // $recursiveRef
)

// scope is what the way to a rule decides: which resource each contested dynamic anchor stands for. The outermost wins, so
// what is bound once stays bound.
type scope struct {
	bound map[string]*resource
	rules map[uint32]*rule
	next  map[*resource]*scope
}

// maxCopies bounds what is made because of dynamic references, in rules and bindings: it can double with every anchor.
const maxCopies = 100_000

// placeIn is the place at the beginning of a resource, seen from the present place.
func (b *builder) placeIn(res *resource) place {
	s := b.scope
	if s == nil {
		return place{res.draft, res, nil}
	}
	if next := s.next[res]; next != nil {
		return place{res.draft, res, next}
	}
	b.copies += len(res.dynamic)
	bound := map[string]*resource{}
	for name := range res.dynamic {
		if b.contested[name] && s.bound[name] == nil {
			bound[name] = res
		}
	}
	next := s
	if len(bound) > 0 {
		maps.Copy(bound, s.bound)
		b.copies += len(bound)
		next = &scope{bound: bound, rules: map[uint32]*rule{}}
	}
	if s.next == nil {
		s.next = map[*resource]*scope{}
	}
	s.next[res] = next
	return place{res.draft, res, next}
}

// ruleAt gives the rule of the subschema at node i, and whether it has been made before; if not, it is empty.
func (b *builder) ruleAt(i uint32) (r *rule, made bool, err error) {
	switch {
	case b.checkOnly:
		return &rule{at: i}, false, nil
	case b.scope == nil:
		if r := b.rules[i]; r != nil {
			return r, true, nil
		}
		b.rules[i] = &rule{at: i}
		return b.rules[i], false, nil
	}
	if r := b.scope.rules[i]; r != nil {
		return r, true, nil
	}
	if b.copies++; b.copies > maxCopies {
		return nil, false, b.fail(i, "the dynamic references of this schema lead here in too many ways")
	}
	r = &rule{at: i}
	b.scope.rules[i] = r
	return r, false, nil
}

// reference notes that the rule refers to another.
func (b *builder) reference(r *rule, v uint32, how referenceKind) {
	b.refs, r.refAt, r.refKind = true, v, how
	if !b.checkOnly && (b.res.at != 0 || b.scope != nil) {
		if b.from == nil {
			b.from = map[*rule]place{}
		}
		b.from[r] = b.place
	}
}

// dynamicReference reads $dynamicRef and $recursiveRef. There may be a $ref beside it, so it becomes a part of its own.
func (b *builder) dynamicReference(r *rule, key string, v uint32) error {
	how, since := dynamicRef, draft2020
	if key == "$recursiveRef" {
		how, since = recursiveRef, draft2019
	}
	if b.draft < since {
		return nil
	}
	part := &rule{at: v, joined: true}
	b.reference(part, v, how)
	r.all = append(r.all, part)
	return b.expect(v, String)
}

// resolve follows every reference, starting at the root, and leaves in b.all only the rules that can be reached: what is
// wrong with a definition that nobody uses does not matter.
func (b *builder) resolve(root *rule) error {
	b.all = b.all[:0]
	seen := make(map[*rule]bool, len(b.rules)/2)
	var failed error
	var visit func(r *rule)
	visit = func(r *rule) {
		if seen[r] || failed != nil {
			return
		}
		seen[r] = true
		b.all = append(b.all, r)
		if r.refAt != 0 {
			if failed = b.follow(r); failed != nil && b.leave(failed) {
				failed, r.ref, r.opaque = nil, nil, true
			}
		}
		r.inPlace(visit)
		r.below(visit)
	}
	visit(root)
	if failed == nil && b.cyclic() {
		for _, r := range b.all {
			if r.ref != nil {
				r.ref.loops, r.opaque = true, true
			}
		}
	}
	return failed
}

// follow finds the rule that r refers to.
func (b *builder) follow(r *rule) (err error) {
	home := b.place
	defer func() { b.place = home }()
	if from, ok := b.from[r]; ok {
		b.place = from
	}
	at, res, fragment, err := b.target(r)
	if err != nil || r.meta != 0 {
		r.opaque = true
		return err
	}
	if r.refKind == recursiveRef {
		fragment = ""
	}
	if _, ok := res.dynamic[fragment]; ok && r.refKind != plainRef && b.contested[fragment] {
		if outer := b.scope.bound[fragment]; outer != nil {
			res, at = outer, outer.dynamic[fragment]
		}
	}
	b.place = b.placeIn(res)
	r.ref, err = b.build(at)
	return err
}

// target finds what r refers to, the resource that it is in, and what stands behind # in the reference. The metaschemas are
// known by their addresses; nothing else is outside the text.
func (b *builder) target(r *rule) (at uint32, res *resource, fragment string, err error) {
	ref := string(b.d.str(r.refAt))
	address, fragment, _ := strings.Cut(ref, "#")
	res = b.res
	if address != "" {
		if _, address, err = b.resolved(r.refAt, address); err != nil {
			return 0, nil, "", err
		}
		if res = b.byAddress[address]; res == nil {
			if r.meta = draftOf(address); r.meta != 0 && fragment == "" {
				return 0, nil, "", b.extension(r)
			}
			return 0, nil, "", b.fail(r.refAt, "%s is another document; a schema must not refer to other documents", quoteValue(b.d, r.refAt))
		}
	}
	if plain, err := url.PathUnescape(fragment); err == nil {
		fragment = plain
	}
	at, found := res.at, true
	if rest, pointer := strings.CutPrefix(fragment, "/"); pointer {
		for step := range strings.SplitSeq(rest, "/") {
			if b.d.nodes[at].kind == Array {
				b.hops += int(b.d.nodes[at].b)
			}
			if at, found = b.d.step(at, step); !found {
				break
			}
			if inner := b.at[at]; inner != nil {
				res = inner
			}
		}
	} else if fragment != "" {
		at, found = res.anchors[fragment]
	}
	if b.hops += len(ref) / 16; b.hops > maxHops { // it is read anew for each way that leads to it
		return 0, nil, "", b.fail(r.refAt, "the references of this schema are too long, or lead through lists that are too long")
	}
	if !found {
		return 0, nil, "", b.fail(r.refAt, "%s points to nothing in this schema", quoteValue(b.d, r.refAt))
	}
	return at, res, fragment, nil
}

// extension refuses what would change the meaning of a metaschema: its own references are dynamic, and would lead back here.
func (b *builder) extension(r *rule) error {
	if r.meta == draft2019 && b.dynamic[""] || r.meta == draft2020 && b.dynamic["meta"] {
		return b.fail(r.refAt, "a schema must not extend %s", quoteValue(b.d, r.refAt))
	}
	return nil
}

// step goes from a container to one of its children.
func (d *Doc) step(at uint32, step string) (uint32, bool) {
	for j := range len(step) {
		if step[j] == '~' && (j+1 == len(step) || (step[j+1] != '0' && step[j+1] != '1')) {
			return 0, false
		}
	}
	step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
	switch n := &d.nodes[at]; n.kind {
	case Object:
		return d.member(at, []byte(step))
	case Array:
		k, err := strconv.ParseUint(step, 10, 31)
		if err != nil || k >= uint64(n.b) {
			return 0, false
		}
		c := at + 1
		for range k {
			c = d.nodes[c].next
		}
		return c, true
	}
	return 0, false
}

// cyclic says whether some rule leads back to itself while judging one and the same value.
func (b *builder) cyclic() bool {
	if !b.refs {
		return false
	}
	state := make(map[*rule]bool, len(b.all)) // false: on the way, true: done
	found := false
	var visit func(*rule)
	visit = func(r *rule) {
		done, seen := state[r]
		if found = found || (seen && !done); seen || found {
			return
		}
		state[r] = false
		r.inPlace(visit)
		state[r] = true
	}
	for _, r := range b.all {
		visit(r)
	}
	return found
}
