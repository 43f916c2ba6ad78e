package config

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// apart says what the entries of a list never have within, so that one that has it is taken for
// several that somebody wrote with another sign between them than a comma. As one entry they
// would take away or protect nothing, in silence. The zero value: entries may have anything.
type apart string

const (
	apartNone   apart = ""
	apartNames  apart = "names"  // names of tools and the like, and patterns of them
	apartPlaces apart = "places" // names of files: one with a blank in it has to be in quotes, in brackets
)

// apart reads what stands between entries.
func (b *builder) apart(f *field, tag reflect.StructTag) {
	text, ok := tag.Lookup("entries")
	if !ok {
		return
	}
	if f.apart = apart(text); f.apart != apartNames && f.apart != apartPlaces || f.kind != kindList || f.elem.kind != kindText {
		b.fail(f.key, "entries tag %q on %v: only names and places are known, on a list of texts", text, f.typ)
	}
}

// check refuses a list with such an entry. Who means it so puts it in quotes, in brackets.
func (a apart) check(list *yaml.Node, brackets bool) error {
	if a == apartNone {
		return nil
	}
	var errs []error
	for i, n := range list.Content {
		if n.Kind != yaml.ScalarNode || brackets && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
			continue
		}
		one := "['" + strings.ReplaceAll(n.Value, "'", "''") + "']"
		if plain, why := a.odd(n.Value); why != "" {
			errs = append(errs, fmt.Errorf("element %d, %q, %s: write %s, or %s if the name has it", i+1, n.Value, why, plain, one))
		} else if parts := a.parts(n.Value); len(parts) > 1 {
			errs = append(errs, fmt.Errorf("element %d, %q, may be %d entries: write %s for these, or %s for one", i+1, n.Value, len(parts), strings.Join(parts, ","), one))
		}
	}
	return errors.Join(errs...)
}

// parts are the entries that one may be meant for.
func (a apart) parts(entry string) []string {
	word, rest, colon := strings.Cut(entry, ":")
	switch {
	case !colon:
	case a == apartNames && (word == "group" || word == "box" || word == "effect" || word == "effects"):
		return a.parts(rest) // of the words that a selector begins with
	case a == apartPlaces && (word == "key" || onDrive(entry)):
		return a.parts(rest)
	}
	between := ";:"
	if a == apartPlaces {
		between += "|&"
	}
	return strings.FieldsFunc(entry, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(between, r) })
}

// odd says what in the name of a place only a shell would understand, or a program that takes
// a backslash for a slash, and how the place is written without it. Nothing here does, so that
// such an entry would protect a name that no file has.
func (a apart) odd(entry string) (plain, why string) {
	place := strings.TrimPrefix(entry, "key:")
	switch {
	case a != apartPlaces || onDrive(place):
	case strings.ContainsAny(place, "$`"):
		return "the place that it stands for", "has a sign of a shell, which nothing replaces here"
	case strings.ContainsAny(strings.Trim(entry, "()|&"), "()"):
		return "the name without it", "has a sign of a shell in it"
	case strings.Trim(entry, "()|&") != entry:
		return strings.Trim(entry, "()|&"), "has a sign of a shell in it"
	case strings.Contains(place, `\`):
		return strings.ReplaceAll(entry, `\`, "/"), "has a backslash, which is no slash here"
	}
	return "", ""
}

// onDrive reports whether a place is a whole path of Windows, in which a colon and backslashes
// have their place.
func onDrive(place string) bool {
	return len(place) > 2 && place[1] == ':' && unicode.IsLetter(rune(place[0])) && (place[2] == '/' || place[2] == '\\')
}
