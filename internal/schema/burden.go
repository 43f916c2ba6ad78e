package schema

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// burden is one subschema as the other validator compiled it, reduced to what its work depends on: which schemas it applies
// to which values, and how long its own keywords take.
type burden struct {
	leaf  bool // true, false or {}: nothing is applied
	types typeSet
	same  []*burden // applied to the same value, all of them at worst: $ref, allOf, anyOf, oneOf, not, if, then, else
	deps  []depBurden
	turns []*turn // $dynamicRef and $recursiveRef, whose target depends on the way that led here

	props    map[string]*burden
	patterns []patternBurden
	extra    *burden // additionalProperties
	handled  bool    // additionalProperties leaves no member unevaluated
	names    *burden
	loose    *burden // unevaluatedProperties

	prefix   []*burden
	items    *burden // for the elements after the prefix
	covered  bool    // items leaves no element unevaluated
	contains *burden
	rest     *burden // unevaluatedItems
	unique   bool

	lists   int // entries of required and the like
	values  int // entries of enum and const
	weight  int // what comparing with these takes
	numeric bool
	pattern *matcher

	home    *home
	anchor  string // $dynamicAnchor
	recurs  bool   // $recursiveAnchor
	unfolds int    // how many subschemas it applies to one value, directly and indirectly
}

type depBurden struct {
	name string
	load *burden
}

type patternBurden struct {
	re   jsonschema.Regexp
	load *burden
}

// scales make burdens. They belong to one schema.
type scales struct {
	f     *fullCompiler
	made  map[*jsonschema.Schema]*burden
	homes map[string]*home
	fresh []*jsonschema.Schema // made, and not yet looked at by take
	turns []*turn

	anchors map[string][]*jsonschema.Schema // the subschemas of the text by their $dynamicAnchor, as far as they were asked for
	recurs  bool                            // there is a $recursiveAnchor in the text
}

func newScales(f *fullCompiler) *scales {
	return &scales{
		f:       f,
		made:    map[*jsonschema.Schema]*burden{},
		homes:   map[string]*home{baseAddress: {}},
		anchors: map[string][]*jsonschema.Schema{},
		recurs:  f.d.has("$recursiveAnchor", 0),
	}
}

// maxUnfold bounds how many subschemas a schema may apply to one value. References can double it at every step.
const maxUnfold = 100_000

// take gives the burden of a compiled schema, or an error if something in it unfolds too far.
func (s *scales) take(c *jsonschema.Schema) (*burden, error) {
	b := s.of(c)
	s.settleTurns()
	heavy := ""
	for _, c := range s.fresh {
		if s.count(s.made[c]) > maxUnfold && (heavy == "" || c.Location < heavy) {
			heavy = c.Location
		}
	}
	s.fresh = nil
	if heavy != "" {
		_, fragment, _ := strings.Cut(heavy, "#")
		return nil, &SchemaError{s.f.d.pointer(s.f.d.atFragment(fragment)),
			fmt.Sprintf("its references and alternatives unfold into more than %d schemas for one value; say it in a simpler way", maxUnfold)}
	}
	return b, nil
}

// count gives how many subschemas are applied to one value by b. A schema that leads back to itself is not followed again,
// as the other validator does not.
func (s *scales) count(b *burden) int {
	if b.unfolds != 0 {
		return b.unfolds
	}
	b.unfolds = 1
	n := 1
	for _, c := range b.same {
		n += s.count(c)
	}
	for _, dep := range b.deps {
		n += s.count(dep.load)
	}
	for _, t := range b.turns {
		n += s.count(t.first)
	}
	b.unfolds = min(n, 2*maxUnfold)
	return b.unfolds
}

// of gives the burden of a compiled schema, nil for none.
func (s *scales) of(c *jsonschema.Schema) *burden {
	if c == nil {
		return nil
	}
	if b := s.made[c]; b != nil {
		return b
	}
	b := &burden{leaf: c.Bool != nil, anchor: c.DynamicAnchor, recurs: c.RecursiveAnchor}
	s.made[c] = b
	s.fresh = append(s.fresh, c)
	b.home = s.homeOf(c)
	if b.leaf {
		return b
	}
	if c.Types != nil {
		for _, name := range c.Types.ToStrings() {
			b.types |= typeNamed(name)
		}
	}
	b.same = s.some(c.Ref, c.Not, c.If, c.Then, c.Else)
	for _, list := range [...][]*jsonschema.Schema{c.AllOf, c.AnyOf, c.OneOf} {
		b.same = append(b.same, s.some(list...)...)
	}
	s.members(b, c)
	s.elements(b, c)
	if c.Const != nil {
		b.values, b.weight = 1, heft(*c.Const)
	}
	if c.Enum != nil {
		b.values += len(c.Enum.Values)
		b.weight += heft(c.Enum.Values)
	}
	b.numeric = c.Minimum != nil || c.Maximum != nil || c.ExclusiveMinimum != nil || c.ExclusiveMaximum != nil || c.MultipleOf != nil
	if m, ok := c.Pattern.(*matcher); ok {
		b.pattern = m
	}
	s.turnsOf(b, c)
	return b
}

func (s *scales) some(list ...*jsonschema.Schema) []*burden {
	var loads []*burden
	for _, c := range list {
		if b := s.of(c); b != nil {
			loads = append(loads, b)
		}
	}
	return loads
}

func (s *scales) members(b *burden, c *jsonschema.Schema) {
	if c.Properties != nil {
		b.props = make(map[string]*burden, len(c.Properties))
		for name, p := range c.Properties {
			b.props[name] = s.of(p)
		}
	}
	for re, p := range c.PatternProperties {
		b.patterns = append(b.patterns, patternBurden{re, s.of(p)})
	}
	b.handled = c.AdditionalProperties != nil
	b.extra = s.of(schemaIn(c.AdditionalProperties))
	b.names = s.of(c.PropertyNames)
	b.loose = s.of(c.UnevaluatedProperties)
	b.lists = len(c.Required) + len(c.Dependencies) + len(c.DependentSchemas)
	for name, dep := range c.Dependencies {
		if load := s.of(schemaIn(dep)); load != nil {
			b.deps = append(b.deps, depBurden{name, load})
		} else if names, ok := dep.([]string); ok {
			b.lists += len(names)
		}
	}
	for name, dep := range c.DependentSchemas {
		b.deps = append(b.deps, depBurden{name, s.of(dep)})
	}
	for _, names := range c.DependentRequired {
		b.lists += 1 + len(names)
	}
}

func (s *scales) elements(b *burden, c *jsonschema.Schema) {
	if c.DraftVersion < 2020 {
		if list, ok := c.Items.([]*jsonschema.Schema); ok {
			b.prefix = s.some(list...)
			b.items = s.of(schemaIn(c.AdditionalItems))
		} else {
			b.items = s.of(schemaIn(c.Items))
		}
		b.covered = b.items != nil || c.AdditionalItems != nil
	} else {
		b.prefix = s.some(c.PrefixItems...)
		b.items = s.of(c.Items2020)
		b.covered = b.items != nil
	}
	b.contains = s.of(c.Contains)
	b.rest = s.of(c.UnevaluatedItems)
	b.unique = c.UniqueItems
}

// schemaIn gives the schema that a field of the other validator holds, nil if it holds something else.
func schemaIn(field any) *jsonschema.Schema {
	c, ok := field.(*jsonschema.Schema)
	if !ok {
		return nil
	}
	return c
}

// heft adds up what comparing with a decoded value takes.
func heft(v any) int {
	n := 5
	switch v := v.(type) {
	case json.Number:
		n = figureCost([]byte(v))
	case []any:
		for _, e := range v {
			n += heft(e)
		}
	case map[string]any:
		for _, e := range v {
			n += heft(e)
		}
	}
	return n
}
