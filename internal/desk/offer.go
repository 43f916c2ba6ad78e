package desk

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/text"
)

// Offer is an answer that can be given to a question.
type Offer struct {
	Choice Choice
	Text   string // what it does, in a few words
	Wider  []Wider
}

// Wider is the same answer, remembered for more than the exact arguments.
type Wider struct {
	By   By
	Text string
}

// Offers lists the answers that fit a question.
func (d *Desk) Offers(q *Question) []Offer {
	if q.askedByTool() {
		return []Offer{{Choice: AllowOnce, Text: "answer it"}, {Choice: Deny, Text: "say nothing"}}
	}
	var list []Offer
	for _, c := range Choices() {
		r := Reply{Choice: c}
		if c == Edit {
			r.Input = json.RawMessage(`{}`)
		}
		if d.checkReply(r, q) != nil {
			continue
		}
		o := Offer{Choice: c, Text: d.offer(c, q, q.Means(ByArguments))}
		for _, by := range q.Ways() {
			if r.By = by; c.scope() != "" && d.checkReply(r, q) == nil {
				o.Wider = append(o.Wider, Wider{by, d.offer(c, q, q.Means(by))})
			}
		}
		list = append(list, o)
	}
	return list
}

func (d *Desk) offer(c Choice, q *Question, what string) string {
	last := func(text string, span time.Duration) string {
		if span == 0 {
			return text + ", until it is revoked"
		}
		return text + ", for " + Span(span)
	}
	switch c {
	case AllowOnce:
		return "allow it once"
	case AllowSession:
		return last("allow "+what+" in this session", d.cfg.SessionFor)
	case AllowProject:
		if where := " in " + text.ShowExact(q.Project); !strings.HasSuffix(what, where) { // it may be said already
			what += where
		}
		return last("allow "+what, d.cfg.ProjectFor)
	case AllowAlways:
		return last("allow "+what+" everywhere", d.cfg.AlwaysFor)
	case Deny:
		return "deny it"
	case Edit:
		return "change the arguments, and allow that once"
	}
	return ""
}

// rules names the rules that can be remembered.
func (q *Question) rules() string {
	var rules []string
	for _, r := range q.Rules {
		rules = append(rules, text.ShowExact(r))
	}
	return strings.Join(rules, " and ")
}

// whileFiles says which scripts have to stay as they are.
func (q *Question) whileFiles() string {
	if len(q.Files) == 0 {
		return ""
	}
	return ", as long as " + Names(q.Files) + " is not changed"
}

// Names lists files as they can be shown.
func Names(files []File) string {
	var names []string
	for _, f := range files {
		names = append(names, text.ShowExact(f.Path))
	}
	return strings.Join(names, " or ")
}

// Span writes a time as people say it.
func Span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= 2*day && d%day == 0:
		return fmt.Sprintf("%d days", d/day)
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return d.Round(time.Second).String()
}
