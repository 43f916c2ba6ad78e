package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/text"
)

// maxShown is how much of a value a message quotes.
const maxShown = 60

// quoteValue gives a value as a message quotes it. A value too long to quote is cut before it is copied.
func quoteValue(d *Doc, i uint32) string {
	n := &d.nodes[i]
	if n.kind == Array || n.kind == Object {
		if n.end-n.start > 4096 {
			return text.Clip(string(d.raw(i)[:maxShown+4]), maxShown)
		}
		return text.Clip(string(d.appendNode(nil, i)), maxShown)
	}
	raw := d.raw(i)
	return text.Clip(string(raw[:min(len(raw), maxShown+4)]), maxShown)
}

// quoted gives a name as a JSON string, cut to what a message can carry.
func quoted(name []byte) string {
	return string(jsontext.AppendString(nil, []byte(text.Clip(string(name[:min(len(name), maxShown+4)]), maxShown))))
}

func withArticle(noun string) string {
	switch {
	case noun == "null":
		return noun
	case noun != "" && strings.IndexByte("aeio", noun[0]) >= 0:
		return "an " + noun
	}
	return "a " + noun
}

// describeValue says what came.
func describeValue(d *Doc, i uint32) string {
	switch d.nodes[i].kind {
	case String:
		return "the string " + quoteValue(d, i)
	case Number:
		return "the number " + quoteValue(d, i)
	case Array:
		return "an array of " + plural(int(d.nodes[i].b), "element")
	case Object:
		return "an object"
	}
	return quoteValue(d, i)
}

func plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "y"):
		return fmt.Sprintf("%d %sies", n, noun[:len(noun)-1])
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// orList joins alternatives, the last with "or".
func orList(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], ", ") + " or " + items[len(items)-1]
}

func typeMessage(want []string, d *Doc, i uint32) string {
	names := make([]string, len(want))
	for j, w := range want {
		names[j] = withArticle(w)
	}
	return "expected " + orList(names) + ", got " + describeValue(d, i) + typeHint(want, d, i)
}

// typeHint says how to mend the slips that models make most.
func typeHint(want []string, d *Doc, i uint32) string {
	wants := func(t string) bool { return slices.Contains(want, t) }
	switch d.nodes[i].kind {
	case String:
		s := d.str(i)
		if len(s) > maxShown {
			s = s[:1]
		}
		if wants("integer") || wants("number") {
			if lit, ok := stringToNumber(s, !wants("number")); ok {
				return "; write " + string(lit) + " without quotes"
			}
		}
		if wants("boolean") {
			if lit, ok := stringToBool(s); ok {
				return "; write " + lit + " without quotes"
			}
		}
		if first := strings.TrimSpace(string(s)); (wants("object") && strings.HasPrefix(first, "{")) || (wants("array") && strings.HasPrefix(first, "[")) {
			return "; send the value itself, not a string that holds it"
		}
	case Number, Bool:
		if wants("string") {
			return "; write \"" + quoteValue(d, i) + "\" in quotes"
		}
	}
	if k := d.nodes[i].kind; wants("array") && k != Array && k != Null {
		return "; put it into a list, like [" + text.Clip(quoteValue(d, i), 20) + "]"
	}
	return ""
}

// maxSuggested: with more values than this none is suggested for a wrong one.
const maxSuggested = 256

func enumMessage(sd *Doc, values []uint32, d *Doc, i uint32) string {
	if len(values) == 1 {
		return "must be " + quoteValue(sd, values[0]) + ", got " + describeValue(d, i)
	}
	var list, names []string
	for j, x := range values {
		if j < 20 {
			list = append(list, quoteValue(sd, x))
		}
		if sd.nodes[x].kind == String && len(values) <= maxSuggested {
			names = append(names, string(sd.str(x)))
		}
	}
	if len(values) > 20 {
		list = append(list, fmt.Sprintf("%d others", len(values)-20))
	}
	msg := "must be " + orList(list) + "; got " + describeValue(d, i)
	if len(values) == 0 {
		msg = "no value is allowed here; got " + describeValue(d, i)
	}
	if d.nodes[i].kind == String {
		if n := text.Nearest(string(d.str(i)), names); n != "" {
			msg += "; did you mean " + quoted([]byte(n)) + "?"
		}
	}
	return msg
}

func boundMessage(rule, limit, value string) string {
	words := map[string]string{
		"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "greater than", "exclusiveMaximum": "less than", "multipleOf": "a multiple of",
	}
	return "must be " + words[rule] + " " + limit + ", got " + value
}

// countMessage is for the rules that are called min or max and what they count.
func countMessage(rule string, got, want int) string {
	bound, noun, form := "at least", "element", ""
	if strings.HasPrefix(rule, "max") {
		bound = "at most"
	}
	switch rule[3:] {
	case "Length":
		noun = "character"
	case "Properties":
		noun = "property"
	case "Contains":
		form = " of the form that contains asks for"
	}
	return fmt.Sprintf("must have %s %s%s, has %d", bound, plural(want, noun), form, got)
}

func nameMessage(why string) string {
	if why == "" {
		return "this property name is not allowed"
	}
	return "this property name is not allowed: " + why
}

// maxNames is how many known names a message lists.
const maxNames = 12

func unknownMessage(name []byte, known []string) string {
	if n := text.Nearest(string(name), known); n != "" {
		return "unknown property; did you mean " + quoted([]byte(n)) + "?"
	}
	if len(known) == 0 {
		return "unknown property; no properties are allowed here"
	}
	slices.Sort(known)
	list := make([]string, 0, maxNames)
	for _, k := range known[:min(len(known), maxNames)] {
		list = append(list, quoted([]byte(k)))
	}
	rest := ""
	if len(known) > maxNames {
		rest = fmt.Sprintf(" and %d others", len(known)-maxNames)
	}
	return "unknown property; the known ones are " + strings.Join(list, ", ") + rest
}

func branchMessage(forms []string, d *Doc, i uint32) string {
	var different []string
	for _, f := range forms {
		if !slices.Contains(different, f) {
			different = append(different, f)
		}
	}
	if len(different) > 8 {
		different = append(different[:8], "another form")
	}
	return "expected " + orList(different) + ", got " + describeValue(d, i)
}
