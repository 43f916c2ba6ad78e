package condition

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/text"
)

// run is one evaluation.
type run struct {
	values map[string]any
	loops  []any // what the names of loops hold, the outer ones first
	left   int   // of the cost; below 0 it is used up
}

// fault is why a part of an expression has no value. && and || do without it if
// their other side decides; it is made thousands of times in a loop, so it is put
// into words when somebody reads it.
type fault struct {
	node   *node
	what   string
	values []any
}

func (f *fault) Error() string {
	if f.what != "" {
		return fmt.Sprintf(f.what, f.values...)
	}
	var kinds []string
	for _, v := range f.values {
		kinds = append(kinds, Type{kind: kindOf(v)}.String())
	}
	return f.node.name + " does not go with " + strings.Join(kinds, " and ")
}

func (n *node) fault(what string, values ...any) error { return &fault{n, what, values} }

// shown is what an error says of an operand. Values of a call are not said: they
// may be long, and secret.
func (n *node) shown() string {
	if n.op == opLiteral {
		return text.Clip(fmt.Sprint(n.value), 80)
	}
	return "..."
}

// misfit: the values are of types that the operation does not take.
func (n *node) misfit(values ...any) error { return &fault{n, "", values} }

// spend charges for units of work before they are done.
func (r *run) spend(units int) bool {
	r.left -= units
	return r.left >= 0
}

func (r *run) eval(n *node) (any, error) {
	if !r.spend(1) {
		return nil, n.fault("it costs too much")
	}
	switch n.op {
	case opLiteral:
		return n.value, nil
	case opName:
		v, ok := r.values[n.name]
		if !ok {
			return nil, n.fault("%s is not known", n.name)
		}
		return v, nil
	case opLoopName:
		return r.loops[n.slot], nil
	case opAnd, opOr:
		return r.logic(n)
	case opIf:
		yes, err := r.eval(n.args[0])
		if err != nil {
			return nil, err
		}
		switch yes {
		case true:
			return r.eval(n.args[1])
		case false:
			return r.eval(n.args[2])
		}
		return nil, n.misfit(yes)
	case opList, opMap:
		return r.build(n)
	case opAll, opExists, opExistsOne, opFilter, opMapEach:
		return r.loop(n)
	case opIn:
		if set, _ := n.value.(map[any]struct{}); set != nil {
			return r.inSet(n, set)
		}
	}
	a, err := r.eval(n.args[0])
	if err != nil {
		return nil, err
	}
	if len(n.args) == 1 {
		return r.unary(n, a)
	}
	b, err := r.eval(n.args[1])
	if err != nil {
		return nil, err
	}
	return r.binary(n, a, b)
}

// logic goes on after a part without a value: the other side may decide alone.
func (r *run) logic(n *node) (any, error) {
	var first error
	for _, part := range n.args {
		got, err := r.eval(part)
		switch {
		case err == nil && got == (n.op == opOr):
			return got, nil
		case err == nil && kindOf(got) != 'b':
			err = n.misfit(got)
		}
		if first == nil {
			first = err
		}
	}
	return n.op == opAnd, first
}

// inSet looks a value up among constants.
func (r *run) inSet(n *node, set map[any]struct{}) (any, error) {
	a, err := r.eval(n.args[0])
	if err != nil {
		return nil, err
	}
	switch a := a.(type) {
	case string:
		r.spend(len(a) / 100)
	case bool, int64, uint64, float64:
	default:
		return false, nil
	}
	_, found := set[a]
	return found, nil
}

func (r *run) build(n *node) (any, error) {
	list := make([]any, 0, len(n.args))
	for _, a := range n.args {
		v, err := r.eval(a)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	if n.op == opList {
		return list, nil
	}
	r.spend(8) // a map is larger than a list
	out := &dict{values: make(map[any]any, len(list)/2)}
	for i := 0; i < len(list); i += 2 {
		if key, isText := list[i].(string); isText && !r.spend(len(key)/100) {
			break
		}
		out.set(list[i], list[i+1])
	}
	return out, nil
}

func (r *run) unary(n *node, a any) (any, error) {
	switch n.op {
	case opField, opHas:
		v, found, isMap := r.find(a, n.name)
		switch {
		case n.op == opHas && kindOf(a) != 'L':
			return found, nil
		case found:
			return v, nil
		case isMap:
			return nil, n.fault("there is no %q; ask with has() first", n.name)
		}
		return nil, n.fault("%s has no fields, so it has no %q", Type{kind: kindOf(a)}, n.name)
	case opNot:
		if b, isBool := a.(bool); isBool {
			return !b, nil
		}
	case opNegate:
		return negate(n, a)
	case opConvert:
		return r.convert(n, a)
	case opSize:
		if text, isText := a.(string); isText {
			r.spend(len(text) / 100)
			return int64(utf8.RuneCountInString(text)), nil
		}
		if size := length(a); size >= 0 {
			return int64(size), nil
		}
	}
	return nil, n.misfit(a)
}

func (r *run) binary(n *node, a, b any) (any, error) {
	switch n.op {
	case opEqual:
		return r.equal(a, b), nil
	case opUnequal:
		return !r.equal(a, b), nil
	case opLess, opLessEqual, opGreater, opGreaterEqual:
		return r.order(n, a, b)
	case opIn:
		return r.in(n, a, b)
	case opIndex:
		return r.index(n, a, b)
	case opAdd, opSubtract, opMultiply, opDivide, opRemainder:
		return r.compute(n, a, b)
	}
	s, isText := a.(string)
	t, isPart := b.(string)
	if !isText || !isPart {
		return nil, n.misfit(a, b)
	}
	switch n.op {
	case opStartsWith:
		r.spend(len(t) / 10)
		return strings.HasPrefix(s, t), nil
	case opEndsWith:
		r.spend(len(t) / 10)
		return strings.HasSuffix(s, t), nil
	case opContains:
		if !r.spend((len(s) + len(t)) / 10) {
			return false, nil
		}
		return strings.Contains(s, t), nil
	}
	return r.matches(n, s, t)
}
