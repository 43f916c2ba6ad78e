package secrets

import "strings"

// textScan is the search through one text.
type textScan struct {
	*Scanner
	text  string
	found []Finding
	done  int // values before this were judged already
	named int // the end of the last name that was looked at,
	rated strength
	long  int // where the next long word begins, as seen from
	seen  int
	ends  runEnds
	cover int  // what was found by its form goes up to here
	jwked int  // keys in JSON before this were looked through
	flags int  // where a flag of a command was met last,
	takes bool // and whether the command takes a password there,
	apart bool // and nothing else, so that a word is one
	dered int  // private keys before this were looked at
	kubed int  // objects of Kubernetes before this were looked through
}

func (h *textScan) add(from, to int, rule string) {
	h.found = append(h.found, Finding{Start: from, End: to, Rule: rule})
}

// placeholder: a value that only stands for another.
func (h *textScan) placeholder(text string) bool { return h.lexicon.placeholder(text) }

// kind is what the automaton's words are of.
type kind uint8

const (
	ofForm kind = iota
	ofProvider
	ofName
	ofAddress
	ofHeader
	ofUser
	ofFlag
	ofPGPass
	ofJWK
	ofKube
	ofCall
	ofSecure
	ofNetUser
	ofIdentified
	ofTink
	ofVapid
	ofDER
	ofFrame
	ofArgument
	ofProgram
	ofPiped
	ofDirective
	ofMnemonic
	ofSource
)

// wordUse is what a word of the automaton leads to.
type wordUse struct {
	kind  kind
	size  int // of the word
	form  *form
	of    *provider
	word  string
	tells strength
	place int // of an argument
	line  directiveForm
}

// longLeast is the length of the shortest key that is told by its provider.
const longLeast = 12

// nearlyRising is how far back a place is asked for as a rule.
const nearlyRising = 512

// nextLong gives where the next word of at least longLeast bytes begins. Places
// are asked for in nearly rising order, so that the text is gone through once.
func (h *textScan) nextLong(at int) int {
	if at >= h.seen && at <= h.long {
		return h.long
	}
	n := 0
	if at < h.seen && h.seen-at < nearlyRising {
		i := at
		for ; i < len(h.text) && (i < h.seen || n > 0); i++ {
			if !h.token[h.text[i]] {
				n = 0
			} else if n++; n >= longLeast {
				break
			}
		}
		if h.seen = at; n >= longLeast {
			h.long = i + 1 - n
		}
		return h.long
	}
	h.seen = at
	for i := at; i < len(h.text); i++ {
		if !h.token[h.text[i]] {
			n = 0
		} else if n++; n >= longLeast {
			h.long = i + 1 - n
			return h.long
		}
	}
	h.long = len(h.text) + providerReach
	return h.long
}

// longAfter is nextLong for what begins before a limit. It leaves alone what
// nextLong remembers.
func (h *textScan) longAfter(at, limit int) int {
	n := 0
	for i := at; i < len(h.text) && i-n < limit; i++ {
		if !h.token[h.text[i]] {
			n = 0
		} else if n++; n >= longLeast {
			return i + 1 - n
		}
	}
	return len(h.text) + providerReach
}

// foundWord is called for every word of the automaton.
func (h *textScan) foundWord(u *wordUse, end int) {
	begin := end - u.size
	switch u.kind {
	case ofForm:
		h.keyOfForm(u.form, begin)
	case ofProvider:
		h.keyOfProvider(u.of, begin, end)
	case ofName:
		if u.tells >= nameSecret || u.word == "key" {
			h.keyJoinedToName(end)
		}
		id := identAround(h.text, begin, end)
		if u.word == "cookie" {
			h.cookies(id)
		}
		if id.to == h.named && h.rated >= u.tells {
			return
		}
		if s := h.lexicon.rate(h.text, id, u.word, u.tells); s != nameNone {
			if s == nameMaybe && h.text[id.from:id.to] == "_auth" {
				s = nameSecret // the file of npm
			}
			h.named, h.rated = id.to, s
			if before := len(h.found); s != nameMaybe || u.word == "key" {
				if h.assignedValue(id, s); len(h.found) == before {
					h.keyNearName(id)
				}
			} else {
				h.assignedValue(id, s)
			}
		}
	case ofAddress:
		h.address(begin)
	case ofHeader:
		h.header(begin, end)
	case ofUser:
		h.flag(begin, end, true)
	case ofFlag:
		h.flag(begin, end, false)
	case ofPGPass:
		h.pgpass(begin, end)
	case ofJWK:
		h.jwk(begin, end)
	case ofKube:
		h.kube(begin, end)
	case ofCall:
		h.call(end)
	case ofSecure:
		h.secure(end)
	case ofNetUser:
		h.netUser(begin, end)
	case ofDirective:
		h.directive(begin, end, u.line)
	case ofMnemonic:
		h.mnemonic(end)
	case ofIdentified:
		h.identified(end)
	case ofTink:
		h.tink(begin, end)
	case ofVapid:
		h.vapid(end)
	case ofDER:
		h.der(begin, end)
	case ofArgument:
		h.argument(end, u.place)
	case ofProgram:
		h.program(end, u.word)
	case ofPiped:
		h.piped(begin)
	case ofSource:
		h.source(begin)
	case ofFrame:
		h.frame(begin, end)
	}
}

// genuineReach is how much of a key is looked at to tell it from a placeholder.
const genuineReach = 512

// keyOfForm looks for a key of a form whose anchor stands here.
func (h *textScan) keyOfForm(f *form, at int) {
	anchor := f.pieces[f.anchor].text
	if !f.fold && !strings.HasPrefix(h.text[at:], anchor) || at+len(anchor) <= h.cover {
		return
	}
	from, to, ok := f.at(h.text, at, &h.ends)
	if !ok {
		return
	}
	to = min(max(to-trailing(h.text[from:to]), at+len(anchor)), len(h.text))
	if genuine(f, h.text[from:min(to, from+f.most)]) {
		h.cover = to
		h.add(from, to, f.rule)
		if n := partnerSize(f.rule); n > 0 {
			h.partner(from, to, n)
		}
	}
}

// trailing counts what ends a sentence rather than a key.
func trailing(s string) int {
	n := 0
	for n < len(s) && (s[len(s)-1-n] == '.' || s[len(s)-1-n] == ';' || s[len(s)-1-n] == ')') {
		n++
	}
	return n
}
