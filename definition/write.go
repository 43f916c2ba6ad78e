package definition

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// The bounds of what is written, for all APIs.
const (
	maxToolText    = 256 << 10 // bytes of one definition
	maxEnumValues  = 1000      // values of all enumerations of a tool together
	maxEnumText    = 15_000    // bytes of one enumeration
	maxDefaultText = 2000      // bytes of a default that is shown
	maxQuoted      = 1500      // bytes of a schema that is shown inside a description
	maxListed      = 40        // values of an enumeration that words tell
)

// flavour is how an API wants its schemas.
type flavour struct {
	split  bool   // every node has one type and no free names: Gemini, and OpenAI where it is strict
	gemini bool   // types in capitals, nullable, enumerations of strings only
	depth  int    // levels of objects and arrays at most; 0: no limit
	props  naming // names of properties
}

// The limits of strict OpenAI definitions, from its documentation of structured outputs, and Gemini's level limit. Google
// states none; definitions of six levels have been refused, so this keeps below that.
const (
	strictProps = 5000
	strictText  = 120_000 // bytes of names and enumerated values together
	strictDepth = 10
	geminiDepth = 5
)

func looseFlavour() flavour { return flavour{props: naming{dots: true}} }

func strictFlavour() flavour {
	return flavour{split: true, depth: strictDepth, props: naming{dots: true}}
}

func geminiFlavour() flavour {
	return flavour{split: true, gemini: true, depth: geminiDepth, props: naming{dots: true, start: true}}
}

// writer writes the schema of one tool.
type writer struct {
	flavour
	shown  map[string]string // real property name → the shown one; nil: as they are, this is for a description
	values int               // enumerated so far
	count  int               // properties so far
	bytes  int               // of names and enumerated values so far
	again  int               // how often alternatives had to be written a second time
}

var errLimits = errors.New("over the limits of strict definitions")

// schema writes the schema of a tool's arguments. It also gives what turns arguments back.
func (f flavour) schema(s *shape) (*tree, *undo, error) {
	w := &writer{flavour: f}
	var names []string
	s = flatten(s) // no API takes alternatives at the root
	collect(s, &names)
	w.shown = f.props.assign(names)
	if !f.split {
		return w.looseRoot(s), w.renames(), nil
	}
	node, back := w.root(s)
	if !f.gemini && (w.count > strictProps || w.bytes > strictText) {
		return nil, nil, errLimits
	}
	return node, back, nil
}

// collect lists every declared property name.
func collect(s *shape, names *[]string) {
	if s == nil {
		return
	}
	for _, p := range s.props {
		*names = append(*names, p.name)
		collect(p.shape, names)
	}
	collect(s.items, names)
	collect(s.extra, names)
	for _, b := range s.any {
		collect(b, names)
	}
}

func (w *writer) name(name string) string {
	if shown, ok := w.shown[name]; ok {
		return shown
	}
	return name
}

// enum takes an enumeration if there is room for it; otherwise it gives words for it.
func (w *writer) enum(values []*tree) (ok bool, words string) {
	size := 0
	for _, v := range values {
		size += len(v.String())
	}
	if w.values+len(values) <= maxEnumValues && size <= maxEnumText {
		w.values += len(values)
		w.bytes += size
		return true, ""
	}
	return false, listed(values)
}

// listed tells an enumeration in words.
func listed(values []*tree) string {
	var words []string
	for i, v := range values {
		s := v.String()
		if i == maxListed || len(s) > maxRuleText {
			return fmt.Sprintf("one of %d values, such as %s", len(values), strings.Join(words, ", "))
		}
		words = append(words, s)
	}
	if len(words) == 1 {
		return "always " + words[0]
	}
	return "one of: " + strings.Join(words, ", ")
}

// sentence puts a description and notes together.
func sentence(about string, notes []string) string {
	words := strings.Join(notes, "; ")
	switch {
	case words == "":
		return about
	case about == "":
		return strings.ToUpper(words[:1]) + words[1:]
	}
	return about + " (" + words + ")"
}

// about is the description of a shape. A title is one if it tells more than the name does.
func (s *shape) words(name string) string {
	if s.about != "" {
		return s.about
	}
	plain := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, s)
	}
	if plain(s.title) == plain(name) {
		return ""
	}
	return s.title
}

// bounds tells the limits of a number, a text or a list in words: between 1 and 20 characters.
func bounds(low, high, what string) string {
	switch {
	case low != "" && low == high:
		return strings.TrimSpace("exactly " + low + " " + what)
	case low != "" && high != "":
		return strings.TrimSpace("between " + low + " and " + high + " " + what)
	case low != "":
		return strings.TrimSpace("at least " + low + " " + what)
	case high != "":
		return strings.TrimSpace("at most " + high + " " + what)
	}
	return ""
}

// defaultWords tells a default, unless it is the one that goes without saying or too long.
func defaultWords(v *tree) string {
	if v == nil || v.kind == kindNull {
		return ""
	}
	if words := v.String(); len(words) <= maxRuleText {
		return "default " + words
	}
	return ""
}

func count(n int) string {
	if n < 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

func numeral(s string) *tree { return &tree{kind: kindNumber, text: s} }

// plainPattern reports whether every engine takes this regular expression: APIs check the ones they are sent, each with
// its own engine, and refuse the request over one they do not know.
func plainPattern(p string) bool {
	if len(p) > maxRuleText || strings.Contains(p, "(?") || strings.Contains(p, "[[") {
		return false
	}
	for i := 0; i < len(p); i++ {
		if p[i] != '\\' {
			continue
		}
		if i++; i == len(p) {
			return false
		}
		c := p[i]
		letter := (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c >= 0x80
		if letter && !strings.ContainsRune("dDsSwWbBfnrtv", rune(c)) {
			return false
		}
	}
	_, err := regexp.Compile(p)
	return err == nil
}
