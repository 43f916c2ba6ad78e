package schema

import (
	"bytes"
	"strconv"
	"strings"
)

// resolve follows every $ref that points into this text, starting at the root, and leaves in b.all only the rules that can
// be reached: what is wrong with a definition that nobody uses does not matter.
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
			failed = b.follow(r)
		}
		r.inPlace(visit)
		r.below(visit)
	}
	visit(root)
	if failed != nil {
		return failed
	}
	if b.ids || b.cyclic() {
		// An identifier changes what "#" means below it, and a reference that leads back to itself without moving on in
		// the value has no answer: both are for the full validator to judge.
		b.fast = false
		for _, r := range b.all {
			if r.refAt != 0 {
				b.slow(r)
				r.ref = nil
			}
		}
	}
	return nil
}

func (b *builder) follow(r *rule) error {
	target, known, found := b.d.lookup(b.d.str(r.refAt))
	if b.ids || !known {
		b.slow(r)
		return nil
	}
	if !found {
		return b.fail(r.refAt, "$ref %s points to nothing in this schema", quoted(b.d.str(r.refAt)))
	}
	var err error
	r.ref, err = b.build(target)
	return err
}

// lookup finds what a reference points to. known is false for one that is not a plain pointer into this text: another
// address, an anchor, or characters that would have to be decoded.
func (d *Doc) lookup(ref []byte) (target uint32, known, found bool) {
	rest, ok := bytes.CutPrefix(ref, []byte("#"))
	if !ok || (len(rest) > 0 && rest[0] != '/') {
		return 0, false, false
	}
	for _, c := range rest {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case strings.IndexByte("/$~_-.", c) >= 0:
		default:
			return 0, false, false
		}
	}
	if len(rest) == 0 {
		return 0, true, true
	}
	for step := range strings.SplitSeq(string(rest[1:]), "/") {
		if target, found = d.step(target, step); !found {
			return 0, true, false
		}
	}
	return target, true, true
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

// slow gives the schema to the full validator because of something in r.
func (b *builder) slow(r *rule) {
	b.fast = false
	r.opaque = true
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
