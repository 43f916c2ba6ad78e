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
	if after, _ := finalIn(said, 0); after >= 0 {
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

// finalIn finds where the final answer begins; below 0: there is none, and what comes
// later is searched from next on. It goes by what stands before the word alone, so that
// the answer can be told while it comes. What stands in a text of the action's input is no
// answer, and neither is what follows an Observation that the model made up.
func finalIn(said string, from int) (after, next int) {
	for from < len(said) {
		at, after := finalAt(said[from:])
		if at < 0 {
			return -1, from
		}
		at, after = at+from, after+from
		act, ok := readAction(said[:at])
		switch {
		case ok && act.wrong == "" && lineWith(said[act.end:at], wordObservation) >= 0:
			return -1, from
		case !ok || act.within == 0:
			return after, after
		}
		// No word in this text is looked at by itself: there may be thousands.
		end := textEnd(said, act.within)
		if end < 0 {
			return -1, act.within
		}
		from = max(end, after)
	}
	return -1, from
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

// lineWith finds a line that begins with a word, behind blanks and signs of Markdown. The
// sign of a quotation is none of them: what a model quotes it does not say.
func lineWith(said, word string) int {
	for from := 0; ; {
		i := strings.Index(said[from:], word)
		if i < 0 {
			return -1
		}
		i += from
		line := i
		for line > 0 && strings.IndexByte(" \t\r*_#-`", said[line-1]) >= 0 {
			line--
		}
		if line == 0 || said[line-1] == '\n' {
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
	// within is where the string of the input begins that the text ends in; 0: in none.
	within int
}

// readAction finds the first action. ok: there is the word at least. It has to begin a
// line: a model that tells what a page or a file said may have the words of the form in the
// midst of its own, and did not mean to do it.
func readAction(said string) (a action, ok bool) {
	at := lineWith(said, wordAction)
	if at < 0 {
		if strings.Contains(said, wordAction) && strings.Contains(said, wordInput) {
			return action{wrong: "Action and Action Input each have to begin a line of their own"}, true
		}
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
	if a.wrong == "" && quotes(said, at, a.end) {
		a.wrong = "an Action in a block of code with text around it is taken for a quotation"
	}
	return a, true
}

// quotes reports whether an action stands in a block of code that is told about: there is
// text before the block and behind it.
func quotes(said string, at, end int) bool {
	const fence = "```"
	open := lineWith(said[:at], fence)
	if open < 0 || strings.Count(said[:at], fence)%2 == 0 || strings.TrimSpace(said[:open]) == "" || lineWith(said[:open], wordThought) >= 0 {
		return false
	}
	_, behind, closed := strings.Cut(said[end:], fence)
	if obs := lineWith(behind, wordObservation); obs >= 0 {
		behind = behind[:obs]
	}
	return closed && strings.TrimSpace(behind) != ""
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
	if end < 0 {
		if within > 0 {
			a.within = at + within
		}
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
// none, because the string that begins there has no end.
func objectEnd(s string) (end, within int) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			end := textEnd(s, i)
			if end < 0 {
				return -1, i
			}
			i = end - 1
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1, 0
			}
		}
	}
	return -1, 0
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
