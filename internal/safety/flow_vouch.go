package safety

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// Vouch knows the ways out that a person answers for, so that nobody has to be
// asked about them when private data was read: a short question to the search
// engine of the configuration, and a short address at a host that is named,
// such as one of documentation. What is sent there does not get to whoever
// wrote the words that the model reads.
//
// It never speaks for a conversation that has read content from outside, nor
// for a call that another tool makes.
type Vouch struct {
	Box   string   // of our own web tools
	Hosts []string // exact names; a port other than that of the scheme is another host
}

// Bounds on what a vouched call carries. They are those of a page's name and of
// a question; a file does not fit.
const (
	maxVouchedPath  = 160
	maxVouchedQuery = 120
	maxVouchedWord  = 40 // without a sign that parts words: longer ones are no words but data
)

// Vouched reports whether a call may go without a question.
func (v Vouch) Vouched(r toolcrib.Review) bool {
	if r.Spec.Box != v.Box {
		return false
	}
	var in struct {
		URL   string `json:"url"`
		Query string `json:"query"`
	}
	if json.Unmarshal(r.Input, &in) != nil {
		return false
	}
	switch r.Spec.Native {
	case "web_search":
		return len(in.Query) <= maxVouchedQuery && madeOfWords(in.Query) && !strings.Contains(in.Query, "://")
	case "web_fetch":
		return v.address(in.URL)
	}
	return false
}

// address reports whether a page of a named host is meant, and nothing else.
func (v Vouch) address(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.User != nil || u.Opaque != "" {
		return false
	}
	if !slices.Contains(v.Hosts, strings.ToLower(u.Host)) { // with its port, if it has one
		return false
	}
	rest, err := url.PathUnescape(text[len("https://"):])
	if err != nil {
		return false
	}
	_, rest, _ = strings.Cut(rest, "/")
	// Something that looks like an address may be where the host sends its reader on.
	if len(rest) > maxVouchedPath || u.RawQuery != "" || strings.Contains(rest, "//") || strings.Contains(rest, "%") || strings.Contains(rest, "@") {
		return false
	}
	return madeOfWords(rest)
}

// madeOfWords reports whether a text is made of words, not of data.
func madeOfWords(text string) bool {
	run, digits := 0, 0
	for _, c := range text {
		switch {
		case c < ' ' || c > '~':
			return false
		case strings.ContainsRune(" /-_.,:;#()'\"", c):
			run, digits = 0, 0
			continue
		case c >= '0' && c <= '9':
			digits++
		}
		if run++; run > maxVouchedWord || digits > 8 {
			return false
		}
	}
	return true
}
