package voice

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/spoken"
	"github.com/toolcrib/toolcrib/internal/text"
)

// maxSentence is the longest that is said at once, in letters: a person can stop it
// between two.
const maxSentence = 300

// head is the beginning of a text that is too long for one sentence, up to a comma or
// a blank.
func head(clean string) string {
	most, n := 0, 0
	for i := range clean {
		if n == maxSentence {
			break
		}
		most, n = i, n+1
	}
	cut := clean[:most]
	for _, sign := range []string{", ", "; ", ": ", " "} {
		if i := strings.LastIndex(cut, sign); i > len(cut)/3 {
			return clean[:i+1]
		}
	}
	return cut
}

// finish makes a text one that a voice ends well; empty: there is nothing to say.
func finish(part string) string {
	part = strings.TrimRight(strings.TrimSpace(part), ",;:- ")
	part = strings.TrimLeft(part, ",;:.!?)- ")
	if !strings.ContainsFunc(part, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return ""
	}
	if last, _ := utf8.DecodeLastRuneInString(part); !strings.ContainsRune(".!?…", last) {
		part += "."
	}
	return part
}

// clean takes from a piece of text what is not for a voice.
func (s *Speech) clean(raw string) string {
	raw = strings.ToValidUTF8(raw, "")
	raw = untag(unlink(raw))
	raw = unquote(raw)
	var words []string
	for word := range strings.FieldsSeq(raw) {
		if word = s.word(word); word != "" {
			words = append(words, word)
		}
	}
	out := strings.Join(words, " ")
	for _, gap := range []string{" ,", " .", " !", " ?", " ;", " :"} {
		out = strings.ReplaceAll(out, gap, gap[1:])
	}
	return strings.TrimSpace(out)
}

// unlink leaves of links and pictures what they are called.
func unlink(raw string) string {
	for from := 0; ; {
		i := strings.Index(raw[from:], "](")
		if i < 0 {
			return strings.NewReplacer("[", "", "]", "").Replace(raw)
		}
		i += from
		end := strings.IndexByte(raw[i:], ')')
		if end < 0 {
			from = i + 2
			continue
		}
		raw = raw[:i] + raw[i+end+1:]
		from = i
	}
}

// untag takes HTML's tags out.
func untag(raw string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(raw, '<')
		if i < 0 || i+1 >= len(raw) {
			break
		}
		end := strings.IndexAny(raw[i+1:], "<>")
		if c := raw[i+1]; (c == '/' || c >= 'a' && c <= 'z') && end > 0 && raw[i+1+end] == '>' {
			b.WriteString(raw[:i])
			raw = raw[i+end+2:]
			continue
		}
		b.WriteString(raw[:i+1])
		raw = raw[i+1:]
	}
	b.WriteString(raw)
	return b.String()
}

// unquote makes words of what stands between backticks, if it is any.
func unquote(raw string) string {
	if !strings.Contains(raw, "`") {
		return raw
	}
	var b strings.Builder
	for i, part := range strings.Split(raw, "`") {
		if i%2 == 1 && strings.ContainsAny(part, "(){}[];=<>$\\|&*/#\"'@^~") {
			part = spoken.Plain(part)
		}
		b.WriteString(part)
	}
	return b.String()
}

// word is a word as it can be said; empty: not at all.
func (s *Speech) word(word string) string {
	bare := strings.Trim(word, `.,;:!?"'()*_<>`)
	switch {
	case strings.Contains(word, "://") || strings.HasPrefix(strings.ToLower(bare), "www."):
		return linkWord(s.lang) + ending(word)
	case isID(bare):
		return ending(word)
	case len(bare) > 1 && (bare[0] == '/' || strings.HasPrefix(bare, "~/") || strings.HasPrefix(bare, "./")) || strings.Count(bare, "/") > 2:
		bare = strings.TrimRight(bare, "/")
		word = bare[strings.LastIndexByte(bare, '/')+1:] + ending(word)
	}
	var b strings.Builder
	for i, r := range word {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r):
			b.WriteRune(r)
		case text.Invisible(r) || r < ' ':
		case strings.ContainsRune(".,;:!?…'’%€$£°+=&@/-–", r):
			b.WriteRune(r)
		case r == '"' || r == '“' || r == '”' || r == '„' || r == '«' || r == '»':
		case r == '(' || r == ')':
			if i > 0 && i < len(word)-1 {
				b.WriteByte(' ')
			}
		case r == '_' || r == '\\':
			b.WriteByte(' ')
		case r == '−':
			b.WriteByte('-')
		case r == '*' && len(word) == 1:
			b.WriteRune('×')
		case r == '×':
			b.WriteRune(r)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// ending is the sign that ends a word: it ends the sentence too.
func ending(word string) string {
	if word != "" && strings.IndexByte(".,;:!?", word[len(word)-1]) >= 0 {
		return word[len(word)-1:]
	}
	return ""
}

func linkWord(lang string) string {
	if lang == "de" {
		return "ein Link"
	}
	return "a link"
}

// isID reports whether a word is one that only machines read: a hash, a key.
func isID(word string) bool {
	letters, numbers := 0, 0
	for _, r := range word {
		switch {
		case r >= '0' && r <= '9':
			numbers++
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			letters++
		case r != '-' && r != '_':
			return false
		}
	}
	return letters+numbers >= 12 && letters > 0 && numbers > 2
}
