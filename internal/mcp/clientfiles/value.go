package clientfiles

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

type kind byte

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindText
	kindDate // TOML only
	kindList
	kindTable
)

func (k kind) String() string {
	return [...]string{"null", "true or false", "a number", "a text", "a date", "a list", "a table"}[k]
}

// value is what stands in a file, whatever its format, and where it stands.
type value struct {
	kind       kind
	text       string // of a text its content, of other scalars how it is written
	list       []value
	fields     []field
	line       int
	start, end int // bytes of the source; of no meaning in YAML
}

// field is one key of a table with its value.
type field struct {
	name  string
	line  int
	start int // where the key begins
	comma int // JSON: where the comma behind it stands; -1: none
	value value
}

// get gives the last field of that name, which is the one that counts in JSON.
func (v value) get(name string) (value, bool) {
	i := v.index(name)
	if i < 0 {
		return value{}, false
	}
	return v.fields[i].value, true
}

func (v value) index(name string) int {
	for i, f := range slices.Backward(v.fields) {
		if f.name == name {
			return i
		}
	}
	return -1
}

// at follows a path of keys.
func (v value) at(path []string) (value, bool) {
	for _, name := range path {
		var ok bool
		if v, ok = v.get(name); !ok {
			return v, false
		}
	}
	return v, true
}

func textValue(s string) value { return value{kind: kindText, text: s} }
func boolValue(b bool) value   { return value{kind: kindBool, text: strconv.FormatBool(b)} }
func intValue(n int64) value   { return value{kind: kindNumber, text: strconv.FormatInt(n, 10)} }

func textList(list []string) value {
	v := value{kind: kindList}
	for _, s := range list {
		v.list = append(v.list, textValue(s))
	}
	return v
}

func textTable(m map[string]string) value {
	v := value{kind: kindTable}
	for _, k := range sortedKeys(m) {
		v.put(k, textValue(m[k]))
	}
	return v
}

func (v *value) put(name string, to value) {
	v.kind = kindTable
	v.fields = append(v.fields, field{name: name, comma: -1, value: to})
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// equal compares what two values say, not where they stand. The order of keys
// counts where ordered is true.
func (v value) equal(w value, ordered bool) bool {
	if v.kind != w.kind || v.text != w.text || !slices.EqualFunc(v.list, w.list, func(x, y value) bool { return x.equal(y, ordered) }) {
		return false
	}
	a, b := v.fields, w.fields
	if !ordered {
		byName := func(x, y field) int { return cmp.Compare(x.name, y.name) }
		a, b = slices.Clone(a), slices.Clone(b)
		slices.SortStableFunc(a, byName)
		slices.SortStableFunc(b, byName)
	}
	return slices.EqualFunc(a, b, func(x, y field) bool { return x.name == y.name && x.value.equal(y.value, ordered) })
}

const (
	maxDepth = 100
	maxNodes = 1 << 20
)

// fromAny turns what a YAML decoder made into a value. The order of keys and
// the lines are lost by then; keys are sorted. It counts nodes, since aliases
// let a small text stand for a large tree.
func fromAny(in any, depth int, nodes *int) (value, error) {
	if *nodes++; *nodes > maxNodes || depth > maxDepth {
		return value{}, fmt.Errorf("it is too large or nests too deeply")
	}
	switch in := in.(type) {
	case nil:
		return value{}, nil
	case bool:
		return boolValue(in), nil
	case string:
		return textValue(in), nil
	case []any:
		v := value{kind: kindList}
		for _, e := range in {
			w, err := fromAny(e, depth+1, nodes)
			if err != nil {
				return v, err
			}
			v.list = append(v.list, w)
		}
		return v, nil
	case map[string]any:
		v := value{kind: kindTable}
		for _, k := range sortedKeys(in) {
			w, err := fromAny(in[k], depth+1, nodes)
			if err != nil {
				return v, err
			}
			v.put(k, w)
		}
		return v, nil
	case map[any]any:
		named := make(map[string]any, len(in))
		for k, e := range in {
			named[fmt.Sprint(k)] = e
		}
		return fromAny(named, depth, nodes)
	case int, int64, uint64, float64:
		return value{kind: kindNumber, text: fmt.Sprint(in)}, nil
	default:
		return value{kind: kindDate, text: fmt.Sprint(in)}, nil
	}
}
