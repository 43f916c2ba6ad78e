package definition

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// kinds is a set of JSON types. A number is a whole one or not, so "number" is two of them and "integer" one.
type kinds uint8

const (
	isNull kinds = 1 << iota
	isBool
	isInt
	isFrac
	isString
	isArray
	isObject

	isNumber = isInt | isFrac
	isScalar = isBool | isNumber | isString
	isAny    = isNull | isScalar | isArray | isObject
)

// kindOf gives the set that a type name of JSON Schema stands for, none for an unknown one.
func kindOf(name string) kinds {
	switch name {
	case "null":
		return isNull
	case "boolean":
		return isBool
	case "integer":
		return isInt
	case "number":
		return isNumber
	case "string":
		return isString
	case "array":
		return isArray
	case "object":
		return isObject
	}
	return 0
}

// names lists the types in the words of JSON Schema.
func (k kinds) names() []string {
	var out []string
	for _, c := range []struct {
		kind kinds
		name string
	}{{isString, "string"}, {isNumber, "number"}, {isBool, "boolean"}, {isObject, "object"}, {isArray, "array"}, {isNull, "null"}} {
		switch {
		case k&c.kind == 0:
		case c.kind == isNumber && k&isFrac == 0:
			out = append(out, "integer")
		default:
			out = append(out, c.name)
		}
	}
	return out
}

// words lists the types for a person: "a string or an object".
func (k kinds) words() string {
	if k|isNull == isAny {
		return "any value"
	}
	names := k.names()
	for i, n := range names {
		switch n[0] {
		case 'a', 'i', 'o':
			names[i] = "an " + n
		case 'n':
			if n == "null" {
				break
			}
			fallthrough
		default:
			names[i] = "a " + n
		}
	}
	return strings.Join(names, " or ")
}

// valueKind is the type of a value. A whole number counts as both kinds of number, since it may be written as either.
func valueKind(v *tree) kinds {
	switch v.kind {
	case kindObject:
		return isObject
	case kindArray:
		return isArray
	case kindString:
		return isString
	case kindBool:
		return isBool
	case kindNumber:
		if f := number(v.text); f == math.Trunc(f) {
			return isInt
		}
		return isNumber
	}
	return isNull
}

func number(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && f == 0 { // out of range gives an infinity, which compares as it should
		return math.NaN()
	}
	return f
}

// shape is what a value may look like: a schema with its references followed, its conjunctions merged and everything
// else reduced to what every API can be told. Everything that is left out makes it wider. The zero shape has no kind,
// and so no value.
type shape struct {
	kinds kinds
	enum  []*tree // nil: not enumerated
	title string
	about string   // the description
	notes []string // rules that have no field here, in words
	deft  *tree    // the default, nil if there is none

	min, max, above, below, step string // numbers as they are written, empty for none

	minLen, maxLen int // -1: none
	pattern        string
	format         string

	items              *shape // nil: free
	minItems, maxItems int
	unique             bool

	props              []property
	extra              *shape // what properties of other names look like; nil: not said
	closed             bool   // there are none of other names
	minProps, maxProps int

	any []*shape // besides all the rest, one of these; nil: nothing more
	cut string   // the structure goes on, but is not followed, and why
}

type property struct {
	name string
	*shape
	must bool
}

// free is the shape of any value.
func free() *shape {
	return &shape{kinds: isAny, minLen: -1, maxLen: -1, minItems: -1, maxItems: -1, minProps: -1, maxProps: -1}
}

// never reports that no value fits.
func (s *shape) never() bool { return s.kinds == 0 }

// bare reports that a value of these kinds is free: nothing is known of its inside.
func (s *shape) bare() bool {
	return s.enum == nil && s.any == nil && s.items == nil && s.props == nil && s.extra == nil && !s.closed
}

func (s *shape) note(words string) {
	if words != "" && !slices.Contains(s.notes, words) {
		s.notes = append(s.notes, words)
	}
}

// declares reports that there is a property by name that can be given.
func (s *shape) declares() bool {
	return slices.ContainsFunc(s.props, func(p property) bool { return !p.never() })
}

// prop finds a property, nil if it is not declared.
func (s *shape) prop(name string) *property {
	for i := range s.props {
		if s.props[i].name == name {
			return &s.props[i]
		}
	}
	return nil
}

// conclude draws the conclusions that follow from several fields at once.
func (s *shape) conclude() {
	if s.enum != nil {
		var fit []*tree
		var seen kinds
		for _, v := range s.enum {
			if k := valueKind(v); k&s.kinds != 0 {
				fit = append(fit, v)
				seen |= k
			}
		}
		s.enum = fit
		s.kinds &= seen
		if seen&isFrac != 0 && s.kinds&isInt != 0 {
			s.kinds |= isFrac
		}
	}
	if s.any != nil {
		var fit []*shape
		var seen kinds
		for _, b := range s.any {
			if b.kinds&s.kinds != 0 {
				fit = append(fit, b)
				seen |= b.kinds
			}
		}
		s.any = fit
		s.kinds &= seen
		if len(fit) == 1 {
			s.any = nil
			*s = *intersect(s, fit[0])
		}
	}
}
