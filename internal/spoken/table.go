package spoken

import (
	"embed"
	"slices"
	"strings"
)

// English is the language of what has no other.
const English = "en"

//go:embed sentences/*.txt
var sentences embed.FS

// Languages lists the languages of the table, in alphabetical order.
func Languages() []string {
	files, err := sentences.ReadDir("sentences")
	if err != nil {
		return []string{English} // cannot be: it is a part of the program
	}
	var list []string
	for _, f := range files {
		list = append(list, strings.TrimSuffix(f.Name(), ".txt"))
	}
	return list
}

// Knows reports whether the table has a language, which may be a tag such as de-AT.
func Knows(tag string) bool { return slices.Contains(Languages(), base(tag)) }

// Language is the first of some tags (de-DE, en_US, DE) whose language the table
// has; English if it has none of them.
func Language(tags ...string) string {
	for _, tag := range tags {
		if Knows(tag) {
			return base(tag)
		}
	}
	return English
}

// base is the language of a tag: what stands before its first - or _.
func base(tag string) string {
	const longest = 64 // a tag comes from a message: it may be anything
	tag = strings.ToLower(strings.TrimSpace(tag[:min(len(tag), longest)]))
	if i := strings.IndexAny(tag, "-_"); i >= 0 {
		tag = tag[:i]
	}
	return tag
}

// tableOf reads the table of a language that there is.
func tableOf(lang string) map[Key]string {
	text, err := sentences.ReadFile("sentences/" + lang + ".txt")
	if err != nil {
		return nil // cannot be: Language gives only those that are there
	}
	table, _ := parseTable(string(text))
	return table
}

// parseTable reads the lines of a table, and gives those that are none.
func parseTable(text string) (table map[Key]string, bad []string) {
	table = map[Key]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, form, ok := strings.Cut(line, " = ")
		key, form = strings.TrimSpace(key), strings.TrimSpace(form)
		if _, twice := table[Key(key)]; !ok || key == "" || form == "" || twice {
			bad = append(bad, line)
			continue
		}
		table[Key(key)] = form
	}
	return table, bad
}
