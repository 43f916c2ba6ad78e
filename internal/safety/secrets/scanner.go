package secrets

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Finding is a secret in a text: text[Start:End] is what must not be seen.
type Finding struct {
	Start, End int
	Rule       string // never says anything about the value
}

// Scanner finds secrets by the tables of this package. It may be used by several
// goroutines.
type Scanner struct {
	forms     []*form
	providers []*provider
	words     *words
	uses      [][]wordUse // by word of the automaton
	lexicon   *lexicon
	base64    run       // that may hide something
	token     [256]bool // what the keys of providers are made of, and = and :
}

// anchorSize is how much of a literal the automaton looks for.
const anchorSize = 6

// New reads the tables.
func New() (*Scanner, error) { return newScanner(formTable, providerTable) }

func newScanner(forms, providers string) (*Scanner, error) {
	s := &Scanner{base64: base64Run(), lexicon: newLexicon()}
	for _, c := range "+/=_-.~|:" {
		s.token[c] = true
	}
	for c := range s.token {
		s.token[c] = s.token[c] || digit(byte(c)) || letter(byte(c))
	}
	var err error
	if s.forms, err = readForms(forms); err != nil {
		return nil, fmt.Errorf("reading the table of secrets: %w", err)
	}
	if s.providers, err = readProviders(providers); err != nil {
		return nil, fmt.Errorf("reading the table of secrets: %w", err)
	}
	var list []string
	known := map[string]int{}
	add := func(word string, u wordUse) {
		word = strings.ToLower(word)
		at, ok := known[word]
		if !ok {
			at = len(list)
			known[word] = at
			list = append(list, word)
			s.uses = append(s.uses, nil)
		}
		u.size = len(word)
		s.uses[at] = append(s.uses[at], u)
	}
	for _, f := range s.forms {
		anchor := f.pieces[f.anchor].text
		add(anchor[:min(len(anchor), anchorSize)], wordUse{kind: ofForm, form: f})
	}
	for _, p := range s.providers {
		add(p.name, wordUse{kind: ofProvider, of: p})
	}
	names := nameWords()
	for _, word := range slices.Sorted(maps.Keys(names)) {
		add(word, wordUse{kind: ofName, word: word, tells: names[word]})
	}
	for word, k := range map[string]kind{
		"://": ofAddress, "bearer": ofHeader, "basic ": ofHeader, " -u ": ofUser, "--user": ofUser, " -u\"": ofUser, " -u'": ofUser, " -p": ofFlag, ":5432:": ofPGPass, ":*:*:": ofPGPass, `"kty"`: ofJWK, "networkcredential": ofCall, "directoryentry": ofCall, "pscredential": ofCall, "httpbasicauth": ofCall, "httpdigestauth": ofCall, "setbasicauth": ofCall, "usernamepasswordcredentials": ofCall, "passwordauthentication": ofCall, "auth=": ofCall, ".login": ofCall, "convertto-securestring": ofSecure, "net user ": ofNetUser, "net use ": ofNetUser, "identified by": ofIdentified, "google.crypto.tink.": ofTink, "vapid": ofVapid, "| sudo -s": ofPiped, "|sudo -s": ofPiped, "@tcp(": ofSource, "@unix(": ofSource, "-----begin rsa key-": ofFrame, "-----begin dsa key-": ofFrame, "-----begin ec key-": ofFrame, "kind: secret": ofKube, "kind: \"secret": ofKube, "kind: 'secret": ofKube, `"kind": "secret`: ofKube, `"kind":"secret`: ofKube,
	} {
		add(word, wordUse{kind: k})
	}
	for _, word := range derWords() {
		add(word, wordUse{kind: ofDER})
	}
	for word, flag := range programFlags() {
		add(word, wordUse{kind: ofProgram, word: flag})
	}
	for word, form := range directives() {
		add(word, wordUse{kind: ofDirective, line: form})
	}
	for _, word := range mnemonicNames() {
		add(word, wordUse{kind: ofMnemonic})
	}
	for word, place := range callWords() {
		add(word, wordUse{kind: ofArgument, place: place})
	}
	if s.words = newWords(list); s.words == nil || s.lexicon.placeholders == nil {
		return nil, errors.New("reading the table of secrets: it is too large")
	}
	return s, nil
}

// Find gives the secrets in a text in the order of their beginning; none
// overlaps another. Known values are secrets by any rule; there may be none.
func (s *Scanner) Find(text string, known *Known) []Finding {
	return repeated(Merge(s.all(text, known)), text)
}

// all gives what is found in a text as it is, with its escapes resolved and in
// its base64.
func (s *Scanner) all(text string, known *Known) []Finding {
	found := s.find(nil, text)
	found = known.find(found, text)
	found = s.escaped(found, text)
	return outsideData(s.encoded(found, text, known), text)
}

// find adds what is found by the tables and by the form of private keys.
func (s *Scanner) find(found []Finding, text string) []Finding {
	h := textScan{Scanner: s, text: text, found: found}
	if !s.words.pays(text) {
		s.words.short().each(text, func(word, end int) bool {
			for j := range s.uses[word] {
				h.foundWord(&s.uses[word][j], end)
			}
			return true
		})
		return findPEM(h.found, text)
	}
	w := s.words.table()
	state, shift, table := 0, w.shift&15, w.next
	for i := 0; i < len(text); i++ {
		next := table[state<<shift+int(w.class[text[i]])]
		state = int(next &^ endsHere)
		if next&endsHere == 0 {
			continue
		}
		for _, word := range w.ends[state] {
			uses := s.uses[word]
			for j := range uses {
				h.foundWord(&uses[j], i+1)
			}
		}
	}
	return findPEM(h.found, text)
}

// Merge sorts findings and makes one of those that overlap; it keeps the name
// of the rule that found the most, and of a rule about its surroundings only if it
// is alone.
func Merge(found []Finding) []Finding {
	if len(found) < 2 {
		return found
	}
	slices.SortFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.weight(), b.weight()), cmp.Compare(a.Rule, b.Rule))
	})
	out := found[:1]
	for _, f := range found[1:] {
		last := &out[len(out)-1]
		if f.Start >= last.End {
			out = append(out, f)
			continue
		}
		if last.weight() > f.weight() {
			last.Rule = f.Rule
		}
		last.End = max(last.End, f.End)
	}
	return out
}

func (f Finding) weight() int {
	switch f.Rule {
	case ruleAssigned:
		return 2
	case ruleHeader, ruleURL, ruleCommand:
		return 1
	}
	return 0
}
