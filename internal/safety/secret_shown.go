package safety

import (
	"bytes"
	"strings"

	"github.com/toolcrib/toolcrib/internal/keytext"
	"github.com/toolcrib/toolcrib/internal/safety/secrets"
)

// shownFindings is what is hidden in a question or a record. It is less than
// what is hidden from a model: who is asked has to see the command, and a model
// that writes a BEGIN line above it and an END line below must not hide it. So
// of a private key only its base64 goes, and of a value no command in
// backquotes. What is known to be a secret goes in any case.
func shownFindings(scanner *secrets.Scanner, known *secrets.Known, text string) []secrets.Finding {
	found := scanner.Find(text, known)
	var out []secrets.Finding
	narrowed := false
	again := []byte(nil) // the text, with keys made unknowable
	for _, f := range found {
		key := f.Rule == "private-key"
		if !key && f.Start > 0 && f.End < len(text) && text[f.Start-1] == '`' && text[f.End] == '`' && strings.ContainsAny(text[f.Start:f.End], shellSigns) {
			narrowed = true
			continue
		}
		parts := hiddenParts(text[f.Start:f.End], key)
		if len(parts) == 1 && parts[0] == (keytext.Span{To: f.End - f.Start}) {
			out = append(out, f)
			continue
		}
		narrowed = true
		for _, p := range parts {
			out = append(out, secrets.Finding{Start: f.Start + p.From, End: f.Start + p.To, Rule: f.Rule})
		}
		if key {
			if again == nil {
				again = []byte(text)
			}
			for _, p := range parts {
				copy(again[f.Start+p.From:], bytes.Repeat([]byte("."), p.To-p.From))
			}
			const name = "PRIVATE KEY"
			copy(again[f.Start:], bytes.ReplaceAll(again[f.Start:f.End], []byte(name), bytes.Repeat([]byte("."), len(name))))
		}
	}
	if !narrowed {
		return out
	}
	if again != nil { // what else is a secret was one finding with the key around it
		for _, f := range scanner.Find(string(again), known) {
			for _, p := range hiddenParts(text[f.Start:f.End], false) {
				out = append(out, secrets.Finding{Start: f.Start + p.From, End: f.Start + p.To, Rule: f.Rule})
			}
		}
	}
	return secrets.Merge(append(out, known.Find(text, 0)...))
}

// shellSigns are what a command has that is more than the name of a program.
const shellSigns = " \t\n|;&$<>("

// hiddenParts gives what of a finding is hidden from people.
func hiddenParts(text string, key bool) []keytext.Span {
	if key && strings.Contains(text, "-----BEGIN ") { // as it is, and not in some other writing
		return keytext.Keys(text)
	}
	var out []keytext.Span
	at := 0
	for from := strings.IndexByte(text, '`'); from >= 0; {
		size := strings.IndexByte(text[from+1:], '`')
		if size < 0 {
			break
		}
		to := from + size + 2
		if strings.ContainsAny(text[from:to], shellSigns) {
			if from > at {
				out = append(out, keytext.Span{From: at, To: from})
			}
			at = to
		}
		next := strings.IndexByte(text[to:], '`')
		if next < 0 {
			break
		}
		from = to + next
	}
	if at < len(text) {
		out = append(out, keytext.Span{From: at, To: len(text)})
	}
	return out
}
