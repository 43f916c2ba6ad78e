package schema

import (
	"strconv"
)

// Problem is one thing that is wrong with a document. Its texts are fit for a model: what was expected, what came, and
// where it can be said, what to do.
type Problem struct {
	Path    string // like items[2].name; empty for the whole value
	Rule    string // the keyword that refused it
	Message string
}

func (p Problem) String() string {
	if p.Path == "" {
		return p.Message + " (" + p.Rule + ")"
	}
	return p.Path + ": " + p.Message + " (" + p.Rule + ")"
}

// pathStep is a key, or an index where key is nil.
type pathStep struct {
	key   []byte
	index int
}

// appendStep writes a step so that the path reads like code: names that are no plain words are quoted.
func appendStep(dst []byte, s pathStep) []byte {
	if s.key == nil {
		dst = append(dst, '[')
		dst = strconv.AppendInt(dst, int64(s.index), 10)
		return append(dst, ']')
	}
	for _, c := range s.key {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '$' {
			dst = append(dst, '[')
			dst = append(dst, quoted(s.key)...)
			return append(dst, ']')
		}
	}
	if len(s.key) == 0 {
		return append(dst, `[""]`...)
	}
	if len(dst) > 0 {
		dst = append(dst, '.')
	}
	return append(dst, s.key...)
}

func (v *validator) push(s pathStep) {
	if v.collect {
		v.path = append(v.path, s)
	}
}

func (v *validator) pop() {
	if v.collect {
		v.path = v.path[:len(v.path)-1]
	}
}

// add notes a problem at the present path. It gives false, as everything that finds a problem does.
func (v *validator) add(rule, message string) bool {
	if len(v.probs) == maxProblems {
		v.more++
		return false
	}
	var path []byte
	for _, s := range v.path {
		path = appendStep(path, s)
	}
	v.probs = append(v.probs, Problem{string(path), rule, message})
	return false
}

// The bad functions below do nothing but give false unless problems are collected, so that judging stays cheap.

func (v *validator) badDeny() bool {
	if v.collect {
		v.add("false", denyMessage())
	}
	return false
}

func (v *validator) badNot(i uint32) bool {
	if v.collect {
		v.add("not", notMessage(v.d, i))
	}
	return false
}

func (v *validator) badType(r *rule, i uint32) bool {
	if v.collect {
		v.add("type", typeMessage(typeNames(v.s.doc, r.at), v.d, i))
	}
	return false
}

func (v *validator) badEnum(r *rule, i uint32) bool {
	if v.collect {
		v.add(r.enum.keyword, enumMessage(v.s.doc, r.enum.values, v.d, i))
	}
	return false
}

func (v *validator) badPattern(r *rule, i uint32) bool {
	if v.collect {
		v.add("pattern", patternMessage(r.str.pattern.source, v.d, i))
	}
	return false
}

func (v *validator) badBound(i uint32, rule string, at uint32) bool {
	if v.collect {
		v.add(rule, boundMessage(rule, show(v.s.doc, at), show(v.d, i)))
	}
	return false
}

func (v *validator) badCount(rule string, got, want int) bool {
	if v.collect {
		v.add(rule, countMessage(rule, got, want))
	}
	return false
}

func (v *validator) badPair(first, second int) bool {
	if v.collect {
		v.add("uniqueItems", pairMessage(first, second))
	}
	return false
}

func (v *validator) badMissing(p *prop) bool {
	if v.collect {
		v.push(pathStep{key: p.name})
		want := "a value"
		if p.rule != nil {
			want = describe(v.s.doc, p.rule.at)
		}
		v.add("required", missingMessage(want))
		v.pop()
	}
	return false
}

func (v *validator) badUnknown(o *objRule, name []byte) bool {
	if v.collect {
		var known []string
		for j := range o.props {
			if o.props[j].rule != nil {
				known = append(known, string(o.props[j].name))
			}
		}
		v.add("additionalProperties", unknownMessage(string(name), known))
	}
	return false
}

// badBranches reports a value that none of several schemas accepts. If only one of them is meant for this kind of value,
// its own problems say more than "none fits".
func (v *validator) badBranches(branches []*rule, i uint32, keyword string) bool {
	if !v.collect {
		return false
	}
	var near []*rule
	for _, r := range branches {
		if v.meant(r, i, 0) {
			near = append(near, r)
		}
	}
	if len(near) == 1 {
		v.check(near[0], i)
		return false
	}
	forms := make([]string, len(branches))
	for j, r := range branches {
		forms[j] = describe(v.s.doc, r.at)
	}
	v.add(keyword, branchMessage(forms, v.d, i))
	return false
}

// meant says whether a branch is about values like this one: the right type, and, for objects, the right value in every
// property that the branch fixes by const or enum.
func (v *validator) meant(r *rule, i uint32, depth int) bool {
	if r.deny || (r.types != 0 && !v.hasType(r.types, i)) || (r.enum != nil && !v.inEnum(r.enum, i)) || depth > 8 {
		return false
	}
	if r.obj != nil && v.d.nodes[i].kind == Object {
		for j := range r.obj.props {
			p := &r.obj.props[j]
			if p.rule == nil || p.rule.enum == nil {
				continue
			}
			if value, ok := v.d.member(i, p.name); ok && !v.inEnum(p.rule.enum, value) {
				return false
			}
		}
	}
	for _, c := range r.all {
		if !v.meant(c, i, depth+1) {
			return false
		}
	}
	return r.ref == nil || v.meant(r.ref, i, depth+1)
}
