package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// flattener makes a list of problems out of the other validator's tree of errors, in the words of this package.
type flattener struct {
	d    *Doc   // the document that was judged
	root uint32 // where in it the judged value is
	sd   *Doc   // the schema, nil when it is a metaschema
	report
	deepest []string // the longest location of a problem so far
	reason  string   // and that problem's message
}

// locate follows a location from a node as far as it leads and gives the path too.
func (d *Doc) locate(at uint32, loc []string) (uint32, string) {
	var path []byte
	for _, step := range loc {
		s := pathStep{key: []byte(step)}
		next, ok := uint32(0), false
		if d.nodes[at].kind == Array {
			var err error
			if s.index, err = strconv.Atoi(step); err == nil {
				s.key = nil
				next, ok = d.step(at, step)
			}
		} else if d.nodes[at].kind == Object {
			next, ok = d.member(at, s.key)
		}
		if !ok {
			break
		}
		path = appendStep(path, s)
		at = next
	}
	return at, string(path)
}

func (f *flattener) add(e *jsonschema.ValidationError, rule, message string, more ...string) {
	_, path := f.d.locate(f.root, e.InstanceLocation)
	text := []byte(path)
	for _, name := range more {
		text = appendStep(text, pathStep{key: []byte(name)})
	}
	if f.reason == "" || len(e.InstanceLocation) > len(f.deepest) {
		f.deepest, f.reason = e.InstanceLocation, message
	}
	f.report.add(string(text), rule, message)
}

// problems gives what was found, each once and in a fixed order: the other validator walks maps.
func (f *flattener) problems() []Problem {
	slices.SortFunc(f.list, func(p, q Problem) int {
		return cmp.Or(strings.Compare(p.Path, q.Path), strings.Compare(p.Rule, q.Rule), strings.Compare(p.Message, q.Message))
	})
	f.list = slices.Compact(f.list)
	return f.report.problems()
}

// schemaNode finds the subschema that an error comes from, if it is in the schema's own text.
func (f *flattener) schemaNode(e *jsonschema.ValidationError) (Node, bool) {
	fragment, ok := strings.CutPrefix(e.SchemaURL, baseAddress+"#")
	if f.sd == nil || !ok {
		return Node{}, false
	}
	return Node{f.sd, f.sd.atFragment(fragment)}, true
}

func (f *flattener) walk(e *jsonschema.ValidationError) {
	switch k := e.ErrorKind.(type) {
	case *kind.AnyOf:
		f.branches(e, "anyOf")
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			f.branches(e, "oneOf")
		} else if !f.skip() {
			f.add(e, "oneOf", countMessage("oneOf", len(k.Subschemas), 1))
		}
	case *kind.Required:
		for _, name := range k.Missing {
			if !f.skip() {
				f.add(e, "required", missingMessage(f.describeProperty(e, name)), name)
			}
		}
	case *kind.DependentRequired:
		f.dependent(e, "dependentRequired", k.Prop, k.Missing)
	case *kind.Dependency:
		f.dependent(e, "dependencies", k.Prop, k.Missing)
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			if !f.skip() {
				f.add(e, "additionalProperties", unknownMessage([]byte(name), f.known(e)), name)
			}
		}
	case *kind.PropertyNames:
		if !f.skip() {
			f.add(e, "propertyNames", nameMessage(f.aboutName(e, k.Property)), k.Property)
		}
	case *kind.FalseSchema:
		if !f.skip() {
			f.denied(e)
		}
	case *kind.Contains:
		f.contains(e, 0, 1)
	case *kind.MinContains:
		f.contains(e, len(k.Got), k.Want)
	case *kind.MaxContains:
		f.contains(e, len(k.Got), k.Want)
	default:
		if len(e.Causes) > 0 {
			for _, c := range e.Causes {
				f.walk(c)
			}
		} else if !f.skip() {
			at, _ := f.d.locate(f.root, e.InstanceLocation)
			f.add(e, ruleOf(e), f.message(e, at))
		}
	}
}

func ruleOf(e *jsonschema.ValidationError) string {
	switch e.ErrorKind.(type) {
	case nil:
		return "schema"
	case *kind.Not:
		return "not"
	case *kind.RefCycle:
		return "$ref"
	}
	if p := e.ErrorKind.KeywordPath(); len(p) > 0 {
		return p[0]
	}
	return "schema"
}

// message words a leaf of the tree.
func (f *flattener) message(e *jsonschema.ValidationError, at uint32) string {
	rule := ruleOf(e)
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		if n, ok := f.schemaNode(e); ok {
			return typeMessage(typeNames(f.sd, n.i), f.d, at) // in the order of the schema
		}
		return typeMessage(k.Want, f.d, at)
	case *kind.Enum, *kind.Const:
		return f.enumMessage(e, rule, at)
	case *kind.Pattern:
		return patternMessage(k.Want, f.d, at)
	case *kind.Minimum:
		return boundMessage(rule, f.limit(e, rule), show(f.d, at))
	case *kind.Maximum:
		return boundMessage(rule, f.limit(e, rule), show(f.d, at))
	case *kind.ExclusiveMinimum:
		return boundMessage(rule, f.limit(e, rule), show(f.d, at))
	case *kind.ExclusiveMaximum:
		return boundMessage(rule, f.limit(e, rule), show(f.d, at))
	case *kind.MultipleOf:
		return boundMessage(rule, f.limit(e, rule), show(f.d, at))
	case *kind.MinLength:
		return countMessage(rule, k.Got, k.Want)
	case *kind.MaxLength:
		return countMessage(rule, k.Got, k.Want)
	case *kind.MinItems:
		return countMessage(rule, k.Got, k.Want)
	case *kind.MaxItems:
		return countMessage(rule, k.Got, k.Want)
	case *kind.MinProperties:
		return countMessage(rule, k.Got, k.Want)
	case *kind.MaxProperties:
		return countMessage(rule, k.Got, k.Want)
	case *kind.UniqueItems:
		return pairMessage(k.Duplicates[0], k.Duplicates[1])
	case *kind.AdditionalItems:
		return shortMessage(k.Count)
	case *kind.Not:
		return notMessage(f.d, at)
	case *kind.Format:
		return fmt.Sprintf("is not a valid %s: %v; got %s", k.Want, k.Err, got(f.d, at))
	case *kind.RefCycle:
		return "the schema refers to itself here without end, so that no value can be checked"
	}
	return "the value does not satisfy " + rule + "; got " + got(f.d, at)
}

// limit gives the number in the schema that a keyword compares with, as it is written there.
func (f *flattener) limit(e *jsonschema.ValidationError, rule string) string {
	if n, ok := f.schemaNode(e); ok {
		key := rule
		switch v, found := n.Member(rule); {
		case found && v.Kind() == Number:
		case rule == "exclusiveMinimum":
			key = "minimum" // draft-04 says with a boolean that the bound is exclusive
		case rule == "exclusiveMaximum":
			key = "maximum"
		}
		if v, found := n.Member(key); found {
			return show(f.sd, v.i)
		}
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Minimum:
		return k.Want.RatString()
	case *kind.Maximum:
		return k.Want.RatString()
	case *kind.ExclusiveMinimum:
		return k.Want.RatString()
	case *kind.ExclusiveMaximum:
		return k.Want.RatString()
	case *kind.MultipleOf:
		return k.Want.RatString()
	}
	return "the bound"
}

func (f *flattener) enumMessage(e *jsonschema.ValidationError, rule string, at uint32) string {
	n, ok := f.schemaNode(e)
	if ok {
		n, ok = n.Member(rule)
	}
	if !ok {
		return enumFallback(e, f.d, at)
	}
	if rule == "const" {
		return enumMessage(f.sd, []uint32{n.i}, f.d, at)
	}
	var values []uint32
	for _, v := range n.Elems() {
		values = append(values, v.i)
	}
	return enumMessage(f.sd, values, f.d, at)
}

// enumFallback lists the values that a metaschema allows.
func enumFallback(e *jsonschema.ValidationError, d *Doc, at uint32) string {
	var list []string
	if k, ok := e.ErrorKind.(*kind.Enum); ok {
		for _, v := range k.Want {
			list = append(list, fmt.Sprint(v))
		}
	}
	return "must be " + orList(list) + "; got " + got(d, at)
}

func (f *flattener) dependent(e *jsonschema.ValidationError, rule, because string, missing []string) {
	for _, name := range missing {
		if !f.skip() {
			f.add(e, rule, neededMessage([]byte(because)), name)
		}
	}
}

func (f *flattener) contains(e *jsonschema.ValidationError, got, want int) {
	if !f.skip() {
		f.add(e, ruleOf(e), containsMessage(ruleOf(e), got, want))
	}
}
