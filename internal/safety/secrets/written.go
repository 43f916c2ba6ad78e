package secrets

import "strings"

func quoteByte(c byte) bool { return c == '"' || c == '\'' || c == '`' }

func skipBlanks(t string, i int) int {
	return endOf(t, i, 64, func(c byte) bool { return c == ' ' || c == '\t' })
}

func skipSpaces(t string, i int) int {
	return endOf(t, i, 64, space)
}

// value is where a value stands and how it is written.
type value struct {
	from, to int
	quoted   bool
	setting  bool // on a line of settings
	tight    bool // no space around the sign
	linked   bool // in a connection string
	word     bool // one word of a command line
	sure     bool // its name can have nothing but a secret
	line     bool // without quotes, up to the end of its line
	more     int  // it goes on up to here, in further lines
	compared bool // the name is compared with it
}

const valueReach = 2048

// valueAt gives the bounds of the value that begins here.
func (h *textScan) valueAt(i int, op operator, setting bool) value {
	t := h.text
	v := value{from: i, to: i, setting: setting}
	if i >= len(t) {
		return v
	}
	if op == opTag {
		v.from = skipSpaces(t, i)
		if strings.HasPrefix(t[v.from:], "<![CDATA[") {
			v.from += len("<![CDATA[")
		}
		v.quoted, v.setting = true, true
		v.to = endOf(t, v.from, valueReach, func(c byte) bool { return c != '<' && !space(c) && c != ']' })
		end := v.to
		if next := skipSpaces(t, end); end-v.from >= derLine && next < len(t) && pemByte(t[next]) {
			end = derEnd(t, end)
			v.more = end
		}
		if end = skipSpaces(t, end); end >= len(t) || !strings.HasPrefix(t[end:], "</") && !strings.HasPrefix(t[end:], "]]>") {
			v.to = v.from
		}
		return v
	}
	if strings.IndexByte("uUbBrRfLN@$", t[i]) >= 0 && i+1 < len(t) && quoteByte(t[i+1]) {
		i++
	}
	if q := quoteAt(t, i); q != "" {
		v.from, v.quoted = i+len(q), true
		v.to = v.from
		for v.to < len(t) && v.to-v.from < valueReach {
			if strings.HasPrefix(t[v.to:], q) {
				return v
			}
			if t[v.to] == '\n' && len(q) != 3 {
				break
			}
			if t[v.to] == '\\' && len(q) == 1 {
				v.to++
			}
			v.to++
		}
		v.quoted = setting // it is not closed
		v.to = endOf(t, v.from, valueReach, func(c byte) bool { return !space(c) && strings.IndexByte("\"'`<>,;)", c) < 0 })
		return v
	}
	v.to = endOf(t, v.from, valueReach, func(c byte) bool { return !endsWord(c, setting) })
	v.to = beginOf(t, v.to, v.to-v.from, func(c byte) bool { return strings.IndexByte(",;)", c) >= 0 })
	if n := strings.Index(t[v.from:v.to], "%26"); n > 0 && i > 2 && t[i-3] == '%' {
		v.to = v.from + n // the query of an address that is written in another
	}
	return v
}

// quoteAt gives the quote that a value opens with.
func quoteAt(t string, i int) string {
	switch t[i] {
	case '"', '\'':
		if i+2 < len(t) && t[i+1] == t[i] && t[i+2] == t[i] {
			return t[i : i+3]
		}
		return t[i : i+1]
	case '`':
		return "`"
	case '\\':
		if i+1 < len(t) && (t[i+1] == '"' || t[i+1] == '\'') {
			return t[i : i+2]
		}
	case '&':
		if strings.HasPrefix(t[i:], "&quot;") {
			return "&quot;"
		}
	case '%':
		if strings.HasPrefix(t[i:], "%22") {
			return "%22"
		}
	}
	return ""
}

// endsWord: a value without quotes ends here.
func endsWord(c byte, setting bool) bool {
	switch c {
	case ' ', '\t', '\n', '\r', '"', '\'', '`', '<', '\\', ';', '&':
		return true
	case ',', ')', ']', '}', '|':
		return !setting
	}
	return false
}

// skipScheme steps over the scheme before the value of a header.
func (v *value) skipScheme(t string) {
	if strings.IndexByte("aAbBtTsSkKnNdDgGoOhH", t[v.from]) < 0 {
		return
	}
	for _, scheme := range [...]string{"api-token", "api-key", "bearer", "basic", "token", "apikey", "ssws", "aws", "key", "negotiate", "digest", "ntlm", "geniekey", "bot", "oauth", "hmac", "splunk", "discogs"} {
		n := len(scheme)
		if !hasFold(t[v.from:], scheme) || v.from+n >= len(t) || t[v.from+n] != ' ' && !strings.HasPrefix(t[v.from+n:], "%20") {
			continue
		}
		rest := v.from + n + 1
		if t[v.from+n] == '%' {
			rest += 2
		}
		if v.quoted && rest < v.to {
			v.from = rest
			return
		}
		v.from, v.to = rest, endOf(t, rest, valueReach, func(c byte) bool { return !space(c) && !quoteByte(c) && strings.IndexByte("\\,;", c) < 0 })
		return
	}
}
