package schema

import (
	"slices"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/text"
)

// validator judges the values of one document by rules. It runs at most twice: first only to learn whether the value is
// valid, which allocates nothing; and if it is not, again to collect every problem.
type validator struct {
	d       *Doc
	s       *Schema
	collect bool
	lenient bool // integers written with a point or exponent must fit 64 bits, as after a conversion
	stepBudget
	depth  int // of the rules on the way to the present one
	path   []pathStep
	busy   []ruleQuestion // those on the way to the present one that may lead back to themselves
	loops  int            // how often one did
	report report
}

// Validate gives every problem of the document, nil if it is valid.
func (s *Schema) Validate(d *Doc) []Problem {
	return s.judge(d, s.root, false)
}

func (s *Schema) judge(d *Doc, r *rule, lenient bool) []Problem {
	v := validator{d: d, s: s, lenient: lenient, stepBudget: newStepBudget(d)}
	if v.check(r, 0) && v.steps >= 0 {
		return nil
	}
	if v.steps >= 0 {
		v.collect = true
		v.refill(budget(d))
		v.check(r, 0)
	}
	if v.steps < 0 {
		return tooComplex()
	}
	return v.report.problems()
}

// check judges the value at node i. When not collecting it stops at the first problem. When the budget is spent it says
// false, and whoever began must look at the budget before believing it.
func (v *validator) check(r *rule, i uint32) bool {
	if v.steps--; v.steps < v.rememberAt && !v.stepsLeft() {
		return false
	}
	if v.depth++; v.depth > maxDeep {
		v.steps = -1 // a longer way would use up the stack, which ends the program
	}
	var ok bool
	switch {
	case v.steps < 0:
	case v.memory != nil && (r.joined || r.obj != nil || r.arr != nil):
		ok = v.recall(r, i)
	default:
		ok = v.inspect(r, i)
	}
	v.depth--
	return ok
}

// maxDeep bounds how many rules lie on the way to a value: chains of references
// come once for each level of a value that they lead into.
const maxDeep = 100_000

// inspect is check without memory.
func (v *validator) inspect(r *rule, i uint32) bool {
	if r.deny {
		return v.reporting() && v.add("false", "no value is allowed here; leave it out")
	}
	n := &v.d.nodes[i]
	if r.types != 0 && !v.hasType(r.types, i) {
		return v.reporting() && v.add("type", typeMessage(typeNames(v.s.doc, r.at), v.d, i))
	}
	if r.enum != nil && !v.inEnum(r.enum, i) {
		return v.reporting() && v.add(r.enum.keyword, enumMessage(v.s.doc, r.enum.values, v.d, i))
	}
	ok := true
	switch n.kind {
	case Number:
		ok = r.num == nil || v.checkNumber(r, i)
	case String:
		ok = r.str == nil || v.checkString(r, i)
	case Array:
		ok = r.arr == nil || v.checkArray(r, i)
	case Object:
		ok = r.obj == nil || v.checkObject(r, i)
	}
	if !r.joined || (!ok && !v.collect) {
		return ok
	}
	if r.loops {
		return v.checkLoop(r, i) && ok
	}
	return v.checkJoined(r, i) && ok
}

// checkLoop is checkJoined for a rule that may lead back to itself without moving on in the value. If it does, there is no
// answer, and so no value is accepted.
func (v *validator) checkLoop(r *rule, i uint32) bool {
	q := ruleQuestion{r, i}
	if v.steps -= len(v.busy) >> 2; slices.Contains(v.busy, q) {
		v.loops++
		return v.reporting() && v.add("$ref", "the schema refers to itself here without end, so that no value can be checked")
	}
	v.busy = append(v.busy, q)
	ok := v.checkJoined(r, i)
	v.busy = v.busy[:len(v.busy)-1]
	return ok
}

// checkJoined asks the parts of a rule that judge the same value.
func (v *validator) checkJoined(r *rule, i uint32) bool {
	ok := r.ref == nil || v.check(r.ref, i)
	if ok || v.collect {
		ok = (r.meta == 0 || v.checkMeta(r.meta, i)) && ok
	}
	for _, c := range r.all {
		if ok || v.collect {
			ok = v.check(c, i) && ok
		}
	}
	if ok || v.collect {
		ok = (r.any == nil || v.checkAny(r, i)) && ok
	}
	if ok || v.collect {
		ok = (r.one == nil || v.checkOne(r, i)) && ok
	}
	if (ok || v.collect) && r.not != nil && v.accepts(r.not, i) {
		ok = v.reporting() && v.add("not", "the schema forbids this value; got "+describeValue(v.d, i))
	}
	if ok || v.collect {
		ok = (r.cond == nil || v.checkCond(r.cond, i)) && ok
	}
	return (ok || v.collect) && v.checkRest(r, i) && ok
}

// accepts asks whether the rule accepts the value, without collecting problems.
func (v *validator) accepts(r *rule, i uint32) bool {
	collect := v.collect
	v.collect = false
	ok := v.check(r, i)
	v.collect = collect
	return ok
}

func (v *validator) hasType(t typeSet, i uint32) bool {
	n := &v.d.nodes[i]
	if t&kindBit(n.kind) != 0 {
		return true
	}
	if n.kind != Number || t&integerType == 0 {
		return false
	}
	if n.flags&flagInt != 0 {
		return true
	}
	v.steps -= int(n.end-n.start) >> 5
	x := parseDecimal(v.d.raw(i))
	if !x.isInteger() {
		return false
	}
	if v.lenient {
		var buf [24]byte
		_, ok := x.appendInt(buf[:0])
		return ok
	}
	return true
}

func (v *validator) inEnum(e *enumRule, i uint32) bool {
	if e.strings != nil && v.d.nodes[i].kind == String {
		_, ok := e.strings[string(v.d.str(i))]
		return ok
	}
	v.steps -= enumCost(v.d, i, len(e.values))
	return slices.ContainsFunc(e.values, func(x uint32) bool { return equal(v.d, i, v.s.doc, x) })
}

// enumCost is what comparing a value with n others takes.
func enumCost(d *Doc, i uint32, n int) int {
	if d.nodes[i].kind == Number {
		return 4 * n
	}
	return n * int(d.nodes[i].next-i) >> 1
}

func (v *validator) checkNumber(r *rule, i uint32) bool {
	f := v.d.number(i)
	n, ok := r.num, true
	if !f.short {
		v.steps -= len(f.lit) >> 3
		if n.multiple != nil && n.multiple.wide != nil {
			v.steps -= 8 * len(f.lit)
		}
		if v.steps < 0 {
			return false
		}
	}
	if n.min != nil && f.compare(n.min) < 0 {
		ok = v.badBound(i, "minimum", n.minAt)
	}
	if n.max != nil && f.compare(n.max) > 0 {
		ok = v.badBound(i, "maximum", n.maxAt)
	}
	if n.above != nil && f.compare(n.above) <= 0 {
		ok = v.badBound(i, "exclusiveMinimum", n.aboveAt)
	}
	if n.below != nil && f.compare(n.below) >= 0 {
		ok = v.badBound(i, "exclusiveMaximum", n.belAt)
	}
	if n.multiple != nil && !n.multiple.divides(&f) {
		ok = v.badBound(i, "multipleOf", n.multipleAt)
	}
	return ok
}

func (v *validator) checkString(r *rule, i uint32) bool {
	s, ok := v.d.str(i), true
	// A character takes one to four bytes, so most lengths need no counting.
	if r.str.min > len(s)/utf8.UTFMax || (r.str.max >= 0 && len(s) > r.str.max) {
		v.steps -= len(s) >> 6
		n := utf8.RuneCount(s)
		if n < r.str.min {
			ok = v.badCount("minLength", n, r.str.min)
		}
		if r.str.max >= 0 && n > r.str.max {
			ok = v.badCount("maxLength", n, r.str.max)
		}
	}
	if r.str.pattern != nil && (ok || v.collect) {
		matches := v.matches(r.str.pattern, s)
		if v.steps < 0 {
			return false
		}
		if !matches {
			ok = v.reporting() && v.add("pattern", "must match the pattern "+text.Clip(r.str.pattern.source, 200)+", got "+describeValue(v.d, i))
		}
	}
	return ok
}
