package shellguard

import (
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// Code of other languages can put its command together: of variables, of strings
// beside each other, by a method that changes one. The plain ways are read here;
// what is decoded or made of letters is not.

// maxBuilt bounds the code that is read in further ways.
const maxBuilt = 16 << 10

// assembledCommands walks the commands that code may make of its strings.
func (w *walker) assembledCommands(code string, sc scope) {
	if len(code) > maxBuilt {
		return
	}
	seen := quotedStrings(code)
	try := func(s string) {
		if !slices.Contains(seen, s) && strings.ContainsAny(s, " \t") && floorWord(s) && len(seen) < maxReadings {
			seen = append(seen, s)
			w.maybeScript(s, sc)
		}
	}
	set := setStrings(code)
	for _, text := range []string{code, withStrings(codeAtHome.Regexp().ReplaceAllString(code, `'~'`), set)} {
		text = withReplaced(text)
		if text != code {
			if why := codeFloor(text, sc.dirs, w.opt.Homes); why != "" {
				w.line.floor = append(w.line.floor, why)
			}
		}
		for _, joins := range []func(string) bool{joinsStrings, joinsLoosely} {
			for _, s := range quotedStringsBy(text, joins) {
				try(s)
				if codeTurns.MatchString(code) {
					try(strings.ToLower(s))
					try(reversed(s))
				}
			}
		}
	}
}

var (
	codeAtHome = pattern.Of(`(?i)process\.env\.home\b|process\.env\[\s*['"]home['"]\s*\]|os\.environ(\.get)?[\[(]\s*['"]home['"]\s*[\])]|(os\.)?getenv\(\s*['"]home['"]\s*\)|os\.path\.expanduser\(\s*['"]~['"]\s*\)|\$env\{\s*['"]?home['"]?\s*\}|env\[\s*['"]home['"]\s*\]|require\(\s*['"](node:)?os['"]\s*\)\.homedir\(\)|os\.homedir\(\)|(pathlib\.)?path\.home\(\)|dir\.home\b`)
	codeTurns  = pattern.Of(`(?i)\[::-1\]|revers|lower|\blc\b|\bdowncase`)
	codeSets   = pattern.Of(`(?:^|[^\w.$])[$@]?([A-Za-z_]\w*)\s*:?=\s*(?:"([^"\\\n]{0,200})"|'([^'\\\n]{0,200})')`)
	codeSwaps  = pattern.Of(`(?:"([^"\\]*)"|'([^'\\]*)')\.(?:replace|replaceAll|gsub|sub)\(\s*(?:"([^"\\]+)"|'([^'\\]+)')\s*,\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\)`)
)

// joinsLoosely: what stands between two strings may make one of them.
func joinsLoosely(between string) bool {
	t := strings.TrimSpace(between)
	return joinsStrings(between) || t == "" || t == ".concat(" || t == ").concat(" || t == "||" || t == "<<"
}

// setStrings are the variables that code sets to a string.
func setStrings(code string) map[string]string {
	out := map[string]string{}
	for _, m := range codeSets.Regexp().FindAllStringSubmatch(code, maxValues) {
		out[m[1]] = m[2] + m[3]
	}
	return out
}

// withStrings puts the strings in the place of the variables, also within other
// strings.
func withStrings(code string, set map[string]string) string {
	if len(set) == 0 {
		return code
	}
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(code) && b.Len() < 4*maxBuilt; i++ {
		c := code[i]
		switch {
		case c == '\\' && i+1 < len(code):
			b.WriteString(code[i : i+2])
			i++
			continue
		case quote == 0 && (c == '"' || c == '\'' || c == '`'):
			quote = c
		case quote == c:
			quote = 0
		case quote != 0 && (c == '{' || c == '$' || c == '#'):
			if v, n := interpolated(code[i:], set); n > 0 {
				b.WriteString(v)
				i += n - 1
				continue
			}
		case quote == 0 && (isNameByte(c) || c == '$') && (i == 0 || !isNameByte(code[i-1])):
			j := i + 1
			for j < len(code) && isNameByte(code[j]) {
				j++
			}
			if v, ok := set[strings.TrimPrefix(code[i:j], "$")]; ok && !strings.HasPrefix(strings.TrimLeft(code[j:], " :"), "=") && !strings.ContainsAny(v, `"\`) {
				b.WriteString(`"` + v + `"`)
				i = j - 1
				continue
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}

// interpolated is the value of {x}, ${x}, #{x} or $x at the beginning of a text,
// and how long that is.
func interpolated(text string, set map[string]string) (value string, n int) {
	i := 1
	braces := text[0] == '{'
	if !braces && i < len(text) && text[i] == '{' {
		braces = true
		i++
	}
	from := i
	for i < len(text) && isNameByte(text[i]) {
		i++
	}
	value, ok := set[text[from:i]]
	switch {
	case !ok || !braces && text[0] != '$':
		return "", 0
	case braces && (i >= len(text) || text[i] != '}'):
		return "", 0
	case braces:
		i++
	}
	return value, i
}

// withReplaced does what replace with two strings does to a third.
func withReplaced(code string) string {
	return codeSwaps.Regexp().ReplaceAllStringFunc(code, func(s string) string {
		m := codeSwaps.Regexp().FindStringSubmatch(s)
		if out := strings.ReplaceAll(m[1]+m[2], m[3]+m[4], m[5]+m[6]); !strings.Contains(out, "'") {
			return "'" + out + "'"
		}
		return s
	})
}

func reversed(s string) string {
	r := []rune(s)
	slices.Reverse(r)
	return string(r)
}
