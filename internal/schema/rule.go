package schema

import "bytes"

// rule is one compiled subschema. It serves two ends: as a *shape* it tells [Schema.Admit] where defaults, conversions and
// unknown names are; as a validator it judges values, when the whole schema is made of keywords it knows.
type rule struct {
	at    uint32 // the subschema in the schema's own document
	deny  bool   // the schema false
	types typeSet
	order []typeSet // the types as written, when there are several
	enum  *enumRule
	num   *numRule
	str   *strRule
	arr   *arrRule
	obj   *objRule
	ref   *rule
	refAt uint32 // the value of $ref, 0 if there is none
	all   []*rule
	any   []*rule
	one   []*rule
	not   *rule
	def   *fallback

	fills  bool // some default may be filled in at or below a value that this rule governs
	opaque bool // it has keywords that may declare properties and that this package does not read
}

// typeSet is a set of JSON Schema types: the bit of a [Kind] is 1 << Kind, and integer has a bit of its own.
type typeSet uint16

const integerType typeSet = 1 << 8

func kindBit(k Kind) typeSet { return 1 << k }

func typeNamed(name string) typeSet {
	switch name {
	case "null":
		return kindBit(Null)
	case "boolean":
		return kindBit(Bool)
	case "number":
		return kindBit(Number)
	case "integer":
		return integerType
	case "string":
		return kindBit(String)
	case "array":
		return kindBit(Array)
	case "object":
		return kindBit(Object)
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
	items    *rule
	min, max int
	unique   bool
}

type objRule struct {
	props    []prop // sorted by name
	patterns []patternRule
	extra    *rule // additionalProperties, when it is a schema
	closed   bool  // additionalProperties: false
	sealed   bool  // unevaluatedProperties: false, known to the shape only
	min, max int
	defaults []int // the props that have a default
}

type prop struct {
	name     []byte
	rule     *rule // nil: the name is required but not declared
	required bool
	def      *fallback
}

type patternRule struct {
	re   *matcher
	rule *rule
}

// fallback is a default: what is filled in when the property is missing.
type fallback struct {
	rule *rule // the rule that has it
	node uint32
	text []byte // in canonical form, with the defaults inside it filled in
	busy bool   // text is being made
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

// inPlace walks the rules that judge the same value as r does.
func (r *rule) inPlace(visit func(*rule)) {
	if r.ref != nil {
		visit(r.ref)
	}
	for _, list := range [...][]*rule{r.all, r.any, r.one} {
		for _, c := range list {
			visit(c)
		}
	}
	if r.not != nil {
		visit(r.not)
	}
}

// below walks the rules that judge a member or element of the value.
func (r *rule) below(visit func(*rule)) {
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
