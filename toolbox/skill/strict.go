package skill

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Check is what there is to say about the text of one skill.
type Check struct {
	Skill Skill
	// Strict is what the written format of skills does not allow. Other programs may
	// leave the skill out for it.
	Strict []string
	// Notes is what was odd and mended, or worked round, here.
	Notes []string
	// Needs is what this machine lacks for it; empty: nothing.
	Needs string
	// Err says why it is left out here; nil: it is not.
	Err error
}

// Validate reads the text of a SKILL.md that lies in a folder of a name. Nothing is kept.
func (b *Box) Validate(folder string, text []byte) Check {
	c := Check{Skill: Skill{dir: folder, file: spelling()[0]}}
	c.Strict = b.strict(folder, text)
	c.Notes, c.Err = b.describe(&c.Skill, text)
	if c.Err == nil {
		c.Needs = c.Skill.Gate.Needs(b.needs.Machine)
	}
	return c
}

// Seen is all that one look at the places found.
type Seen struct {
	Skills  []Skill
	Skipped []Skipped // they look like skills and are none
	Gated   []Skipped // they need what is not there
	Odd     []Skipped // they are there, and something about them is odd
	// Trusted are the names of those that are instructions.
	Trusted map[string]bool
}

// Look looks at all places.
func (b *Box) Look(ctx context.Context) (Seen, error) {
	found, err := b.scanPlaces(ctx)
	if err != nil {
		return Seen{}, err
	}
	seen := Seen{found.skills, found.skipped, found.gated, found.odd, map[string]bool{}}
	for _, s := range found.skills {
		seen.Trusted[s.Name] = b.Trusted(s)
	}
	return seen, nil
}

// formatFields are the fields of the format; everything else belongs into metadata.
func formatFields() []string {
	return []string{"allowed-tools", "compatibility", "description", "license", "metadata", "name"}
}

// strict holds a text against the written format.
func (b *Box) strict(folder string, text []byte) (wrong []string) {
	front, _, err := split(text)
	if err != nil {
		return []string{err.Error()}
	}
	if front == nil {
		return []string{noFront}
	}
	if !strings.HasPrefix(string(text), "---") {
		wrong = append(wrong, "the file does not begin with its front matter")
	}
	var fields map[string]any
	err = errors.New("nothing reads YAML here")
	if b.needs.YAML != nil {
		err = b.needs.YAML(front, &fields)
	}
	if err != nil {
		return append(wrong, "the front matter is no YAML: "+line(err.Error(), 300))
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(formatFields(), key) {
			wrong = append(wrong, fmt.Sprintf("%s is no field of the format; it belongs into metadata", line(key, 80)))
		}
	}
	wrong = append(wrong, strictName(fields["name"], folder)...)
	for _, of := range []struct {
		key      string
		most     int
		required bool
	}{{"description", 1024, true}, {"compatibility", 500, false}, {"license", 0, false}, {"allowed-tools", 0, false}} {
		value, there := fields[of.key]
		said, isText := value.(string)
		n := utf8.RuneCountInString(strings.TrimSpace(said))
		switch {
		case !there && of.required:
			wrong = append(wrong, of.key+" is missing")
		case !there:
		case !isText:
			wrong = append(wrong, of.key+" is no text")
		case n == 0:
			wrong = append(wrong, of.key+" is empty")
		case of.most > 0 && n > of.most:
			wrong = append(wrong, fmt.Sprintf("%s has %d letters; at most %d are allowed", of.key, n, of.most))
		}
	}
	if value, there := fields["metadata"]; there {
		inner, ok := value.(map[string]any)
		if !ok {
			wrong = append(wrong, "metadata has no keys")
		}
		for _, key := range slices.Sorted(maps.Keys(inner)) {
			if _, isText := inner[key].(string); !isText {
				wrong = append(wrong, fmt.Sprintf("metadata.%s is no text", line(key, 80)))
			}
		}
	}
	return wrong
}

// strictName holds a name against the format: small letters, digits and single dashes,
// and the same as its folder's.
func strictName(value any, folder string) (wrong []string) {
	name, isText := value.(string)
	name = strings.TrimSpace(name)
	switch {
	case value == nil:
		return []string{"name is missing"}
	case !isText:
		return []string{"name is no text"}
	case name == "":
		return []string{"name is empty"}
	}
	if n := utf8.RuneCountInString(name); n > 64 {
		wrong = append(wrong, fmt.Sprintf("name has %d letters; at most 64 are allowed", n))
	}
	odd := func(r rune) bool {
		return r != '-' && !unicode.IsDigit(r) && (!unicode.IsLetter(r) || unicode.ToLower(r) != r)
	}
	switch {
	case strings.ContainsFunc(name, odd):
		wrong = append(wrong, "name has other signs than small letters, digits and -")
	case strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-") || strings.Contains(name, "--"):
		wrong = append(wrong, "name has a - at an end, or two in a row")
	}
	if folder != "" && folder != "." && folder != name {
		wrong = append(wrong, fmt.Sprintf("name is not that of its folder, %s", line(folder, 80)))
	}
	return wrong
}

// NameProblem says what is wrong with a name for a new skill; empty: nothing is.
func NameProblem(name string) string { return strings.Join(strictName(name, name), "; ") }
