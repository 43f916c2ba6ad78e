package jq

import (
	"fmt"
	"strings"

	"github.com/itchyny/gojq"
)

// checker walks over an expression. What can loop, write at any index or repeat a text
// is refused: a few characters of it ask for gigabytes.
type checker struct {
	nodes int
	grows int
}

const (
	maxNodes = 400
	maxGrows = 24 // + and , and the like: each can double what there is
)

func refused(what, instead string) error {
	if instead != "" {
		instead = "; " + instead
	}
	return fmt.Errorf("%s cannot be used in _select%s", what, instead)
}

func (c *checker) query(q *gojq.Query) error {
	if q == nil {
		return nil
	}
	if c.nodes++; c.nodes > maxNodes {
		return fmt.Errorf("the expression has more than %d parts", maxNodes)
	}
	switch {
	case len(q.FuncDefs) > 0:
		return refused("def", "")
	case len(q.Imports) > 0 || q.Meta != nil:
		return refused("import", "")
	}
	switch q.Op {
	case gojq.OpAssign, gojq.OpModify, gojq.OpUpdateAdd, gojq.OpUpdateSub, gojq.OpUpdateMul, gojq.OpUpdateDiv, gojq.OpUpdateMod, gojq.OpUpdateAlt:
		return refused("assignment", "make a new object instead, such as {name: .a}")
	case gojq.OpMul:
		return refused("*", "")
	case gojq.OpAdd, gojq.OpComma:
		if err := c.grow(); err != nil {
			return err
		}
	}
	for _, inner := range []*gojq.Query{q.Left, q.Right} {
		if err := c.query(inner); err != nil {
			return err
		}
	}
	for _, p := range q.Patterns {
		if err := c.pattern(p); err != nil {
			return err
		}
	}
	return c.term(q.Term)
}

func (c *checker) grow() error {
	if c.grows++; c.grows > maxGrows {
		return fmt.Errorf("the expression joins more than %d parts", maxGrows)
	}
	return nil
}

func (c *checker) pattern(p *gojq.Pattern) error {
	if p == nil {
		return nil
	}
	for _, inner := range p.Array {
		if err := c.pattern(inner); err != nil {
			return err
		}
	}
	for _, o := range p.Object {
		if err := c.query(o.KeyQuery); err != nil {
			return err
		}
		if err := c.pattern(o.Val); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) term(t *gojq.Term) error {
	if t == nil {
		return nil
	}
	switch {
	case t.Reduce != nil:
		return refused("reduce", "use add, length or map")
	case t.Foreach != nil:
		return refused("foreach", "")
	case t.Label != nil:
		return refused("label", "use first(…)")
	case len(t.Number) > 30:
		return refused("so long a number", "")
	}
	queries := []*gojq.Query{t.Query}
	if t.Func != nil {
		if !allowed(t.Func.Name, len(t.Func.Args)) {
			return refused(t.Func.Name, "")
		}
		queries = append(queries, t.Func.Args...)
	}
	if t.Object != nil {
		for _, kv := range t.Object.KeyVals {
			queries = append(queries, kv.KeyQuery, kv.Val)
			if kv.KeyString != nil {
				queries = append(queries, kv.KeyString.Queries...)
			}
		}
	}
	if t.Array != nil {
		queries = append(queries, t.Array.Query)
	}
	if t.Unary != nil {
		if err := c.term(t.Unary.Term); err != nil {
			return err
		}
	}
	if t.Str != nil {
		if len(t.Str.Queries) > 0 {
			if err := c.grow(); err != nil {
				return err
			}
		}
		queries = append(queries, t.Str.Queries...)
	}
	if t.If != nil {
		queries = append(queries, t.If.Cond, t.If.Then, t.If.Else)
		for _, e := range t.If.Elif {
			queries = append(queries, e.Cond, e.Then)
		}
	}
	if t.Try != nil {
		queries = append(queries, t.Try.Body, t.Try.Catch)
	}
	queries = append(queries, index(t.Index)...)
	for _, s := range t.SuffixList {
		queries = append(queries, index(s.Index)...)
	}
	for _, q := range queries {
		if err := c.query(q); err != nil {
			return err
		}
	}
	return nil
}

func index(i *gojq.Index) []*gojq.Query {
	if i == nil {
		return nil
	}
	out := []*gojq.Query{i.Start, i.End}
	if i.Str != nil {
		out = append(out, i.Str.Queries...)
	}
	return out
}

// allowed lists the functions that give no more than they are given, or little more.
func allowed(name string, args int) bool {
	if strings.HasPrefix(name, "$") { // a variable
		return name != "$ENV" && name != "$__prog_args"
	}
	switch name {
	case "recurse": // with a function it is a loop
		return args == 0
	case "empty", "error", "not", "select", "map", "map_values", "keys", "keys_unsorted", "values", "nulls", "booleans", "numbers", "strings", "arrays",
		"objects", "iterables", "scalars", "length", "utf8bytelength", "has", "in", "contains", "inside", "index", "rindex", "indices", "add", "any",
		"all", "flatten", "sort", "sort_by", "group_by", "min", "max", "min_by", "max_by", "unique", "unique_by", "reverse", "first", "last", "nth",
		"limit", "to_entries", "from_entries", "with_entries", "tostring", "tonumber", "tojson", "fromjson", "type", "startswith", "endswith",
		"ltrimstr", "rtrimstr", "trim", "ltrim", "rtrim", "ascii_downcase", "ascii_upcase", "split", "join", "test", "match", "capture", "scan",
		"sub", "gsub", "floor", "ceil", "round", "sqrt", "abs", "toarray", "paths", "leaf_paths", "getpath", "path", "del", "delpaths", "pick",
		"isvalid", "infinite", "nan", "isnan", "isinfinite", "fromdate", "todate", "fromdateiso8601", "todateiso8601", "dateadd", "datesub", "date",
		"mktime", "gmtime", "strftime", "strptime", "walk", "transpose", "splits", "ascii", "explode", "true", "false", "null":
		return true
	}
	return false
}
