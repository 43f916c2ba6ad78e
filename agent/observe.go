package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/model"
)

// abortedText is the result of a call whose run ended first.
const abortedText = "aborted: the run was ended before this call had a result. It is not known whether it took effect; look before you repeat it."

// explain says in one text what became of a refused call, and what to do about it.
func explain(ctx context.Context, e *toolcrib.Error, p prepared) string {
	if ctx.Err() != nil && (e.Code == toolcrib.CodeTimeout || e.Code == toolcrib.CodeCancelled || errors.Is(e.Err, context.Canceled)) {
		return abortedText
	}
	var b strings.Builder
	switch e.Code {
	case toolcrib.CodeInvalid:
		if len(e.Fields) == 0 {
			fmt.Fprintf(&b, "Not called: %s.", sentence(e.Message))
		} else {
			b.WriteString("Not called: the arguments do not fit.")
		}
		for _, f := range e.Fields {
			fmt.Fprintf(&b, "\n- %s: %s", fieldName(f.Path), f.Message)
		}
		if !p.cut {
			b.WriteString("\nMend the arguments by the tool's schema and call it again.")
		}
	case toolcrib.CodeNotFound:
		fmt.Fprintf(&b, "Not called: there is no tool %q here: %s.", text.Clip(text.ShowLine(p.name), 100), sentence(strings.TrimPrefix(e.Message, "there is no such tool; ")))
		b.WriteString(" Call only tools that you were shown, by exactly their names.")
	case toolcrib.CodeDenied:
		if byPerson(e) {
			fmt.Fprintf(&b, "Not called: %s. Do not repeat it, and do not try to reach the same in another way; go on without it, or ask what they want instead.", sentence(e.Message))
		} else {
			fmt.Fprintf(&b, "Not called: a rule forbids it: %s. Repeating it will not help. Choose a way that is allowed, or tell the person what you could not do and why.", sentence(e.Message))
		}
	case toolcrib.CodeTimeout:
		if strings.Contains(e.Message, "person") {
			fmt.Fprintf(&b, "Not called: %s. Nobody has said no. Go on with what needs no approval, and say what waits for it.", sentence(e.Message))
		} else {
			fmt.Fprintf(&b, "It took too long: %s. It may have done part of its work; look before you repeat it, and then ask for less at once.", sentence(e.Message))
		}
	case toolcrib.CodeCancelled:
		fmt.Fprintf(&b, "Stopped: %s. It may have done part of its work; look before you repeat it.", sentence(e.Message))
	case toolcrib.CodeUnavailable:
		if errors.Is(e, toolcrib.ErrNobody) || strings.Contains(e.Message, "a person has to approve") || strings.Contains(e.Message, "nobody is there") {
			fmt.Fprintf(&b, "Not called: %s. Go on with what needs no approval, and say what somebody has to approve.", sentence(e.Message))
		} else {
			fmt.Fprintf(&b, "It cannot be called now: %s. Try it later, or another way.", sentence(e.Message))
		}
	case toolcrib.CodeConflict:
		fmt.Fprintf(&b, "Not called: %s.", sentence(e.Message))
	default:
		fmt.Fprintf(&b, "The call broke down: %s. This is no fault of your arguments; try another way.", sentence(e.Message))
	}
	return b.String()
}

// byPerson: the words are the crib's and those of the box interact.
func byPerson(e *toolcrib.Error) bool {
	return strings.HasPrefix(e.Message, "a person said no") || strings.HasPrefix(e.Message, "the person was asked")
}

func sentence(s string) string { return strings.TrimRight(strings.TrimSpace(s), ".") }

func fieldName(path string) string {
	if path == "" {
		return "the arguments"
	}
	return path
}

// parts says what a tool answered in the parts of a message.
func (r *run) parts(result *toolcrib.Result) []model.Part {
	var said []string
	var images []model.Part
	for _, c := range result.Content {
		switch {
		case c.Type == "text":
			said = append(said, c.Text)
		case c.Type == "image" && r.traits.Images && len(c.Data) > 0:
			images = append(images, model.Part{Data: c.Data, MIME: c.MIME})
		case c.Type == "resource" && c.Text != "":
			said = append(said, c.Text)
		default:
			said = append(said, otherContent(c))
		}
	}
	all := strings.Join(said, "\n")
	if len(said) == 0 && len(result.Value) > 0 {
		all = string(result.Value)
	}
	if all == "" && len(images) == 0 {
		all = "Done; there is nothing to say about it."
		if result.Failed {
			all = "It failed, and did not say why."
		}
	}
	var out []model.Part
	if all != "" {
		out = append(out, model.Part{Text: clipResult(all, r.window.longest())})
	}
	return append(out, images...)
}

// otherContent says in a line what a model does not see.
func otherContent(c toolcrib.Content) string {
	switch {
	case c.URI != "":
		return strings.TrimSpace(fmt.Sprintf("[%s: %s %s]", c.Type, text.ShowLine(c.Name), text.ShowLine(c.URI)))
	case len(c.Data) > 0:
		return fmt.Sprintf("[%s of type %s, %d bytes: you cannot see it]", c.Type, text.ShowLine(c.MIME), len(c.Data))
	}
	return c.Text
}

// clipResult keeps beginning and end of a long result. What it says about where the rest
// is kept stays.
func clipResult(s string, most int) string {
	if len(s) <= most {
		return s
	}
	head, tail := text.Head(s, most*3/4), text.Tail(s, most/4)
	middle := s[len(head) : len(s)-len(tail)]
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n[… %d bytes were left out here because the result is too long for this conversation. Ask for less at once: a range, a page, a narrower search …]\n", head, len(middle))
	for _, p := range pointers(middle) {
		b.WriteString(p + "\n")
	}
	b.WriteString(tail)
	return b.String()
}

// pointers finds the marks in a result that say how the rest of it is read: they are
// those of package internal/artifact, and name a tool and its arguments.
func pointers(s string) (found []string) {
	const open, end, most = "[… ", " …]", 500
	for rest := s; len(found) < 3; {
		at := strings.Index(rest, open)
		if at < 0 {
			break
		}
		rest = rest[at:]
		stop := strings.Index(text.Head(rest, most), end)
		if stop >= 0 && strings.Contains(rest[:stop], `{"id":`) {
			found = append(found, rest[:stop+len(end)])
		}
		rest = rest[len(open):]
	}
	return found
}
