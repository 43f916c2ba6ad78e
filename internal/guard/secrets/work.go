package secrets

import "regexp/syntax"

// work is how much may still be done for a text, about in nanoseconds. It is
// counted, not measured: the same text always has the same findings.
type work int

const (
	workText      = 1_000_000 // for any text,
	workByte      = 15        // and for each byte of it
	workByteLook  = 5         // to see whether a match can begin with a byte,
	workLook      = 70        // or with the bytes of a place
	workMatch     = 1500      // to start a regexp
	workFilter    = 20_000    // to judge a match
	workBacktrack = 30        // per byte, of a regexp that backtracks,
	workThreads   = 150       // and of one that is too large for that
	maxBacktrack  = 500       // instructions
)

func workFor(text string) work { return work(workText + workByte*len(text)) }

// workOf is what a regexp costs for each byte.
func workOf(tree *syntax.Regexp) int {
	if prog, err := syntax.Compile(tree.Simplify()); err != nil || len(prog.Inst) > maxBacktrack {
		return workThreads
	}
	return workBacktrack
}

func (w *work) use(n int) {
	if w != nil {
		*w -= work(n)
	}
}

func (w *work) spent() bool { return *w < 0 }

// RuleCrowd is the rule of what is found near a keyword in a text that has too
// many of them to look closely.
const RuleCrowd = "near-keyword"

const (
	crowdBefore = 256 // how far around a keyword the coarse look goes
	crowdAfter  = 1024
	crowdLeast  = 8
	crowdLong   = 16
)

// coarse takes every word near a keyword that could be a secret, when the work
// for the text is used up. It goes over each byte once, and errs on the safe
// side: who fills a text with keywords does not hide a key in it.
func (h *hunt) coarse(begin, end int) {
	at := max(0, begin-crowdBefore, h.crowd)
	if h.crowd < 0 {
		at = max(0, begin-nearby) // the rules were left in the middle of this
	}
	for at > max(0, h.crowd) && crowdByte(h.text[at-1]) {
		at--
	}
	for stop := min(len(h.text), end+crowdAfter); at < stop; {
		if !crowdByte(h.text[at]) {
			at++
			continue
		}
		from, kinds := at, 0
		for ; at < len(h.text) && crowdByte(h.text[at]); at++ {
			switch c := h.text[at]; {
			case digit(c):
				kinds |= 7
			case upper(c):
				kinds |= 1
			case letter(c):
				kinds |= 2
			}
		}
		if n := at - from; n >= crowdLong || n >= crowdLeast && (kinds == 3 || kinds == 7) {
			h.found = append(h.found, Finding{Start: from, End: at, Rule: RuleCrowd})
		}
	}
	h.crowd = at
}

func crowdByte(c byte) bool {
	switch c {
	case '_', '-', '+', '/', '=', '.', '~', '%', ':', '@', '!', '$', '&', '*', '^', '#', '?':
		return true
	}
	return digit(c) || letter(c) || c >= 0x80
}
