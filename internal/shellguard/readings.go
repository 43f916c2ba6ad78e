package shellguard

import (
	"slices"
	"strings"
)

// maxReadings bounds how many ways one command is read.
const maxReadings = 256

// readings are the commands that one command may become: each word with each
// of its values, cut at blanks where it stands outside quotes. Hidden: there
// are too many to follow.
func (w *walker) readings(args []Arg) (out [][]Arg, tooMany bool) {
	if !slices.ContainsFunc(args, func(a Arg) bool { return len(a.values) > 0 }) {
		return nil, false
	}
	product := 1
	for _, a := range args {
		product = min(product*len(a.texts()), maxReadings)
	}
	all := product < 32
	out = [][]Arg{nil}
	if !all {
		out = nil
	}
	for i, a := range args {
		if all {
			var next [][]Arg
			for _, t := range a.texts() {
				for _, before := range out {
					next = append(next, append(slices.Clip(before), w.fields(a, t)...))
				}
			}
			out = next
			continue
		}
		// Too many to combine: one word at a time.
		for _, t := range a.texts() {
			var one []Arg
			for k, b := range args {
				if k == i {
					one = append(one, w.fields(a, t)...)
				} else {
					one = append(one, w.fields(b, b.texts()[0])...)
				}
			}
			out = append(out, one)
		}
		if len(out) > maxReadings {
			return out, true
		}
	}
	return out, false
}

// fields are the words that one text of an argument becomes.
func (w *walker) fields(a Arg, text string) []Arg {
	if len(a.values) == 0 {
		return []Arg{a}
	}
	open := strings.ContainsAny(text, "$`…") || strings.HasPrefix(text, "~")
	if !a.split {
		return []Arg{{Text: text, Literal: !open, open: a.open}}
	}
	between := " \t\n" + strings.Join(w.vars["IFS"].texts, "")
	var out []Arg
	for _, t := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(between, r) }) {
		glob := strings.ContainsAny(t, "*?[")
		out = append(out, Arg{Text: t, Literal: !open && !glob, Glob: glob && !open, open: a.open})
	}
	return out
}
