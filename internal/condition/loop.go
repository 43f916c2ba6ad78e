package condition

import (
	"maps"
	"slices"
)

// loop goes over the elements of a list or the keys of a map.
func (r *run) loop(n *node) (any, error) {
	over, err := r.eval(n.args[0])
	if err != nil {
		return nil, err
	}
	if length(over) < 0 && over != "" { // an empty string is an empty list in CEL
		return nil, n.misfit(over)
	}
	var first error
	list, count := []any{}, 0
	for _, item := range r.items(over) {
		r.loops[n.slot] = item
		got, err := r.eval(n.args[1])
		isYes := got == true
		if err == nil && (n.op != opMapEach || len(n.args) == 3) && kindOf(got) != 'b' {
			err = n.misfit(got)
		}
		switch {
		case r.left < 0:
			return nil, err
		case err != nil && n.op != opAll && n.op != opExists:
			return nil, err
		case err != nil:
			first = err
		case n.op == opAll && !isYes, n.op == opExists && isYes:
			return isYes, nil
		case n.op == opExistsOne && isYes:
			count++
		case n.op == opFilter && isYes:
			list = append(list, item)
		case n.op == opMapEach:
			if len(n.args) == 3 {
				if !isYes {
					continue
				}
				if got, err = r.eval(n.args[2]); err != nil {
					return nil, err
				}
			}
			list = append(list, got)
		}
	}
	switch n.op {
	case opAll, opExists:
		return n.op == opAll, first
	case opExistsOne:
		return count == 1, nil
	}
	return list, nil
}

// items gives what a loop goes over: elements, or keys in order.
func (r *run) items(over any) []any {
	switch over := over.(type) {
	case []any:
		return over
	case *dict:
		return over.keys
	case map[string]any:
		if !r.spend(4 * len(over)) { // they are sorted
			return nil
		}
		out := make([]any, 0, len(over))
		for _, k := range slices.Sorted(maps.Keys(over)) {
			out = append(out, k)
		}
		return out
	}
	return nil
}
