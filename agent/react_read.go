package agent

import (
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
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

// readTurn reads a turn. The first FINAL_ANSWER counts, even behind an action.
func readTurn(said string) reactTurn {
	t := reactTurn{thought: thoughtOf(said)}
	if after := finalIn(said, 0); after >= 0 {
		t.kind, t.isFinal, t.answer = turnFinal, true, answerAt(said, after)
		return t
	}
	act, ok := readAction(said)
	switch {
	case ok && act.wrong == "":
		t.kind, t.tool, t.input, t.end = turnAction, act.tool, act.input, act.end
	case ok:
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

// finalIn finds where the final answer begins; below 0: there is none. It goes by what
// stands before the word alone, so that the answer can be told while it comes. What
// stands in a text of the action's input is no answer, and neither is what follows an
// Observation that the model made up.
func finalIn(said string, from int) int {
	for from < len(said) {
		at, after := finalAt(said[from:])
		if at < 0 {
			return -1
		}
		at, after = at+from, after+from
		act, ok := readAction(said[:at])
		switch {
		case ok && act.wrong == "" && lineWith(said[act.end:at], wordObservation) >= 0:
			return -1
		case ok && act.within:
			from = after
		default:
			return after
		}
	}
	return -1
}

// answerAt is the answer behind its word. If the word is bold in Markdown, the signs for
// that are no part of the answer.
func answerAt(said string, after int) string {
	answer := strings.TrimSpace(said[after:])
	word := strings.LastIndexAny(said[:after-1], " *\n") // FINAL_ANSWER, or the second word of the others
	if word < 1 || !strings.HasSuffix(strings.TrimSuffix(said[:word+1], "Final "), "**") {
		return answer
	}
	if answer == "*" {
		return "" // one half of it, while it comes
	}
	return strings.TrimSpace(strings.TrimPrefix(answer, "**"))
}

// finalAt finds the first word for the final answer: where it begins and ends.
func finalAt(said string) (at, after int) {
	at = strings.Index(said, wordFinal)
	after = at + len(wordFinal)
	for _, other := range []string{"Final Answer:", "FINAL ANSWER:"} { // how other engines say it
		if i := lineWith(said, other); i >= 0 && (at < 0 || i < at) {
			at, after = i, i+len(other)
		}
	}
	return at, after
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
	// within: the text ends within a string of the input.
	within bool
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
	end, within := objectEnd(rest)
	a.within = within
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

// objectEnd finds the brace that closes the object a text begins with. within: there is
// none, because a string has no end.
func objectEnd(s string) (end int, within bool) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			end := textEnd(s, i)
			if end < 0 {
				return -1, true
			}
			i = end - 1
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1, false
			}
		}
	}
	return -1, false
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
