package desk

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/begging"
	"github.com/toolcrib/toolcrib/internal/text"
)

// Part is a piece of what a question shows: a heading and the lines below it.
// Every text in it is as a person sees it: what would steer a terminal, or is
// not seen at all, is written out, and no line has another one in it.
type Part struct {
	Kind  PartKind
	Title string
	Lines []string
}

// PartKind says what a part is about, for screens that show parts differently.
type PartKind string

// The kinds of parts.
const (
	PartHead      PartKind = "head"      // which tool, for whom, and what it can do
	PartArguments PartKind = "arguments" // what it would be given
	PartSteps     PartKind = "steps"     // the programs of a command
	PartChange    PartKind = "change"    // a unified difference
	PartWhy       PartKind = "why"       // why it is asked
	PartText      PartKind = "text"      // a tool's own question, and the answers it offers
	PartNotes     PartKind = "notes"     // what else should be known
)

// Describe is what every screen shows of a question, in this order.
func (q *Question) Describe() []Part {
	who := cmp.Or(q.Caller.Agent, q.Caller.Subject, "a caller")
	if q.Caller.Agent != "" && q.Caller.Subject != "" {
		who += " of " + q.Caller.Subject
	}
	if q.Caller.Client != "" {
		who += ", in " + q.Caller.Client
	}
	if q.Caller.Frontend != "" {
		who += ", by " + q.Caller.Frontend
	}
	if q.askedByTool() {
		// Whoever puts words into a model's mouth can have it ask for anything.
		warning := begging.Warning(append([]string{q.Text}, q.Options...)...)
		parts := []Part{{Kind: PartText, Title: text.ShowExact(q.Name()) + " asks" + warning + ", for " + text.ShowExact(who), Lines: lines(q.Text)}}
		if len(q.Options) > 0 {
			var offered []string
			for i, o := range q.Options {
				offered = append(offered, fmt.Sprintf("%d. %s", i+1, text.ShowExact(o)))
			}
			parts = append(parts, Part{Kind: PartArguments, Title: "Answers it offers", Lines: offered})
		}
		return append(parts, q.notes()...)
	}
	title := text.ShowExact(q.Name()) + ", for " + text.ShowExact(who)
	if q.ByPath {
		title += ", has run"
	} else {
		title += ", would run"
	}
	parts := []Part{{Kind: PartHead, Title: title, Lines: []string{"It can: " + effects(q.Effects)}}}
	if q.Project != "" {
		parts[0].Lines = append(parts[0].Lines, "Project: "+text.ShowExact(q.Project))
	}
	if args := arguments(q.Input, q.changeIsWhole()); len(args) > 0 {
		parts = append(parts, Part{Kind: PartArguments, Title: "It would be given", Lines: args})
	}
	if len(q.Parts) > 0 {
		var steps []string
		for _, p := range q.Parts {
			steps = append(steps, text.ShowExact(p))
		}
		parts = append(parts, Part{Kind: PartSteps, Title: "It would start", Lines: steps})
	}
	if q.Preview != "" {
		parts = append(parts, Part{Kind: PartChange, Title: "What would change", Lines: lines(q.Preview)})
	}
	for _, v := range q.Reasons {
		if v.Decision != toolcrib.Ask && !v.Note {
			continue
		}
		var why []string
		for _, line := range lines(v.Reason) {
			if !slices.ContainsFunc(q.Parts, func(p string) bool { return text.ShowExact(p) == line }) { // shown above
				why = append(why, line)
			}
		}
		title := "Asked by the " + text.ShowExact(v.Guard) + " guard"
		if v.Note {
			title = "Noted by the " + text.ShowExact(v.Guard) + " guard"
		}
		parts = append(parts, Part{Kind: PartWhy, Title: title, Lines: why})
	}
	return append(parts, q.notes()...)
}

// notes is what a person should know before they answer.
func (q *Question) notes() []Part {
	var notes []string
	if q.Replaces != "" {
		notes = append(notes, "What this would do has changed: an earlier answer to "+q.Replaces+" does not count.")
	}
	for _, file := range q.Changed {
		notes = append(notes, text.ShowExact(file)+" has changed since this was allowed for longer, or is another file: look at it before you allow it again.")
	}
	if q.Redacted {
		notes = append(notes, "Secrets in the arguments are not shown.")
	}
	if q.Unseen {
		notes = append(notes, "Careful: what is hidden has blanks, line ends or signs of a shell in it. It may be a password, and it may be a command. It can only be allowed once.")
	}
	if q.Cut {
		notes = append(notes, "The change is too long to be shown whole.")
	}
	if q.ByPath {
		notes = append(notes, "You can take a part of it: name the files, or the directories with all that is in them.")
	}
	if q.Floor {
		notes = append(notes, "This is asked every time, whatever was remembered.")
	}
	if q.Waiting > 1 {
		notes = append(notes, fmt.Sprintf("%d equal calls wait for the answer.", q.Waiting))
	}
	if len(notes) == 0 {
		return nil
	}
	return []Part{{Kind: PartNotes, Title: "Note", Lines: notes}}
}

// effects names what a call can do in words.
func effects(e toolcrib.Effects) string {
	words := []string{}
	for _, w := range []struct {
		is   toolcrib.Effects
		text string
	}{
		{toolcrib.Reads, "read"}, {toolcrib.Writes, "write"}, {toolcrib.Destroys, "destroy"}, {toolcrib.Runs, "run programs"},
		{toolcrib.Network, "use the network"}, {toolcrib.AsksPerson, "ask people"}, {toolcrib.UsesSecrets, "use credentials"},
	} {
		if e.All()&w.is != 0 {
			words = append(words, w.text)
		}
	}
	switch {
	case e == 0:
		return "anything; it does not say what"
	case len(words) == 0:
		return "compute"
	}
	return strings.Join(words, ", ")
}

// changeIsWhole tells whether the change shows all that would be written. In a
// unified difference each line has a sign before it; a line without one says that
// something is left out: the file is too large, or is no text.
func (q *Question) changeIsWhole() bool {
	if q.Preview == "" || q.Cut {
		return false
	}
	for line := range strings.Lines(q.Preview) {
		if !strings.ContainsAny(line[:1], "+- @\\\n") {
			return false
		}
	}
	return true
}

// longText is how much of a text is shown where the change shows it anyway.
const longText = 200

// arguments shows an input, an argument to a line. Texts are shown as they are
// and not as JSON, since people read them as commands; lines beyond the first
// stand further in, so that none can look like another argument.
func arguments(input json.RawMessage, shown bool) []string {
	var args map[string]json.RawMessage
	if len(input) == 0 {
		return nil
	}
	if json.Unmarshal(input, &args) != nil {
		return lines(string(input))
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(args)) {
		given := string(args[name])
		var plain string
		if json.Unmarshal(args[name], &plain) == nil {
			given = plain
		}
		if shown && len(given) > longText {
			given = fmt.Sprintf("(%d bytes, see below)", len(given))
		}
		for i, line := range lines(given) {
			if i == 0 {
				out = append(out, text.ShowExact(name)+": "+line)
			} else {
				out = append(out, "    "+line)
			}
		}
	}
	return out
}

// manyEqual is from how many equal lines on they are counted and not shown: rows
// of them would push what follows out of sight.
const manyEqual = 8

// lines cuts a text into lines that can be shown.
func lines(given string) []string {
	var out []string
	all := strings.Split(strings.TrimRight(given, "\n"), "\n")
	seen := func(line string) string { return strings.TrimRight(line, " \t") }
	for i := 0; i < len(all); {
		n := 1
		for i+n < len(all) && (seen(all[i+n]) == seen(all[i]) || strings.TrimSpace(all[i+n]+all[i]) == "") {
			n++
		}
		row := all[i : i+n]
		switch {
		case n < manyEqual:
			for _, line := range row {
				out = append(out, text.ShowExact(line))
			}
		case strings.TrimSpace(row[0]) == "":
			out = append(out, fmt.Sprintf("[%d empty lines]", n))
		default:
			out = append(out, text.ShowExact(row[0]), fmt.Sprintf("[the same line %d times more]", n-1))
		}
		i += n
	}
	return out
}
