package agent

import (
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/model"
)

type turnKind int

const (
	turnWrong turnKind = iota // it has the words of the form, but not the form
	turnPlain                 // it has none of them: a plain answer
	turnAction
	turnFinal
)

// reactTurn is what a model wrote in one turn.
type reactTurn struct {
	kind    turnKind
	thought string
	tool    string          // turnAction
	input   json.RawMessage // an object
	end     int             // where the action ends in the text
	answer  string          // turnFinal
	isFinal bool
	wrong   string // turnWrong: what is wrong
}

// readTurn reads a turn. The first FINAL_ANSWER counts, even behind an action; but what
// stands behind an Observation that the model made up counts for nothing.
func readTurn(said string) reactTurn {
	t := reactTurn{thought: thoughtOf(said)}
	act, actOK := readAction(said)
	if at, after := finalAt(said); at >= 0 {
		if made := observationIn(said, act, actOK); made < 0 || made > at {
			t.kind, t.isFinal, t.answer = turnFinal, true, strings.TrimSpace(said[after:])
			return t
		}
	}
	switch {
	case actOK && act.wrong == "":
		t.kind, t.tool, t.input, t.end = turnAction, act.tool, act.input, act.end
	case actOK:
		t.wrong = act.wrong
	case strings.TrimSpace(said) == "":
		t.wrong = "it is empty"
	case t.thought != "" || strings.Contains(said, wordInput):
		t.wrong = "there is neither an Action with an Action Input nor a FINAL_ANSWER in it"
	default:
		t.kind = turnPlain
	}
	return t
}

// observationIn finds the Observation that a model made up behind its action.
func observationIn(said string, act action, ok bool) int {
	if !ok || act.wrong != "" {
		return -1
	}
	if at := lineWith(said[act.end:], wordObservation); at >= 0 {
		return act.end + at
	}
	return -1
}

// finalAt finds the final answer: where its word begins, and where the answer does.
func finalAt(said string) (at, after int) {
	if at := strings.Index(said, wordFinal); at >= 0 {
		return at, at + len(wordFinal)
	}
	for _, other := range []string{"Final Answer:", "FINAL ANSWER:", "**FINAL_ANSWER**:"} { // how other engines say it
		if at := lineWith(said, other); at >= 0 {
			return at, at + strings.Index(said[at:], other) + len(other)
		}
	}
	return -1, -1
}

// lineWith finds a line that begins with a word, behind blanks and signs of Markdown.
func lineWith(said, word string) int {
	for from := 0; ; {
		i := strings.Index(said[from:], word)
		if i < 0 {
			return -1
		}
		i += from
		if line := said[strings.LastIndexByte(said[:i], '\n')+1 : i]; strings.Trim(line, " \t\r*_#>-`") == "" {
			return i
		}
		from = i + len(word)
	}
}

func thoughtOf(said string) string {
	at := lineWith(said, wordThought)
	if at < 0 {
		return ""
	}
	rest := said[at+len(wordThought):]
	for _, word := range []string{wordAction, wordInput, wordFinal, wordObservation} {
		if end := lineWith(rest, word); end >= 0 {
			rest = rest[:end]
		}
	}
	return strings.Trim(rest, " \t\r\n*")
}

type action struct {
	tool  string
	input json.RawMessage
	end   int
	wrong string
}

// readAction finds the first action. ok: there is the word at least.
func readAction(said string) (a action, ok bool) {
	at := strings.Index(said, wordAction)
	if line := lineWith(said, wordAction); line >= 0 {
		at = line
	}
	if at < 0 {
		return action{}, false
	}
	from := at + len(wordAction)
	from += blanks(said[from:], " \t\r\n*")
	name := said[from:]
	if end := strings.IndexAny(name, " \t\r\n({"); end >= 0 {
		name = name[:end]
	}
	behind := from + len(name)
	a.tool = strings.Trim(name, "`\"'*,.;:")
	if a.tool == "" || a.tool+":" == wordThought || strings.HasPrefix(said[from:], wordInput) {
		a.wrong = "the Action names no tool"
		return a, true
	}
	if in := strings.Index(said[behind:], wordInput); in >= 0 {
		behind += in + len(wordInput)
	} else {
		behind += blanks(said[behind:], "(")
	}
	a.readInput(said, behind)
	return a, true
}

// readInput reads the arguments from an index on.
func (a *action) readInput(said string, at int) {
	at += blanks(said[at:], " \t\r\n*`")
	at += len("json") * btoi(strings.HasPrefix(said[at:], "json\n") || strings.HasPrefix(said[at:], "json{"))
	at += blanks(said[at:], " \t\r\n`")
	rest := said[at:]
	if !strings.HasPrefix(rest, "{") {
		line, _, _ := strings.Cut(rest, "\n")
		switch word := strings.Trim(line, " \t\r)."); {
		case word == "" || word == "None" || word == "null" || word == "none" || strings.HasPrefix(line, wordObservation):
			a.input, a.end = json.RawMessage("{}"), at
		default:
			a.wrong = "the Action Input is no JSON object: " + text.Clip(text.ShowLine(line), 100)
		}
		return
	}
	end := objectEnd(rest)
	if end < 0 {
		a.wrong = "the JSON object of the Action Input is not complete: a brace or a quotation mark is missing"
		return
	}
	a.end = at + end
	input := []byte(rest[:end])
	if !json.Valid(input) {
		mended, ok := mendObject(input)
		if !ok {
			a.wrong = "the Action Input is no valid JSON: " + text.Clip(text.ShowLine(rest[:end]), 100)
			return
		}
		input = mended
	}
	a.input = input
}

// objectEnd finds the brace that closes the object a text begins with.
func objectEnd(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			end := textEnd([]byte(s), i)
			if end < 0 {
				return -1
			}
			i = end - 1
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

func blanks(s, which string) int { return len(s) - len(strings.TrimLeft(s, which)) }

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// withoutForm takes the words of the form out of a text that a person is shown.
func withoutForm(said string) string {
	var keep []string
	for line := range strings.Lines(said) {
		plain := strings.TrimLeft(line, " \t*_#>-`")
		switch {
		case strings.HasPrefix(plain, wordAction), strings.HasPrefix(plain, wordInput), strings.HasPrefix(plain, wordObservation):
			continue
		case strings.HasPrefix(plain, wordThought):
			line = strings.TrimSpace(strings.TrimPrefix(plain, wordThought)) + "\n"
		}
		keep = append(keep, line)
	}
	if out := strings.TrimSpace(strings.Join(keep, "")); out != "" {
		return out
	}
	return "I could not bring this into a form that works. Ask again in other words, or with another model."
}

// reactStream tells watchers the text of the final answer as it comes, and nothing else.
type reactStream struct {
	run   *run
	plain bool // there are no tools, so everything is the answer
	all   strings.Builder
	from  int             // where the answer begins; 0: not yet
	told  strings.Builder // what watchers have
}

func (s *reactStream) delta(d model.Delta) {
	if d.Text == "" {
		return
	}
	// Only what is new is searched, from the line on that it belongs to.
	start := strings.LastIndexByte(s.all.String(), '\n') + 1
	s.all.WriteString(d.Text)
	said := s.all.String()
	if s.from == 0 && !s.plain {
		at, after := finalAt(said[start:])
		if at < 0 {
			return
		}
		at, after = at+start, after+start
		if act, ok := readAction(said[:at]); observationIn(said[:at], act, ok) >= 0 {
			return // made up
		}
		s.from = after
	}
	// Blanks wait until something follows: an answer does not end with them.
	answer := strings.TrimSpace(said[s.from:])
	if rest := answer[min(s.told.Len(), len(answer)):]; rest != "" {
		s.told.WriteString(rest)
		s.run.emit(Event{Kind: Content, Text: rest})
	}
}

// kept is what of the answer is kept if it breaks off.
func (s *reactStream) kept() string { return s.told.String() }
