package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// branches reports a value that none of several schemas accepts: by the problems of the only one that is meant for such
// a value, else in one sentence. It does for the other validator what badBranches does for this one.
func (f *flattener) branches(e *jsonschema.ValidationError, at uint32, keyword string) {
	var near []*jsonschema.ValidationError
	for _, c := range e.Causes {
		if !offPoint(c, len(e.InstanceLocation)) {
			near = append(near, c)
		}
	}
	if len(near) == 1 {
		f.walk(near[0])
		return
	}
	var forms []string
	if n, ok := f.schemaNode(e); ok {
		if list, ok := n.Member(keyword); ok {
			for _, b := range list.Elems() {
				forms = append(forms, describe(f.sd, b.i))
			}
		}
	}
	if len(forms) == 0 {
		for _, c := range e.Causes {
			for _, leaf := range leaves(c) {
				switch k := leaf.ErrorKind.(type) {
				case *kind.Type:
					for _, t := range k.Want {
						forms = append(forms, article(t))
					}
				case *kind.Enum:
					for _, v := range k.Want {
						forms = append(forms, fmt.Sprint(v))
					}
				}
			}
		}
	}
	if len(forms) == 0 {
		forms = append(forms, "another value")
	}
	f.add(e, keyword, branchMessage(forms, f.d, at))
}

// offPoint says whether a branch failed because it is not about values like this one: wrong type or wrong constant at the
// value itself, or a wrong constant in one of its members.
func offPoint(e *jsonschema.ValidationError, depth int) bool {
	for _, leaf := range leaves(e) {
		switch leaf.ErrorKind.(type) {
		case *kind.Type, *kind.FalseSchema:
			if len(leaf.InstanceLocation) == depth {
				return true
			}
		case *kind.Const, *kind.Enum:
			if len(leaf.InstanceLocation) <= depth+1 {
				return true
			}
		}
	}
	return false
}

// leaves gives the errors that have no cause of their own. Alternatives are not looked into: no single one of their
// branches has to be the reason.
func leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return []*jsonschema.ValidationError{e}
	}
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	var list []*jsonschema.ValidationError
	for _, c := range e.Causes {
		list = append(list, leaves(c)...)
	}
	return list
}

// known gives the names that the subschema of an error declares.
func (f *flattener) known(e *jsonschema.ValidationError) []string {
	n, ok := f.schemaNode(e)
	if ok {
		n, ok = n.Member("properties")
	}
	if !ok {
		return nil
	}
	var names []string
	for key := range n.Members() {
		names = append(names, string(key))
	}
	return names
}

func (f *flattener) describeProperty(e *jsonschema.ValidationError, name string) string {
	n, ok := f.schemaNode(e)
	if ok {
		n, ok = n.Member("properties")
	}
	if ok {
		n, ok = n.Member(name)
	}
	if !ok {
		return "a value"
	}
	return describe(f.sd, n.i)
}

// denied reports a value that a schema false forbids. Where that schema closes an object or array, the keyword is named.
func (f *flattener) denied(e *jsonschema.ValidationError) {
	last := e.SchemaURL[strings.LastIndexByte(e.SchemaURL, '/')+1:]
	switch last {
	case "unevaluatedProperties":
		parent := *e
		parent.SchemaURL = strings.TrimSuffix(e.SchemaURL, "/"+last)
		name := ""
		if n := len(e.InstanceLocation); n > 0 {
			name = e.InstanceLocation[n-1]
		}
		f.add(e, last, unknownMessage(name, f.known(&parent)))
	case "unevaluatedItems", "items", "additionalItems":
		f.add(e, last, "no further elements are allowed")
	default:
		f.add(e, "false", denyMessage())
	}
}

func containsMessage(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *kind.MinContains:
		return fmt.Sprintf("must have at least %s of the form that contains asks for, has %d", plural(k.Want, "element"), len(k.Got))
	case *kind.MaxContains:
		return fmt.Sprintf("must have at most %s of the form that contains asks for, has %d", plural(k.Want, "element"), len(k.Got))
	}
	return "must have an element of the form that contains asks for, has none"
}

// nameMessage words why a property name was refused; the name is a string, not a value of the document.
func nameMessage(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *kind.Pattern:
		return "it must match the pattern " + cut(k.Want, 200)
	case *kind.MinLength:
		return countMessage("minLength", k.Got, k.Want)
	case *kind.MaxLength:
		return countMessage("maxLength", k.Got, k.Want)
	case *kind.Format:
		return fmt.Sprintf("it is not a valid %s: %v", k.Want, k.Err)
	case *kind.Enum:
		var list []string
		for _, v := range k.Want {
			list = append(list, fmt.Sprint(v))
		}
		slices.Sort(list)
		return "it must be " + cut(orList(list), 200)
	case *kind.Const:
		return "it must be " + fmt.Sprint(k.Want)
	}
	return "it does not satisfy " + ruleOf(e)
}
