package schema

import "bytes"

// rule is one compiled subschema. It serves two ends: as a *shape* it tells [Schema.Admit] where defaults, conversions and
// unknown names are; as a validator it judges values.
type rule struct {
	at      uint32 // the subschema in the schema's own document
	deny    bool   // the schema false
	types   typeSet
	order   []typeSet // the types as written, when there are several
	enum    *enumRule
	num     *numRule
	str     *strRule
	arr     *arrRule
	obj     *objRule
	ref     *rule
	refAt   uint32 // the value of $ref, 0 if there is none
	refKind referenceKind
	meta    int // the reference leads to the metaschema of this draft, 0 if it does not
	all     []*rule
	any     []*rule
	one     []*rule
	not     *rule
	cond    *condRule
	def     *defaultValue

	inherited      *defaultValue // its own default or that of a schema it refers to or is made of, once inheritedKnown is set
	inheritedKnown bool
	place          uint32 // among all rules

	joined bool // it has parts that judge the same value (ref, all, any, one, not or cond) or what no other part has judged
	loops  bool // it is referred to, in a schema where references lead back without moving on in the value
	fills  bool // some default may be filled in at or below a value that this rule governs
	opaque bool // it has keywords that may declare properties, and the shape does not follow them
}

// typeSet is a set of JSON Schema types: the bit of a [Kind] is 1 << Kind, and integer has a bit of its own.
type typeSet uint16

const integerType typeSet = 1 << 8

func kindBit(k Kind) typeSet { return 1 << k }

func typeNamed(name string) typeSet {
	for k := Null; k <= Object; k++ {
		if k.String() == name {
			return kindBit(k)
		}
	}
	if name == "integer" {
		return integerType
	}
	return 0
}

// enumRule is enum or const. The values are nodes of the schema's own document.
type enumRule struct {
	keyword string
	values  []uint32
	strings map[string]struct{} // the values that are strings, when there are many values
}

// manyValues is where looking into a map becomes cheaper than comparing one value after the other.
const manyValues = 16

// condRule is if, then and else. What is missing is nil.
type condRule struct {
	test, then, other *rule
}

type numRule struct {
	min, max       *bound
	above, below   *bound // exclusiveMinimum, exclusiveMaximum
	multiple       *divisor
	minAt, maxAt   uint32 // where they stand in the schema, for messages
	aboveAt, belAt uint32
	multipleAt     uint32
}

type strRule struct {
	min, max int // max: -1 means no bound
	pattern  *matcher
}

type arrRule struct {
	prefix   []*rule
	items    *rule // for the elements after the prefix
	short    bool  // additionalItems: false, there must be no elements after the prefix
	every    bool  // every element is judged by prefix, items or additionalItems
	rest     *rule // unevaluatedItems
	min, max int
	unique   bool
	contains *containsRule
}

// containsRule is contains with its bounds. Without minContains one element is enough, and the message is another.
type containsRule struct {
	rule     *rule
	judges   bool // unevaluatedItems leaves alone what it accepts
	least    bool // minContains is given
	min, max int
}

type objRule struct {
	props    []prop // sorted by name
	patterns []patternRule
	extra    *rule // additionalProperties, when it is a schema
	closed   bool  // additionalProperties: false
	partial  bool  // not all of its properties and patterns are known
	every    bool  // additionalProperties is given, so every member is judged
	rest     *rule // unevaluatedProperties
	names    *rule // propertyNames
	deps     []depRule
	min, max int
	defaults []int // the props that have a default
}

// depRule is one entry of dependentRequired, dependentSchemas or dependencies: what is asked for when name is there.
type depRule struct {
	keyword string
	name    []byte
	needs   [][]byte
	rule    *rule // nil: only names are asked for
}

type prop struct {
	name     []byte
	rule     *rule // nil: the name is required but not declared
	required bool
	def      *defaultValue
}

type patternRule struct {
	re   *matcher
	rule *rule
}

// defaultValue is a default: what is filled in when the property is missing.
type defaultValue struct {
	rule *rule // the rule that has it
	node uint32
	text []byte // in canonical form, with the defaults inside it filled in
	busy bool   // text is being made
	bad  bool   // its own schema refuses it: it is never filled in
}

// object gives the rule's object part, made on first use.
func (r *rule) object() *objRule {
	if r.obj == nil {
		r.obj = &objRule{max: -1}
	}
	return r.obj
}

func (r *rule) array() *arrRule {
	if r.arr == nil {
		r.arr = &arrRule{max: -1}
	}
	return r.arr
}

func (r *rule) text() *strRule {
	if r.str == nil {
		r.str = &strRule{max: -1}
	}
	return r.str
}

func (r *rule) number() *numRule {
	if r.num == nil {
		r.num = &numRule{}
	}
	return r.num
}

// find gives the declared or required property of that name.
func (o *objRule) find(name []byte) *prop {
	lo, hi := 0, len(o.props)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch c := bytes.Compare(o.props[mid].name, name); {
		case c == 0:
			return &o.props[mid]
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return nil
}

// shapes walks the rules that govern the same value and say how it may be written anew.
func (r *rule) shapes(visit func(*rule)) {
	if r.ref != nil && !r.ref.loops {
		visit(r.ref)
	}
	for _, list := range [...][]*rule{r.all, r.any, r.one} {
		for _, c := range list {
			visit(c)
		}
	}
}

// inPlace walks all rules that judge the same value as r does.
func (r *rule) inPlace(visit func(*rule)) {
	r.shapes(visit)
	if r.not != nil {
		visit(r.not)
	}
	if r.cond != nil {
		for _, c := range [...]*rule{r.cond.test, r.cond.then, r.cond.other} {
			if c != nil {
				visit(c)
			}
		}
	}
	if r.obj != nil {
		for j := range r.obj.deps {
			if c := r.obj.deps[j].rule; c != nil {
				visit(c)
			}
		}
	}
}

// shapesBelow walks the rules that govern a member or element of the value and say how it may be written anew.
func (r *rule) shapesBelow(visit func(*rule)) {
	if r.obj != nil {
		for j := range r.obj.props {
			if c := r.obj.props[j].rule; c != nil {
				visit(c)
			}
		}
		for _, p := range r.obj.patterns {
			visit(p.rule)
		}
		if r.obj.extra != nil {
			visit(r.obj.extra)
		}
	}
	if r.arr != nil {
		for _, c := range r.arr.prefix {
			visit(c)
		}
		if r.arr.items != nil {
			visit(r.arr.items)
		}
	}
}

// below walks all rules that judge a name, a member or an element of the value.
func (r *rule) below(visit func(*rule)) {
	r.shapesBelow(visit)
	if r.obj != nil {
		for _, c := range [...]*rule{r.obj.names, r.obj.rest} {
			if c != nil {
				visit(c)
			}
		}
	}
	if r.arr != nil {
		if r.arr.contains != nil {
			visit(r.arr.contains.rule)
		}
		if r.arr.rest != nil {
			visit(r.arr.rest)
		}
	}
}
