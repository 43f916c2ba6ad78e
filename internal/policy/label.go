package policy

import (
	"fmt"
	"strings"
)

// Labels says what is special about a tool: about what its results bring into
// a conversation, and about where its arguments can end up.
type Labels uint8

// The labels. The zero value is none; what nobody knows has all of them.
const (
	LabelPrivate   Labels = 1 << iota // its results hold what is the person's own: files, memory, mail, accounts
	LabelUntrusted                    // its results were written by others, who may write for the model to read
	LabelPublic                       // what it is given can leave this machine

	// LabelAll is every label.
	LabelAll = LabelPrivate | LabelUntrusted | LabelPublic
	// LabelForeign is what a box that is not ours has. That it holds private data
	// has to be said, by the person or by itself: with all three, every second
	// call of any server would have to be asked about.
	LabelForeign = LabelUntrusted | LabelPublic
)

// LabelsLasting is the labels that stay with a conversation once a result has them.
const LabelsLasting = LabelPrivate | LabelUntrusted

// String lists the words, "none" for none.
func (l Labels) String() string {
	var words []string
	for i, w := range [...]string{"private", "untrusted", "public"} {
		if l&(1<<i) != 0 {
			words = append(words, w)
		}
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, "+")
}

// ParseLabels reads the words of a list. An empty list, and the word none by
// itself, are no label; an unknown word is an error, since a misspelt label
// would be a missing one.
func ParseLabels(words []string) (Labels, error) {
	var l Labels
	for _, w := range words {
		switch strings.TrimSpace(w) {
		case "private":
			l |= LabelPrivate
		case "untrusted":
			l |= LabelUntrusted
		case "public":
			l |= LabelPublic
		case "none":
			if len(words) > 1 {
				return LabelAll, fmt.Errorf("reading labels: none stands beside other words")
			}
		default:
			return LabelAll, fmt.Errorf("reading labels: unknown label %q: want private, untrusted, public or none", clip(w))
		}
	}
	return l, nil
}
