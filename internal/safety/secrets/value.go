package secrets

import (
	"encoding/base64"
	"math"
	"strings"
)

// composition is what a text is made of.
type composition struct {
	lower, upper, digit, other int
	distinct                   int
	bits                       float64 // entropy per byte, Shannon's
	run                        int     // the longest row of one byte
	hex                        bool    // nothing but hex digits
	space                      bool
	kebab                      bool // words of letters with - _ . or / between them
}

func compositionOf(s string) composition {
	var m composition
	var count [256]uint16
	row := 0
	m.hex, m.kebab = true, true
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			m.digit++
		case c >= 'a' && c <= 'z':
			m.lower++
			m.hex = m.hex && c <= 'f'
		case c >= 'A' && c <= 'Z':
			m.upper++
			m.hex = m.hex && c <= 'F'
		default:
			m.other++
			m.hex = false
			m.space = m.space || c <= ' '
			if c != '-' && c != '_' && c != '.' && c != '/' && c != ':' {
				m.kebab = false
			}
		}
		if count[c]++; count[c] == 1 {
			m.distinct++
		}
		if i > 0 && s[i-1] == c {
			row++
		} else {
			row = 1
		}
		m.run = max(m.run, row)
	}
	m.kebab = m.kebab && m.digit == 0
	m.bits = entropy(s, &count)
	return m
}

// entropy is Shannon's, in bits per byte; it uses the counts up.
func entropy(s string, count *[256]uint16) float64 {
	sum := 0.0
	for i := range len(s) {
		switch n := count[s[i]]; n {
		case 0, 1: // one times the logarithm of one
		case 2:
			sum += 2
		case 3:
			sum += 3 * 1.584962500721156
		case 4:
			sum += 8
		default:
			sum += float64(n) * math.Log2(float64(n))
		}
		count[s[i]] = 0
	}
	if s == "" {
		return 0
	}
	n := float64(len(s))
	return math.Log2(n) - sum/n
}

func (m composition) letters() int { return m.lower + m.upper }

// wordy reports whether a text is put together from words, as names in source
// code are, rather than from random letters: most of its letters stand in
// stretches that can be pronounced.
func wordy(s string) bool {
	letters, spoken, turns := 0, 0, 0
	for i := 0; i < len(s); {
		if !letter(s[i]) {
			if i > 0 && digit(s[i]) && letter(s[i-1]) {
				if turns++; turns > 2 {
					return false // names do not go to and fro
				}
			}
			i++
			continue
		}
		// A stretch is letters of one case, the first may be a capital.
		from := i
		for i++; i < len(s) && letter(s[i]) && (upper(s[i]) == upper(s[i-1]) || i == from+1 && upper(s[from])); {
			i++
		}
		letters += i - from
		if pronounceable(s[from:i]) {
			spoken += i - from
		}
	}
	return spoken >= 4 && 4*spoken >= 3*letters && 3*letters >= 2*len(s)
}

// pronounceable: at least three letters with vowels among them, and never four
// consonants or three vowels in a row.
func pronounceable(s string) bool {
	vowels, row, kind := 0, 0, false
	for i := range len(s) {
		v := false
		switch lower(s[i]) {
		case 'a', 'e', 'i', 'o', 'u', 'y':
			v = true
			vowels++
		}
		if v != kind {
			kind, row = v, 0
		}
		if row++; row > 3 || v && row > 2 {
			return false
		}
	}
	return len(s) >= 3 && 6*vowels >= len(s) && 4*vowels <= 3*len(s)
}

func containsFold(s, word string) bool {
	return indexFold(s, word) >= 0
}

// fileLike: a path, an address or the name of a file is no secret itself.
func fileLike(s string) bool {
	if strings.Contains(s, "://") || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") || strings.HasPrefix(s, "~/") || strings.HasPrefix(s, `C:\`) || strings.HasPrefix(s, "//") {
		return true
	}
	if s[0] == '/' && (strings.Count(s, "/") > 1 || compositionOf(s).digit == 0) && !strings.ContainsAny(s, "+=") {
		return true
	}
	if dot := strings.LastIndexByte(s, '.'); dot > 0 {
		switch strings.ToLower(s[dot+1:]) {
		case "pem", "key", "crt", "cer", "p12", "pfx", "jks", "json", "yaml", "yml", "txt", "xml", "js", "ts", "tsx", "jsx", "py", "go", "rb", "php", "java", "html", "css", "md", "sh", "env", "conf", "cfg", "ini", "log", "com", "org", "net", "io", "dev", "local", "png", "svg", "jpg", "value", "text", "password", "token", "secret", "length", "test", "vue", "rs", "cs", "c", "h", "sql", "lock", "toml", "pub":
			return true
		}
	}
	return false
}

// userAndPassword reports whether a text is the base64 of a name, a colon and a
// password.
func userAndPassword(s string) bool {
	s = strings.TrimRight(s, "=")
	if len(s) < 8 || len(s) > 512 || len(s)%4 == 1 {
		return false
	}
	enc := base64.RawStdEncoding
	if strings.ContainsAny(s, "-_") {
		enc = base64.RawURLEncoding
	}
	text, err := enc.DecodeString(s)
	if err != nil || !readable(text) {
		return false
	}
	colon := strings.IndexByte(string(text), ':')
	return colon > 0 && colon < len(text)-2 && strings.IndexByte(string(text), ' ') < 0
}

// uuidShaped: 8-4-4-4-12 hex digits.
func uuidShaped(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (s[i] == '-') || !dash && !hexDigit(s[i]) {
			return false
		}
	}
	return true
}

// documented: manuals show a key like this, with EXAMPLE or a row of x or of zeros in the place
// of what is random. No key has either by chance. What Amazon's examples end with counts at their
// length alone, and few letters may stand beside the row, so that nobody hides a key behind them.
func documented(s string) bool {
	switch n := len(s); {
	case n == 16 || n == 20: // an access key, without and with what it begins with
		if strings.HasSuffix(s, "EXAMPLE") {
			return true
		}
	case n == 40: // a secret key
		if strings.HasSuffix(s, "EXAMPLEKEY") {
			return true
		}
	}
	row := max(strings.Count(s, "x")+strings.Count(s, "X"), strings.Count(s, "0"))
	return row >= 8 && len(s)-row-strings.Count(s, "-")-strings.Count(s, "_") <= 8 && 2*row >= len(s)
}

// tellingLeast is how much a form must begin with for its keys to be believed
// whatever follows: even a row of one letter.
const tellingLeast = 5

// genuine: a key that is told by its form is one unless it is written out as a
// placeholder. A form that nothing else has, by the length of what it begins
// with, is believed sooner.
func genuine(f *form, match string) bool {
	variable := f.variable(match)
	m := compositionOf(variable)
	if documented(variable) || containsAnyFold(variable, "your_", "your-", "yourkey", "yourtoken", "redacted", "changeme", "_here", "-here", "...") {
		return false
	}
	if f.telling && f.marked {
		// Nobody is hurt if an example is hidden whose form nothing else has.
		return m.digit+m.upper > 0 || m.other == 0 || f.parted || !wordy(variable)
	}
	if containsFold(variable, "xxxxx") || containsFold(variable, "placeholder") {
		return false
	}
	if f.telling && len(f.pieces[0].text) >= tellingLeast {
		return m.digit+m.upper > 0 || !wordy(variable)
	}
	if f.telling {
		return (m.run < 12 || m.run*2 < len(variable)) && (m.digit > 0 || m.upper > 0) && m.distinct > 1 || m.upper == len(variable) && len(variable) == 16 && variable[0] != 'X'
	}
	if m.letters() == 0 || m.distinct < 5 || m.run > 5 && !f.parted || containsFold(variable, "example") || m.other > 0 && wordy(variable) {
		return false
	}
	if m.digit == 0 && (m.upper == 0 || m.lower == 0 || m.kebab && m.other > 1) {
		return m.other == 0 && !wordy(variable) && len(variable) > 12
	}
	return true
}
