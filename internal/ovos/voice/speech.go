package voice

import (
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/spoken"
)

// Speech makes sentences for a voice of text that is written for a screen and comes
// in pieces: each is given as soon as it is whole. Markdown is taken off, lists and
// tables become sentences, and code, links and IDs are left out. However the text is
// cut into pieces, the sentences are the same.
type Speech struct {
	lang  string
	line  string   // of which the end has not come yet
	inner bool     // line goes on with a paragraph
	fence string   // the sign that ends the code block we are in; empty: none
	code  bool     // that code is left out was said
	text  string   // a paragraph of which no end has come yet
	items []string // a list
	out   []string
}

// maxLine is how much of a line is waited for; more of it is taken as its end.
const maxLine = 8 << 10

// NewSpeech begins to listen, in a language such as de-AT.
func NewSpeech(lang string) *Speech { return &Speech{lang: spoken.Language(lang)} }

// Say gives the sentences of a whole text.
func Say(lang, text string) []string {
	s := NewSpeech(lang)
	return append(s.Add(text), s.End()...)
}

// Add takes a piece, and gives the sentences that are whole now.
func (s *Speech) Add(piece string) []string {
	for piece != "" {
		part, ends := piece, false
		if i := strings.IndexByte(piece, '\n'); i >= 0 {
			part, ends = piece[:i], true
		}
		rest := piece[len(part):]
		if room := maxLine - len(s.line); len(part) > room && !s.inner && (s.fence != "" || !beginsParagraph(s.line+part)) {
			part, rest, ends = part[:room], piece[room:], true // by bytes: where pieces end must not matter
		} else if ends {
			rest = rest[1:]
		}
		piece = rest
		s.line += part
		s.peek()
		if ends {
			s.endLine()
		}
	}
	return s.take()
}

// End takes what is left.
func (s *Speech) End() []string {
	if s.line != "" || s.inner {
		s.endLine()
	}
	s.flush()
	s.fence, s.inner = "", false
	return s.take()
}

func (s *Speech) take() []string {
	out := s.out
	s.out = nil
	return out
}

// peek looks at a line whose end need not have come: a paragraph is said as it comes.
func (s *Speech) peek() {
	if s.fence != "" || !s.inner && !beginsParagraph(s.line) {
		return
	}
	if !s.inner {
		s.flushItems()
	}
	s.text += s.line
	s.line, s.inner = "", true
	s.cut()
}

// endLine takes a whole line.
func (s *Speech) endLine() {
	line, inner := s.line, s.inner
	s.line, s.inner = "", false
	if inner {
		s.text += " "
		s.cut()
		return
	}
	kind, rest := lineKind(line)
	if s.fence != "" {
		if kind == fenceLine && strings.HasPrefix(rest, s.fence) {
			s.fence = ""
		}
		return
	}
	if kind != itemLine && (kind != moreLine || len(s.items) == 0) {
		s.flushItems()
	}
	switch kind {
	case fenceLine:
		s.flush()
		s.fence = rest[:3]
		if !s.code {
			s.code = true
			s.out = append(s.out, spoken.Say(s.lang, spoken.CodeLeftOut))
		}
	case emptyLine:
		s.flushText()
	case ruleLine:
	case headLine, tableLine:
		s.flushText()
		s.say(rest)
	case itemLine:
		if !strings.HasSuffix(strings.TrimSpace(s.text), ":") {
			s.flushText()
		}
		s.items = append(s.items, rest)
		if len(s.items) >= maxItems {
			s.flushItems()
		}
	case moreLine:
		if n := len(s.items); n > 0 {
			s.items[n-1] += " " + rest
			if len(s.items[n-1]) > maxLine {
				s.flushItems()
			}
			return
		}
		s.text += rest + " "
		s.cut()
	}
}

// maxItems is how many items of a list become one sentence.
const maxItems = 12

// cut says the sentences of the paragraph that are whole.
func (s *Speech) cut() {
	for {
		end := sentenceEnd(s.text[:min(len(s.text), maxLine)])
		if end < 0 {
			if len(s.text) <= maxLine {
				return
			}
			if end = strings.LastIndexByte(s.text[:maxLine], ' '); end <= 0 {
				end = maxLine
			}
		}
		s.sentence(s.text[:end])
		s.text = s.text[end:]
	}
}

func (s *Speech) flush() {
	s.flushItems()
	s.flushText()
}

func (s *Speech) flushText() {
	s.say(s.text)
	s.text = ""
}

// flushItems says a list: short items in one sentence, behind what announces them.
func (s *Speech) flushItems() {
	items := s.items
	s.items = nil
	if len(items) == 0 {
		return
	}
	short := true
	var clean []string
	for _, item := range items {
		item = s.clean(item)
		if item == "" {
			continue
		}
		short = short && utf8.RuneCountInString(item) <= 60 && !strings.ContainsAny(item, ".!?:;")
		clean = append(clean, item)
	}
	if short && len(clean) > 1 {
		last := len(clean) - 1
		and := map[string]string{"de": " und "}[s.lang]
		if and == "" {
			and = " and "
		}
		list := strings.Join(clean[:last], ", ") + and + clean[last]
		s.text, list = "", strings.TrimSpace(s.text+" "+list)
		s.say(list)
		return
	}
	s.flushText()
	for _, item := range items {
		s.say(item)
	}
}

// say gives a piece of text as sentences.
func (s *Speech) say(raw string) {
	for {
		end := sentenceEnd(raw)
		if end < 0 {
			s.sentence(raw)
			return
		}
		s.sentence(raw[:end])
		raw = raw[end:]
	}
}

// sentence gives a sentence, in several if it is too long for one.
func (s *Speech) sentence(raw string) {
	clean := s.clean(raw)
	for clean != "" {
		part := clean
		if utf8.RuneCountInString(part) > maxSentence {
			part = head(clean)
		}
		clean = strings.TrimSpace(clean[len(part):])
		if part = finish(part); part != "" {
			s.out = append(s.out, part)
		}
	}
}
