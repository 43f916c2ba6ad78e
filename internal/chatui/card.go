package chatui

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/settling"
	"github.com/toolcrib/toolcrib/internal/text"
)

// card is a call of a tool: what it was given, how far it is, and what came of it.
type card struct {
	id, name   string
	arguments  json.RawMessage
	state      cardState
	began, end time.Time
	body       []line // all that came of it
	short      int    // how many of its lines are shown at first
	asked      bool   // a person saw the change before
}

type cardState uint8

const (
	cardRuns cardState = iota
	cardDone
	cardFailed
	cardRefused
	cardStopped
	cardUnapplied // it ran, and what it changed was not applied
	cardPast      // of a session that is gone on with
)

// keptCards is how many cards can be looked at again.
const keptCards = 100

// shortBody is how many lines of a result are shown at first, and shortDiff of a change.
const (
	shortBody = 5
	shortDiff = 24
)

func newCard(e agent.Event, now time.Time) *card {
	k := &card{name: e.Tool, began: now, end: now}
	if e.Call != nil {
		k.id, k.arguments = e.Call.ID, e.Call.Arguments
		k.name = cmp.Or(k.name, e.Call.Name)
	}
	if len(e.Args) > 0 { // as it is really called
		k.arguments = e.Args
	}
	if e.Depth > 0 && e.Agent != "" {
		k.name = e.Agent + ": " + k.name
	}
	return k
}

// result takes in what came of a call.
func (c *chat) result(ctx context.Context, e agent.Event) {
	k := newCard(e, c.opt.Now())
	if i := slices.IndexFunc(c.cards, func(o *card) bool { return k.id != "" && o.id == k.id && o.name == k.name }); i >= 0 {
		k = c.cards[i]
		c.cards = slices.Delete(c.cards, i, i+1)
	}
	k.end = c.opt.Now()
	switch {
	case e.Error != nil:
		k.state = cardRefused
		k.say(e.Error.Message, bad, shortBody)
	case e.Result == nil:
		k.state = cardFailed
		k.say(e.Text, bad, shortBody)
	case e.Result.Failed:
		k.state = cardFailed
		k.show(e.Result)
	default:
		k.state = cardDone
		if slices.ContainsFunc(e.Result.Content, func(c toolcrib.Content) bool { return c.Notice && strings.HasPrefix(c.Text, settling.NotApplied) }) {
			k.state = cardUnapplied
		}
		k.show(e.Result)
	}
	c.keep(k)
	if k.name == "todo_write" && k.state == cardDone {
		c.todos(ctx)
	}
}

// keep prints a card that has ended.
func (c *chat) keep(k *card) {
	c.put(blockCard, k.rows(c, k.short)...)
	c.kept, c.seen = append(c.kept, k), 0
	if len(c.kept) > keptCards {
		c.kept = c.kept[1:]
	}
}

// expand prints a card again, all of it: the last one, and then the one before it.
func (c *chat) expand() {
	if c.seen == len(c.kept) {
		c.hint = "There is no earlier result to show."
		if len(c.kept) == 0 {
			c.hint = "No tool has run yet."
		}
		return
	}
	c.seen++
	k := c.kept[len(c.kept)-c.seen]
	c.last = blockNote
	rows := k.rows(c, len(k.body))
	if given := indented(k.arguments); given != "" {
		var with []line
		for l := range strings.SplitSeq(given, "\n") {
			with = append(with, line{{plain, "    "}}.and(exact(accent, l)).wrap(c.wide, line{{plain, "        "}})...)
		}
		rows = slices.Concat(rows[:1], with, rows[1:])
	}
	c.put(blockCard, rows...)
	c.last = blockNote
}

func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// head is the first row of a card.
func (k *card) head(c *chat, most int) line {
	sign, st, word := c.signs.run, notice, ""
	switch k.state {
	case cardDone:
		sign, st = c.signs.done, good
	case cardFailed:
		sign, st, word = c.signs.fail, bad, "failed"
	case cardRefused:
		sign, st, word = c.signs.fail, bad, "not done"
	case cardStopped:
		sign, st, word = c.signs.stop, notice, "stopped"
	case cardUnapplied:
		sign, st, word = c.signs.fail, bad, "changes not applied"
	case cardPast:
		sign, st = c.signs.dot, dim
		sign = strings.TrimSpace(sign)
	}
	l := say(st, sign+" ").and(say(bold, k.name))
	var foot line
	if word != "" {
		foot = say(st, c.signs.dot+word)
	}
	if k.state != cardPast {
		took := spent(k.end.Sub(k.began))
		if k.state == cardRuns {
			took = fmt.Sprintf("%d s", int(c.opt.Now().Sub(k.began).Seconds()))
		}
		foot = foot.and(say(dim, c.signs.dot+took))
	}
	given := short(k.arguments)
	if most > 0 {
		given = exact(plain, given).clip(max(most-l.width()-foot.width()-2, 8)).String()
	}
	if given != "" {
		l = l.and(line{{plain, "  "}}, line{{plain, text.ShowExact(given)}})
	}
	return l.and(foot)
}

// rows is the whole card, with so many lines of what came of it.
func (k *card) rows(c *chat, most int) []line {
	rows := []line{k.head(c, c.wide).clip(c.wide)}
	in := line{{plain, "    "}}
	for _, l := range k.body[:min(most, len(k.body))] {
		rows = append(rows, in.and(l).wrap(c.wide, line{{plain, "      "}})...)
	}
	if left := len(k.body) - most; left > 0 && most > 0 {
		what := "lines"
		if left == 1 {
			what = "line"
		}
		rows = append(rows, in.and(say(dim, fmt.Sprintf("%s %d more %s", c.signs.more, left, what)+map[bool]string{false: " (ctrl-o shows all)"}[c.lines])))
	}
	return rows
}

// say sets the body to a text.
func (k *card) say(given string, st style, most int) {
	k.body, k.short = nil, most
	for l := range strings.SplitSeq(strings.TrimRight(given, "\n"), "\n") {
		k.body = append(k.body, say(st, l))
	}
}

// show sets the body to a result: a change as a difference, what a program printed as it
// is, and other values a key to a line.
func (k *card) show(r *toolcrib.Result) {
	var value map[string]json.RawMessage
	if r.Value == nil || json.Unmarshal(r.Value, &value) != nil {
		st := dim
		if r.Failed {
			st = bad
		}
		k.say(r.String(), st, shortBody)
		return
	}
	k.short = shortBody
	for _, c := range r.Content {
		if c.Notice && !strings.HasPrefix(c.Text, "[untrusted") { // that is for models
			k.body = append(k.body, say(notice, c.Text))
		}
	}
	if diff := stringOf(value["diff"]); diff != "" {
		if k.short = shortDiff; k.asked {
			k.short = 0
		}
		for l := range strings.SplitSeq(strings.TrimRight(diff, "\n"), "\n") {
			k.body = append(k.body, exact(diffStyle(l), l))
		}
		return
	}
	told := len(k.body)
	for _, name := range []string{"stdout", "stderr", "content", "output", "text"} {
		if printed := stringOf(value[name]); printed != "" {
			st := dim
			if name == "stderr" {
				st = notice
			}
			for l := range strings.SplitSeq(strings.TrimRight(printed, "\n"), "\n") {
				k.body = append(k.body, say(st, l))
			}
		}
	}
	if len(k.body) > told {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(value)) {
		k.body = append(k.body, say(dim, name+": "+oneLine(value[name])))
	}
}

func stringOf(raw json.RawMessage) (s string) {
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

func oneLine(raw json.RawMessage) string {
	if s := stringOf(raw); s != "" {
		return s
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return text.Clip(b.String(), 400)
}

// telling are the arguments that say best what a call is about, in this order.
func telling() []string {
	return []string{"command", "path", "file_path", "file", "query", "pattern", "url", "expression", "name", "question", "task"}
}

// short is the arguments in a few words: what tells most, and numbers and the like; or
// all that are short.
func short(raw json.RawMessage) string {
	var args map[string]json.RawMessage
	if json.Unmarshal(raw, &args) != nil {
		return text.Clip(strings.TrimSpace(string(raw)), 200)
	}
	names := slices.Sorted(maps.Keys(args))
	var parts []string
	for _, name := range telling() {
		if s := stringOf(args[name]); s != "" {
			parts = append(parts, text.Clip(s, 400))
			names = slices.DeleteFunc(names, func(n string) bool { return n == name })
			break
		}
	}
	told := len(parts) > 0
	for _, name := range names {
		if s := oneLine(args[name]); len(s) <= 40 && !strings.Contains(s, "\n") && (!told || stringOf(args[name]) == "") {
			parts = append(parts, name+"="+s)
		}
	}
	return strings.Join(parts, " ")
}

// spent writes how long something took.
func spent(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
}
