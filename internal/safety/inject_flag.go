package safety

// suspicions reads a text for sentences that want something of whoever reads
// it, and says in a few words what. It is a hint to a reader and decides
// nothing: who wants to get past a list of words will.
func suspicions(text string) []string {
	var s suspect
	s.text(text)
	return s.findings()
}

func (s *suspect) text(text string) {
	s.last = [8]sense{} // a sentence ends with its text
	var word [16]byte
	n := 0
	for text != "" {
		c := text[0]
		if c < 0x80 { // nearly always
			text = text[1:]
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
		} else {
			var size int
			c, size = folded(text)
			text = text[size:]
		}
		switch {
		case c >= 'a' && c <= 'z':
			if n < len(word) {
				word[n] = c
			}
			n++
		case c == '\'' || c == 0:
		case n > 0:
			s.word(word[:min(n, len(word))])
			n = 0
		}
	}
	if n > 0 {
		s.word(word[:min(n, len(word))])
	}
}

// What a word can mean in such a sentence.
type sense uint32

const (
	senseDrops     sense = 1 << iota // ignore
	senseEarlier                     // previous
	senseOrders                      // instructions
	senseAnew                        // new
	senseYou                         // you
	senseAre                         // are
	senseNow                         // now
	senseMachine                     // assistant
	senseAddress                     // dear
	senseNegates                     // not, without
	senseTells                       // tell
	sensePerson                      // user
	senseSends                       // send
	sensePrecious                    // password
	senseSupposes                    // if
	sensePrompt                      // prompt
	senseDiscloses                   // reveal
	senseSystemic                    // system
)

func senseOf(word []byte) sense {
	switch string(word) {
	case "ignore", "disregard", "forget", "override", "bypass", "discard", "overwrite", "neglect", "ignoring", "disregarding":
		return senseDrops
	case "previous", "prior", "above", "preceding", "earlier", "foregoing", "existing", "original", "all", "any", "your", "former":
		return senseEarlier
	case "system":
		return senseEarlier | senseSystemic
	case "instruction", "instructions", "rule", "rules", "guideline", "guidelines", "directive", "directives", "directions", "training", "orders":
		return senseOrders
	case "prompt", "prompts":
		return senseOrders | sensePrompt
	case "new", "updated", "following", "real", "actual", "revised":
		return senseAnew
	case "you":
		return senseYou
	case "are":
		return senseAre
	case "now":
		return senseNow
	case "ai", "llm", "chatbot", "assistant", "assistants", "agent", "agents", "claude", "chatgpt", "gemini", "gpt":
		return senseMachine
	case "dear", "attention", "hey", "hello", "note":
		return senseAddress
	case "not", "dont", "never", "without", "avoid", "nor":
		return senseNegates
	case "tell", "telling", "inform", "informing", "mention", "mentioning", "notify", "notifying", "alert", "alerting", "ask", "asking":
		return senseTells
	case "reveal", "print", "repeat", "output", "display", "disclose":
		return senseDiscloses
	case "show":
		return senseDiscloses | senseTells
	case "user", "users", "human", "anyone", "anybody", "operator", "person", "owner":
		return sensePerson
	case "send", "post", "upload", "forward", "email", "exfiltrate", "transmit", "submit", "leak", "curl":
		return senseSends
	case "password", "passwords", "credential", "credentials", "token", "tokens", "secret", "secrets", "keys", "apikey", "cookies", "ssh", "env":
		return sensePrecious
	case "if", "since", "because", "as":
		return senseSupposes
	}
	return 0
}

// suspect remembers the last words, since a sentence like this is short.
type suspect struct {
	last [8]sense
	at   int
	seen [5]bool
}

func (s *suspect) word(word []byte) {
	m := senseOf(word)
	switch {
	case m == 0:
	case m&senseOrders != 0:
		s.seen[0] = s.seen[0] || s.before(8, senseEarlier, senseDrops)
		s.seen[1] = s.seen[1] || s.before(1, senseAnew) || m&sensePrompt != 0 && s.before(7, senseSystemic, senseDiscloses)
	case m&senseNow != 0:
		s.seen[1] = s.seen[1] || s.last[(s.at+7)%8]&senseAre != 0 && s.last[(s.at+6)%8]&senseYou != 0
	case m&senseMachine != 0:
		s.seen[2] = s.seen[2] || s.before(3, senseAddress) || s.before(6, senseAre, senseYou, senseSupposes)
	case m&sensePerson != 0:
		s.seen[3] = s.seen[3] || s.before(6, senseTells, senseNegates)
	case m&sensePrecious != 0:
		s.seen[4] = s.seen[4] || s.before(8, senseSends)
	}
	s.last[s.at] = m
	s.at = (s.at + 1) % 8
}

// before reports whether these senses, nearest first, are among the last words.
func (s *suspect) before(words int, senses ...sense) bool {
	for back := 1; back <= words && len(senses) > 0; back++ {
		if s.last[(s.at+8-back)%8]&senses[0] != 0 {
			senses = senses[1:]
		}
	}
	return len(senses) == 0
}

func (s *suspect) findings() []string {
	var list []string
	for i, text := range [...]string{
		"sets aside instructions",
		"gives new instructions",
		"speaks to the model",
		"keeps from the person",
		"sends secrets",
	} {
		if s.seen[i] {
			list = append(list, text)
		}
	}
	return list
}

// findings is what a reader should know of what was made harmless.
func (f *changes) findings() (list []string) {
	if f.hidden > 0 {
		list = append(list, "hidden characters")
	}
	if f.tokens > 0 {
		list = append(list, "forged marks")
	}
	return list
}
