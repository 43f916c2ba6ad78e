package secrets

import "strings"

const (
	sectionLines = 16   // so many lines above a setting its section is looked for
	sectionReach = 1024 // and so many bytes
)

// inSection: the line of this place belongs to a section of settings: nothing but
// settings, comments and empty lines stand between it and a line such as
// [section], so that a word behind the sign is a value and no variable.
func (h *textScan) inSection(at int) bool {
	t := h.text
	line := max(0, at-identReach-valueReach/8)
	end := line + strings.LastIndexByte(t[line:at], '\n') // a longer line is none of settings
	if end < line {
		return false
	}
	for n := 0; end > 0 && n < sectionLines && at-end < sectionReach; n++ {
		from := strings.LastIndexByte(t[max(0, end-sectionReach):end], '\n') + 1
		if from > 0 {
			from += max(0, end-sectionReach)
		} else if end > sectionReach {
			return false
		}
		above := strings.TrimSpace(t[from:end])
		switch {
		case above == "" || above[0] == '#' || above[0] == ';':
		case above[0] == '[':
			return above[len(above)-1] == ']' && len(above) > 2 && !strings.ContainsAny(above, "\"'(){},=")
		case !strings.ContainsAny(above, "=:") || strings.ContainsAny(above, "(){};"):
			return false
		}
		end = from - 1
	}
	return false
}

// lineOfItsOwn: nothing but this name and a value in quotes stands on its line, as
// in a file of Gradle, or the name is defined: #define NAME "value".
func (h *textScan) lineOfItsOwn(id ident, at int) bool {
	t := h.text
	if at >= len(t) || !quoteByte(t[at]) {
		return false
	}
	from := beginOf(t, id.from, id.from, func(c byte) bool { return c == ' ' || c == '\t' })
	if defined := strings.HasSuffix(t[:from], "#define"); !defined && from > 0 && t[from-1] != '\n' {
		return false
	}
	v := h.valueAt(at, opSpace, true)
	return v.quoted && v.to < len(t) && t[v.to] == t[at] && aloneOnLine(t, v.to+1)
}

// skipDeclaration goes over what may stand between a name and its sign: the size of an
// array, and the accessors of a property.
func (h *textScan) skipDeclaration(i int) int {
	t := h.text
	if i < len(t) && t[i] == '[' {
		n := endOf(t, i+1, 5, digit)
		if n+1 < len(t) && t[n] == ']' && (t[n+1] == ' ' || t[n+1] == '=') {
			return n + 1
		}
		return i
	}
	if at := skipBlanks(t, i); at < len(t) && t[at] == '{' && strings.HasPrefix(t[skipBlanks(t, at+1):], "get;") {
		if end := strings.IndexByte(t[at:min(len(t), at+64)], '}'); end > 0 {
			return at + end + 1
		}
	}
	return i
}

// shellDefault gives where the value begins that a shell takes if the variable of this
// name is not set: ${NAME:-value}. It gives -1 if that is none or another variable.
func (h *textScan) shellDefault(id ident) (at int, ok bool) {
	t, i := h.text, id.to
	if id.from < 2 || t[id.from-1] != '{' || t[id.from-2] != '$' || i+1 >= len(t) {
		return 0, false
	}
	if t[i] == ':' {
		i++
	}
	if t[i] != '-' && t[i] != '=' {
		return 0, false
	}
	if i+1 >= len(t) || t[i+1] == '}' || t[i+1] == '$' {
		return -1, true
	}
	return i + 1, true
}

// trimExpansion ends a value without quotes where what it stands in is closed.
func (h *textScan) trimExpansion(v *value, id ident) {
	if v.quoted || id.from < 2 || h.text[id.from-1] != '{' || h.text[id.from-2] != '$' {
		return
	}
	if end := strings.IndexByte(h.text[v.from:v.to], '}'); end >= 0 {
		v.to = v.from + end
	}
	v.setting, v.word = true, true
}

// comparedBefore looks for the text that a name is compared with, where that
// stands before it: "value" == name.
func (h *textScan) comparedBefore(id ident) value {
	t, i := h.text, id.from
	i = beginOf(t, i, i, func(c byte) bool { return c == '$' || c == '(' || c == '@' })
	for i > 0 && t[i-1] == ' ' && id.from-i < 4 {
		i--
	}
	if i < id.from && t[i] == '(' {
		for _, word := range [...]string{".equals", ".equalsIgnoreCase", ".contentEquals", ".Equals"} {
			if strings.HasSuffix(t[max(0, i-len(word)):i], word) {
				return textBefore(t, i-len(word))
			}
		}
	}
	sign := i
	i = beginOf(t, i, 3, func(c byte) bool { return c == '=' || c == '!' })
	if sign-i < 2 || t[sign-1] != '=' {
		return value{}
	}
	for i > 0 && t[i-1] == ' ' && sign-i < 8 {
		i--
	}
	return textBefore(t, i)
}

// textBefore gives the text in quotes that ends here.
func textBefore(t string, i int) value {
	if i < 2 || !quoteByte(t[i-1]) {
		return value{}
	}
	from := beginOf(t, i-1, nearMost-1, func(c byte) bool { return c != t[i-1] && c != '\n' })
	if from == 0 || t[from-1] != t[i-1] {
		return value{}
	}
	return value{from: from, to: i - 1, quoted: true, compared: true}
}
