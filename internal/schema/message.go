package schema

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/text"
)

// maxShown is how much of a value a message quotes.
const maxShown = 60

// cut shortens a text for a message at a character boundary.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// middle shortens a text at its middle, where a path says least.
func middle(s string, n int) string {
	if len(s) <= n {
		return s
	}
	tail := len(s) - n/2
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return cut(s, n/2) + s[tail:]
}

// show gives a value as a message quotes it. A value too long to quote is cut before it is copied.
func show(d *Doc, i uint32) string {
	n := &d.nodes[i]
	if n.kind == Array || n.kind == Object {
		if n.end-n.start > 4096 {
			return cut(string(d.raw(i)[:maxShown+4]), maxShown)
		}
		return cut(string(d.appendNode(nil, i)), maxShown)
	}
	raw := d.raw(i)
	return cut(string(raw[:min(len(raw), maxShown+4)]), maxShown)
}

// quoted gives a name as a JSON string, cut to what a message can carry.
func quoted(name []byte) string {
	return string(jsontext.AppendString(nil, []byte(cut(string(name[:min(len(name), maxShown+4)]), maxShown))))
}

func article(noun string) string {
	switch {
	case noun == "null":
		return noun
	case noun != "" && strings.IndexByte("aeio", noun[0]) >= 0:
		return "an " + noun
	}
	return "a " + noun
}

// got says what came.
func got(d *Doc, i uint32) string {
	switch d.nodes[i].kind {
	case String:
		return "the string " + show(d, i)
	case Number:
		return "the number " + show(d, i)
	case Array:
		return "an array of " + plural(int(d.nodes[i].b), "element")
	case Object:
		return "an object"
	}
	return show(d, i)
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
		names[j] = article(w)
	}
	return "expected " + orList(names) + ", got " + got(d, i) + typeHint(want, d, i)
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
			return "; write \"" + show(d, i) + "\" in quotes"
		}
	}
	if k := d.nodes[i].kind; wants("array") && k != Array && k != Null {
		return "; put it into a list, like [" + cut(show(d, i), 20) + "]"
	}
	return ""
}

// maxSuggested: with more values than this none is suggested for a wrong one.
const maxSuggested = 256

func enumMessage(sd *Doc, values []uint32, d *Doc, i uint32) string {
	if len(values) == 1 {
		return "must be " + show(sd, values[0]) + ", got " + got(d, i)
	}
	var list, names []string
	for j, x := range values {
		if j < 20 {
			list = append(list, show(sd, x))
		}
		if sd.nodes[x].kind == String && len(values) <= maxSuggested {
			names = append(names, string(sd.str(x)))
		}
	}
	if len(values) > 20 {
		list = append(list, fmt.Sprintf("%d others", len(values)-20))
	}
	msg := "must be " + orList(list) + "; got " + got(d, i)
	if len(values) == 0 {
		msg = "no value is allowed here; got " + got(d, i)
	}
	if d.nodes[i].kind == String {
		if n := text.Nearest(string(d.str(i)), names); n != "" {
			msg += "; did you mean " + quoted([]byte(n)) + "?"
		}
	}
	return msg
}

func denyMessage() string { return "no value is allowed here; leave it out" }

func notMessage(d *Doc, i uint32) string { return "the schema forbids this value; got " + got(d, i) }

func patternMessage(pattern string, d *Doc, i uint32) string {
	return "must match the pattern " + cut(pattern, 200) + ", got " + got(d, i)
}

func boundMessage(rule, limit, value string) string {
	switch rule {
	case "minimum":
		return "must be at least " + limit + ", got " + value
	case "maximum":
		return "must be at most " + limit + ", got " + value
	case "exclusiveMinimum":
		return "must be greater than " + limit + ", got " + value
	case "exclusiveMaximum":
		return "must be less than " + limit + ", got " + value
	}
	return "must be a multiple of " + limit + ", got " + value
}

func countMessage(rule string, got, want int) string {
	switch rule {
	case "minLength":
		return fmt.Sprintf("must have at least %s, has %d", plural(want, "character"), got)
	case "maxLength":
		return fmt.Sprintf("must have at most %s, has %d", plural(want, "character"), got)
	case "minItems":
		return fmt.Sprintf("must have at least %s, has %d", plural(want, "element"), got)
	case "maxItems":
		return fmt.Sprintf("must have at most %s, has %d", plural(want, "element"), got)
	case "minProperties":
		return fmt.Sprintf("must have at least %s, has %d", plural(want, "property"), got)
	case "maxProperties":
		return fmt.Sprintf("must have at most %s, has %d", plural(want, "property"), got)
	}
	return "fits more than one of the forms of which exactly one is allowed; make clear which is meant"
}

func pairMessage(first, second int) string {
	return fmt.Sprintf("elements %d and %d are equal, every element must be different", first, second)
}

func shortMessage(extra int) string { return "has " + plural(extra, "element") + " too many" }

func containsMessage(rule string, got, want int) string {
	switch rule {
	case "minContains":
		return fmt.Sprintf("must have at least %s of the form that contains asks for, has %d", plural(want, "element"), got)
	case "maxContains":
		return fmt.Sprintf("must have at most %s of the form that contains asks for, has %d", plural(want, "element"), got)
	}
	return "must have an element of the form that contains asks for, has none"
}

func nameMessage(why string) string {
	if why == "" {
		return "this property name is not allowed"
	}
	return "this property name is not allowed: " + why
}

func neededMessage(because []byte) string {
	return "is required because " + quoted(because) + " is given"
}

func missingMessage(want string) string {
	return "is required but missing; give " + want
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
	return "expected " + orList(different) + ", got " + got(d, i)
}
