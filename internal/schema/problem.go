package schema

import (
	"errors"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
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

// maxStep is how many characters of a name a path shows.
const maxStep = 64

// appendStep writes a step so that the path reads like code: names that are no plain words, or too long, are quoted.
func appendStep(dst []byte, s pathStep) []byte {
	if s.key == nil {
		dst = append(dst, '[')
		dst = strconv.AppendInt(dst, int64(s.index), 10)
		return append(dst, ']')
	}
	plain := len(s.key) > 0 && len(s.key) <= maxStep
	for _, c := range s.key[:min(len(s.key), maxStep)] {
		plain = plain && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '$')
	}
	if !plain {
		dst = append(dst, '[')
		dst = append(dst, quoted(s.key)...)
		return append(dst, ']')
	}
	if len(dst) > 0 {
		dst = append(dst, '.')
	}
	return append(dst, s.key...)
}

// report is a list of problems that stays within its bounds: what has no room is only counted.
type report struct {
	list []Problem
	size int
	full bool
	more int
}

// countIfFull says whether a problem has no room any more; if so it is counted, and nobody has to word it.
func (r *report) countIfFull() bool {
	if r.full = r.full || len(r.list) == maxProblems; r.full {
		r.more++
	}
	return r.full
}

func (r *report) add(path, rule, message string) {
	p := Problem{text.ClipMiddle(path, maxPath), rule, text.Clip(message, maxMessage)}
	if n := len(r.list); n > 0 && r.list[n-1] == p {
		return // several ways may lead to one rule
	}
	size := len(p.Path) + len(p.Rule) + len(p.Message)
	if r.full = r.full || (r.size+size > maxReport && len(r.list) > 0); r.countIfFull() {
		return
	}
	r.size += size
	r.list = append(r.list, p)
}

func (r *report) problems() []Problem {
	if r.more > 0 {
		return append(r.list, Problem{Rule: "schema", Message: plural(r.more, "more problem") + " not listed"})
	}
	return r.list
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

// reporting says whether somebody wants the words of a problem. Whoever finds a problem asks it first, and the bad
// functions below do nothing but give false if not, so that judging stays cheap.
func (v *validator) reporting() bool { return v.collect && !v.report.countIfFull() }

// add notes a problem at the present path. It gives false, as everything that finds a problem does.
func (v *validator) add(rule, message string) bool {
	var path []byte
	for _, s := range v.path {
		path = appendStep(path, s)
	}
	v.report.add(string(path), rule, message)
	return false
}

func (v *validator) badBound(i uint32, rule string, at uint32) bool {
	return v.reporting() && v.add(rule, boundMessage(rule, quoteValue(v.s.doc, at), quoteValue(v.d, i)))
}

func (v *validator) badCount(rule string, got, want int) bool {
	return v.reporting() && v.add(rule, countMessage(rule, got, want))
}

// badSchema reports a value that should be a schema and is none.
func (v *validator) badSchema(i uint32, err error) bool {
	if !v.reporting() {
		return false
	}
	message := err.Error()
	if e, ok := errors.AsType[*SchemaError](err); ok {
		message = strings.TrimPrefix(e.Pointer, v.d.pointer(i)) + ": " + e.Message
	}
	return v.add("$ref", "is not a JSON Schema: "+strings.TrimPrefix(message, ": "))
}

func (v *validator) badMissing(p *prop) bool {
	if v.reporting() {
		want := "a value"
		if p.rule != nil {
			want = describe(v.s.doc, p.rule)
		}
		v.push(pathStep{key: p.name})
		v.add("required", "is required but missing; give "+want)
		v.pop()
	}
	return false
}

func (v *validator) badDep(dep *depRule, name []byte) bool {
	if v.reporting() {
		v.push(pathStep{key: name})
		v.add(dep.keyword, "is required because "+quoted(dep.name)+" is given")
		v.pop()
	}
	return false
}

// badName reports a name by the first thing that its schema has against it.
func (v *validator) badName(names *rule, k uint32) bool {
	if !v.reporting() {
		return false
	}
	inner := validator{d: v.d, s: v.s, collect: true, lenient: v.lenient, stepBudget: stepBudget{steps: v.steps, rememberAt: v.rememberAt}}
	inner.check(names, k)
	v.steps = inner.steps
	why := ""
	if list := inner.report.list; len(list) > 0 {
		why = list[0].Message
	}
	v.push(pathStep{key: v.d.str(k)})
	v.add("propertyNames", nameMessage(why))
	v.pop()
	return false
}

func (v *validator) badUnknown(o *objRule, name []byte, rule string) bool {
	if v.reporting() {
		var known []string
		for j := range o.props {
			if o.props[j].rule != nil {
				known = append(known, string(o.props[j].name))
			}
		}
		v.add(rule, unknownMessage(name, known))
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
		if v.meantFor(r, i, 0) {
			near = append(near, r)
		}
	}
	if len(near) == 1 {
		v.check(near[0], i)
		return false
	}
	if v.reporting() {
		forms := make([]string, len(branches))
		for j, r := range branches {
			forms[j] = describe(v.s.doc, r)
		}
		v.add(keyword, branchMessage(forms, v.d, i))
	}
	return false
}

// meantFor says whether a branch is about values like this one: the right type, and, for objects, the right value in every
// property that the branch fixes by const or enum.
func (v *validator) meantFor(r *rule, i uint32, depth int) bool {
	if v.steps--; v.steps < 0 {
		return false
	}
	if r.deny || (r.types != 0 && !v.hasType(r.types, i)) || (r.enum != nil && !v.inEnum(r.enum, i)) || depth > 8 {
		return false
	}
	if r.obj != nil && v.d.nodes[i].kind == Object {
		v.steps -= len(r.obj.props) >> 3
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
		if !v.meantFor(c, i, depth+1) {
			return false
		}
	}
	return r.ref == nil || v.meantFor(r.ref, i, depth+1)
}
