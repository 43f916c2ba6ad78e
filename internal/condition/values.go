package condition

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// dict is a map that the expression makes. Those of the caller have strings for
// keys, these also numbers and bools.
type dict struct {
	keys   []any
	values map[any]any
}

func (d *dict) set(key, value any) {
	if _, there := d.values[key]; !there {
		d.keys = append(d.keys, key)
	}
	d.values[key] = value
}

// find gives what stands under a key. A number finds the key of its value,
// whatever its type is.
func (d *dict) find(key any) (any, bool) {
	switch key.(type) {
	case nil, bool, string, int64, uint64, float64:
	default:
		return nil, false // it cannot be looked up
	}
	v, found := d.values[key]
	for _, k := range wholes(key) {
		if !found {
			v, found = d.values[k]
		}
	}
	return v, found
}

// wholes gives a number as int and as uint, where it can be one exactly.
func wholes(v any) (out []any) {
	switch v := v.(type) {
	case int64:
		if v >= 0 {
			out = append(out, uint64(v))
		}
	case uint64:
		if v <= math.MaxInt64 {
			out = append(out, int64(v))
		}
	case float64:
		if v > math.MinInt64 && v < math.MaxInt64 && float64(int64(v)) == v {
			out = append(out, int64(v))
		}
		if v >= 0 && v < 1<<64 && float64(uint64(v)) == v {
			out = append(out, uint64(v))
		}
	}
	return out
}

// kindOf is the letter of a value's type.
func kindOf(v any) byte {
	switch v.(type) {
	case nil:
		return 'n'
	case bool:
		return 'b'
	case int64:
		return 'i'
	case uint64:
		return 'u'
	case float64:
		return 'd'
	case string:
		return 's'
	case []any:
		return 'L'
	}
	return 'M'
}

// find looks a key up in a map, and says whether it was one. A key is looked at
// as a whole.
func (r *run) find(in, key any) (value any, found, isMap bool) {
	if text, isText := key.(string); isText && !r.spend(len(text)/100) {
		return nil, false, false
	}
	switch in := in.(type) {
	case map[string]any:
		if text, isText := key.(string); isText {
			value, found = in[text]
		}
	case *dict:
		value, found = in.find(key)
	default:
		return nil, false, false
	}
	return value, found, true
}

// length is how many elements a list or a map has; below 0 if it is none.
func length(v any) int {
	switch v := v.(type) {
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	case *dict:
		return len(v.keys)
	}
	return -1
}

func (r *run) index(n *node, a, b any) (any, error) {
	v, found, isMap := r.find(a, b)
	list, isList := a.([]any)
	switch {
	case found:
		return v, nil
	case isMap:
		return nil, n.fault("there is no [%s]; ask with in first", n.args[1].shown())
	case !isList:
		return nil, n.misfit(a, b)
	}
	for _, whole := range append(wholes(b), b) {
		if i, isInt := whole.(int64); isInt && i >= 0 && i < int64(len(list)) {
			return list[i], nil
		}
	}
	return nil, n.fault("the list has no [%s]; ask with size() first", n.args[1].shown())
}

func (r *run) in(n *node, a, b any) (any, error) {
	if _, found, isMap := r.find(b, a); isMap {
		return found, nil
	}
	if list, isList := b.([]any); isList {
		return slices.ContainsFunc(list, func(elem any) bool { return r.equal(a, elem) }), nil
	}
	return nil, n.misfit(a, b)
}

// equal compares all types: what differs in type is not equal, but for numbers.
func (r *run) equal(a, b any) bool {
	if !r.spend(1) {
		return false
	}
	switch ka, kb := kindOf(a), kindOf(b); {
	case ka == 'L' && kb == 'L':
		return slices.EqualFunc(a.([]any), b.([]any), r.equal)
	case ka == 'M' && kb == 'M':
		return length(a) == length(b) && r.equalMaps(a, b)
	case ka == 'n' || ka == 'L' || ka == 'M':
		return ka == kb
	}
	c, ok := r.compare(a, b)
	return ok && c == 0
}

func (r *run) equalMaps(a, b any) bool {
	alike := func(key, value any) bool {
		other, found, _ := r.find(b, key)
		return found && r.equal(value, other)
	}
	if made, isMade := a.(*dict); isMade {
		return !slices.ContainsFunc(made.keys, func(k any) bool { return !alike(k, made.values[k]) })
	}
	for k, v := range a.(map[string]any) {
		if !alike(k, v) {
			return false
		}
	}
	return true
}

// compare orders two values of a type, or two numbers. Nothing can be said about
// other values, nor about a double that is no number.
func (r *run) compare(a, b any) (c int, ok bool) {
	switch x := a.(type) {
	case string:
		y, isText := b.(string)
		r.spend(min(len(x), len(y)) / 10)
		return strings.Compare(x, y), isText
	case bool:
		y, isBool := b.(bool)
		switch {
		case x == y:
			return 0, isBool
		case x:
			return 1, isBool
		}
		return -1, isBool
	case int64:
		if y, isInt := b.(int64); isInt {
			return cmp.Compare(x, y), true
		}
	}
	f, isNumber := double(a)
	g, areNumbers := double(b)
	ka, kb := kindOf(a), kindOf(b)
	switch {
	case !isNumber || !areNumbers:
		return 0, false
	case ka == 'd' || kb == 'd':
		return cmp.Compare(f, g), !math.IsNaN(f) && !math.IsNaN(g)
	case f < 0 || g < 0: // one is an int, the other a uint
		return cmp.Compare(f, g), true
	}
	return cmp.Compare(natural(a), natural(b)), true
}

// double gives a number as a double, which may be another one.
func double(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// natural gives an int or uint that is not below 0.
func natural(v any) uint64 {
	if n, isInt := v.(int64); isInt {
		return uint64(n)
	}
	n, _ := v.(uint64)
	return n
}

func isNaN(v any) bool {
	f, isDouble := v.(float64)
	return isDouble && math.IsNaN(f)
}

func (r *run) order(n *node, a, b any) (any, error) {
	c, ok := r.compare(a, b)
	if !ok {
		if k := kindOf(a); (isNaN(a) || isNaN(b)) && k != 'n' && k != 'L' && k != 'M' {
			return false, nil
		}
		return nil, n.misfit(a, b)
	}
	switch n.op {
	case opLess:
		return c < 0, nil
	case opLessEqual:
		return c <= 0, nil
	case opGreater:
		return c > 0, nil
	}
	return c >= 0, nil
}
