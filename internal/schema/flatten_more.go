package schema

import (
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// branches reports a value that none of several schemas accepts: by the problems of the only one that is meant for such
// a value, else in one sentence. It does for the other validator what badBranches does for this one.
func (f *flattener) branches(e *jsonschema.ValidationError, keyword string) {
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
	if f.skip() {
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
	at, _ := f.d.locate(f.root, e.InstanceLocation)
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
		f.add(e, last, unknownMessage([]byte(name), f.known(&parent)))
	case "unevaluatedItems", "items", "additionalItems":
		f.add(e, last, "no further elements are allowed")
	default:
		f.add(e, "false", denyMessage())
	}
}

// aboutName words the first thing that the schema of the names has against a name, which is a key of the document.
func (f *flattener) aboutName(e *jsonschema.ValidationError, name string) string {
	object, _ := f.d.locate(f.root, e.InstanceLocation)
	if f.d.nodes[object].kind != Object {
		return ""
	}
	value, ok := f.d.member(object, []byte(name))
	if !ok {
		return ""
	}
	inner := flattener{d: f.d, sd: f.sd, root: value - 1}
	for _, c := range e.Causes {
		inner.walk(c)
	}
	if len(inner.list) == 0 {
		return ""
	}
	return inner.list[0].Message
}
