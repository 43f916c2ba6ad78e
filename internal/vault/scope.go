package vault

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Everyone, as the organisation of a secret, shares it with the callers of all
// organisations. It has to be said: an empty organisation is the node's own.
const Everyone = "*"

const (
	maxName  = 128
	maxWord  = 256
	maxValue = 1 << 20
)

// Scope is for whom a secret is, or who looks for one.
//
// A lookup finds the first of these, where X is the organisation, S the subject
// and T the tool or server it is made for:
//
//  1. X, S, T
//  2. X, S, any tool
//  3. X, any subject, T
//  4. X, any subject, any tool
//  5. Everyone, T
//  6. Everyone, any tool
//
// A tool is written box/tool, and box alone is every tool of it: where T is a
// tool, what is for its box comes right after what is for T.
//
// One's own comes before what is made for the tool: a person who has a token of
// their own acts under it, and not under the one the organisation gave the tool.
// A lookup without subject or tool sees only secrets without one. The empty
// organisation is one like the others: its secrets are not seen by named
// organisations, nor theirs by it.
type Scope struct {
	Organisation string `json:"organisation,omitempty"`
	Subject      string `json:"subject,omitempty"` // empty: every subject of the organisation
	Tool         string `json:"tool,omitempty"`    // box/tool, or a box or server; empty: every one
}

// Ref names one secret exactly.
type Ref struct {
	Scope
	Name string `json:"name"`
}

// Info is what may be told of a secret.
type Info struct {
	Ref
	Changed time.Time `json:"changed"`
}

// String writes a reference for messages: name, then whose it is.
func (r Ref) String() string {
	var b strings.Builder
	b.WriteString(r.Name)
	for _, part := range [...]struct{ label, word string }{{"organisation", r.Organisation}, {"subject", r.Subject}, {"tool", r.Tool}} {
		if part.word != "" {
			b.WriteString(" (" + part.label + " " + part.word + ")")
		}
	}
	return b.String()
}

// order lists the scopes in which a lookup looks, the narrowest first.
func (s Scope) order() []Scope {
	box, _, _ := strings.Cut(s.Tool, "/")
	tools := slices.Compact([]string{s.Tool, box, ""})
	var list []Scope
	for _, who := range slices.Compact([]Scope{{s.Organisation, s.Subject, ""}, {s.Organisation, "", ""}, {Everyone, "", ""}}) {
		for _, tool := range tools {
			list = append(list, Scope{who.Organisation, who.Subject, tool})
		}
	}
	return list
}

// checkLookup refuses the scope of a caller that could not be one: somebody who
// is called * must not thereby be everyone.
func (s Scope) checkLookup() error {
	if s.Organisation == Everyone {
		return invalid("a lookup is made for one organisation, not for all")
	}
	return s.check()
}

func (s Scope) check() error {
	for _, part := range [...]struct{ label, word string }{{"organisation", s.Organisation}, {"subject", s.Subject}, {"tool", s.Tool}} {
		if err := checkWord(part.label, part.word); err != nil {
			return err
		}
	}
	if s.Organisation == Everyone && s.Subject != "" {
		return invalid("a secret for every organisation cannot be for one subject: equal names in two organisations are two people")
	}
	return nil
}

func checkWord(label, word string) error {
	if len(word) > maxWord {
		return invalid("the %s has %d bytes; at most %d are taken", label, len(word), maxWord)
	}
	if !utf8.ValidString(word) || strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return invalid("the %s has characters that cannot be shown", label)
	}
	if label != "organisation" && word == "*" {
		return invalid("the %s cannot be *; leave it out to mean every one", label)
	}
	return nil
}

// Check says what is wrong with a reference, as Set would, without repeating
// the name.
func (r Ref) Check() error { return r.check() }

func (r Ref) check() error {
	if err := CheckName(r.Name); err != nil {
		return err
	}
	return r.Scope.check()
}

// CheckName says what is wrong with a secret's name, without repeating it: what
// was typed there by mistake may be the secret itself.
func CheckName(name string) error {
	switch {
	case name == "":
		return invalid("the secret has no name")
	case len(name) > maxName:
		return invalid("the secret's name has %d bytes; at most %d are taken", len(name), maxName)
	case name[0] == '.' || name[0] == '-':
		return invalid("a secret's name begins with a letter, a digit or _")
	}
	for i := range len(name) {
		if !nameByte(name[i]) {
			return invalid("a secret's name has only letters, digits, and _ . - (byte %d is another)", i)
		}
	}
	return nil
}

func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-'
}

func checkValue(value string) error {
	if value == "" {
		return invalid("the value is empty; remove the secret instead")
	}
	if len(value) > maxValue {
		return invalid("the value has %d bytes; at most %d are kept", len(value), maxValue)
	}
	return nil
}

// compareRefs sorts by organisation, subject, tool and name.
func compareRefs(a, b Ref) int {
	return cmp.Or(cmp.Compare(a.Organisation, b.Organisation), cmp.Compare(a.Subject, b.Subject),
		cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Name, b.Name))
}
