package secrets

import "strings"

const (
	ruleDirective = "directive-password"

	directiveWords = 8 // so many words of a line are looked at
)

// directiveForm is how a line goes on behind its name.
type directiveForm struct {
	place int  // which word the password is
	words int  // how many words the line has at most; a sentence that begins with the name has more
	flags bool // words such as -V, and what follows them, may stand there
	host  bool // the first word is a host, so that one that looks like a host tells a line from a sentence
}

// directives are lines of configuration files that name a password and nothing else: those of LDAP
// and SNMP. A network, a right or a remark may follow, except behind bindpw, which many sentences
// are about.
func directives() map[string]directiveForm {
	community, source := directiveForm{place: 1, words: 3, flags: true}, directiveForm{place: 3, words: 5, flags: true}
	sink := directiveForm{place: 2, words: 3, flags: true, host: true}
	return map[string]directiveForm{
		"bindpw": {place: 1, words: 1}, "rootpw": {place: 1, words: 3},
		"rocommunity": community, "rwcommunity": community, "rocommunity6": community, "rwcommunity6": community, "trapcommunity": community, "snmp-server community": community,
		"com2sec": source, "com2sec6": source,
		"trapsink": sink, "trap2sink": sink, "informsink": sink,
	}
}

// directive looks at the password in such a line.
func (h *textScan) directive(begin, end int, form directiveForm) {
	t := h.text
	if end >= len(t) || t[end] != ' ' && t[end] != '\t' && !strings.HasPrefix(t[end:], `\t`) {
		return
	}
	before, inString := lineBefore(t, begin)
	lead := leadOf(before)
	if inString && lead == leadLine && strings.HasPrefix(before, " ") && strings.HasSuffix(before, " ") && strings.TrimLeft(before[1:], "+-<>!") == " " {
		lead = leadMaybe // the quote may be the end of a string rather than its beginning
	}
	if lead == leadNone {
		return
	}
	line := lineWithin(t, end, programReach)
	if inString { // it ends with the string or has more lines
		for strings.HasPrefix(line, `\t`) {
			end, line = end+2, line[2:]
		}
		if n := strings.IndexAny(line, "\"\\"); n >= 0 {
			line = line[:n]
		}
	}
	words, n := form.wordsOf(line)
	if n < form.place || n > form.words {
		return
	}
	if host := line[words[0].from:words[0].to]; form.host && host != "localhost" && !strings.ContainsAny(host, ".:0123456789") {
		lead = leadMaybe
	}
	word := line[words[form.place-1].from:words[form.place-1].to]
	text := strings.Trim(word, "\"'")
	switch strings.ToLower(text) {
	case "public", "private", "secret", "password", "community", "string": // they are in every manual
		return
	}
	if len(text) < 4 || text[0] == '-' || h.placeholder(text) || fileLike(text) {
		return
	}
	from := end + words[form.place-1].from + strings.Index(word, text)
	if lead == leadMaybe && (!h.readsRandom(from) || compositionOf(text).digit < 2) {
		return
	}
	h.add(from, from+len(text), ruleDirective)
}

// wordPlace is where a word stands in a line.
type wordPlace struct{ from, to int }

// wordsOf gives the words of a line up to a remark, and how many there are, without the flags that
// SNMP has.
func (f *directiveForm) wordsOf(line string) (words [directiveWords]wordPlace, n int) {
	blank := func(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }
	for at := 0; n < directiveWords; {
		from := endOf(line, at, len(line), blank)
		at = endOf(line, from, len(line), func(c byte) bool { return !blank(c) })
		switch {
		case from == at, n > 0 && line[from] == '#':
			return words, n
		case line[from] == '[' && strings.IndexByte(line[from:at], ':') < 0:
			return words, 0 // a manual says what may stand here
		case f.flags && line[from] == '-' && at-from > 1 && letter(line[from+1]):
			if n >= f.place {
				return words, n // nothing but flags follows
			}
			from = endOf(line, at, len(line), blank)
			at = endOf(line, from, len(line), func(c byte) bool { return !blank(c) })
		default:
			words[n] = wordPlace{from, at}
			n++
		}
	}
	return words, n
}
