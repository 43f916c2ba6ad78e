package secrets

import (
	"io"
	"regexp"
	"slices"
	"unicode/utf8"
)

// hunt is one look through one text. It is used again for other texts, so that
// a small one costs no memory.
type hunt struct {
	*Scanner
	text  string
	found []Finding
	left  work
	rule  []progress // by rule
	tried []int      // by use: starts before this were tried
	used  []int      // the rules and uses that are not zero any more
	crowd int        // how far the coarse look has come; -1: there was none
}

// progress is how far a rule is.
type progress struct {
	done  int // nothing before is looked at any more
	clear int // no run begins before this
	first int // where the last run that was found begins,
	last  int // and up to where it still can, plus one
	dirty bool
}

// hunt gives a fresh one.
func (s *Scanner) hunt(found []Finding, text string, left work) *hunt {
	h, ok := s.spare.Get().(*hunt)
	if !ok {
		h = &hunt{Scanner: s, rule: make([]progress, len(s.rules)), tried: make([]int, s.count)}
	}
	h.text, h.found, h.left, h.crowd = text, found, left, -1
	return h
}

// rest puts a hunt away.
func (s *Scanner) rest(h *hunt) {
	for _, i := range h.used {
		if i >= 0 {
			h.rule[i] = progress{}
		} else {
			h.tried[^i] = 0
		}
	}
	h.text, h.found, h.used = "", nil, h.used[:0]
	s.spare.Put(h)
}

// met follows every rule of a keyword that ends here.
func (h *hunt) met(word, end int) {
	begin := end - int(h.words.size[word])
	if h.left.spent() {
		h.coarse(begin, end)
		return
	}
	for _, u := range h.uses[word] {
		h.follow(u, begin, end)
	}
	if h.left.spent() {
		h.coarse(begin, end)
	}
}

// nearby is how far from a keyword a match is looked for by rules whose
// keyword is not part of their matches.
const nearby = 2048

// follow tries a rule where one of its keywords stands. The places where a
// match can begin go forward with the keyword, so that each is tried once.
func (h *hunt) follow(u use, begin, end int) {
	r := h.rules[u.rule]
	if !r.ready() {
		return
	}
	p := &h.rule[u.rule]
	if !p.dirty {
		p.dirty = true
		h.used = append(h.used, u.rule)
	}
	if r.places == nil {
		h.around(p, r, max(begin-nearby, p.done), min(end+nearby, len(h.text)))
		return
	}
	where, tried := r.places[u.index], &h.tried[u.id]
	if *tried == 0 {
		h.used = append(h.used, ^u.id)
	}
	for at := max(begin-where.max, p.done, *tried); at <= begin-where.min; at++ {
		if h.try(p, r, at) {
			at = p.done - 1
		}
	}
	*tried = max(*tried, begin-where.min+1)
}

// around tries a rule everywhere from at to stop, if there is a place for the
// longest run of its matches at all.
func (h *hunt) around(p *progress, r *rule, at, stop int) {
	for at < stop {
		if at >= p.last {
			from, limit := max(at, p.clear), min(len(h.text), stop+nearby)
			run := -1
			if from < limit {
				h.left.use(workByteLook + (limit-from)/4)
				run = r.run.find(h.text[from:limit])
			}
			if run < 0 {
				p.clear = max(p.clear, limit-r.run.min+1)
				break
			}
			end := from + run + r.run.min
			for end < len(h.text) && r.run.set.has(h.text[end]) {
				end++
			}
			h.left.use(end - from)
			p.first, p.last = from+run, end-r.run.min+1
		}
		if at = max(at, p.first-nearby); at >= stop {
			break
		}
		p.done = at + 1
		h.try(p, r, at)
		at = p.done
	}
	p.done = max(p.done, stop)
}

// unbounded is how much of a match without an end is taken in.
const unbounded = 1 << 16

// try looks whether the rule matches at a place. The regexp is given the byte
// before it, so that \b and ^ mean there what they mean in the whole text.
func (h *hunt) try(p *progress, r *rule, at int) bool {
	text := h.text
	h.left.use(workByteLook)
	if at >= len(text) || !r.first.has(text[at]) {
		return false
	}
	if r.boundary && wordByte(text[at]) == (at > 0 && wordByte(text[at-1])) {
		return false
	}
	h.left.use(workLook)
	if !slices.ContainsFunc(r.chains, func(c []step) bool { return fits(c, text[at:]) }) {
		return false
	}
	if h.left.spent() {
		return false // the coarse look begins well before here
	}
	stop := at + min(r.longest, unbounded) + 1
	if r.longest > short {
		stop = h.enough(at, stop)
	}
	whole := stop >= len(text)
	stop = min(stop, len(text))
	re, from := r.bare, at
	if at > 0 {
		re, from = r.behind, at-1
	}
	spans := h.match(re, r.perByte, text[from:stop])
	if spans == nil {
		return false
	}
	h.left.use(workFilter)
	m := match{text: text, from: at, to: from + spans[1], left: &h.left}
	if m.to == at || m.to == stop && !whole {
		return false
	}
	m.secretFrom, m.secretTo = r.secret(spans, from, m)
	p.done = max(m.to, at+1)
	if m.secretFrom == m.secretTo || r.rejection.drops(m) || h.filter.drops(m) {
		return true
	}
	h.found = append(h.found, Finding{Start: m.secretFrom, End: m.secretTo, Rule: r.id})
	return true
}

// match runs a regexp. How far one goes into a long text is only known by
// handing it over rune by rune, and then it can also be stopped.
func (h *hunt) match(re *regexp.Regexp, perByte int, text string) []int {
	h.left.use(workMatch)
	if len(text) > short+1 {
		return re.FindReaderSubmatchIndex(&metered{text: text, left: &h.left})
	}
	spans := re.FindStringSubmatchIndex(text)
	if spans != nil {
		text = text[:spans[1]]
	}
	h.left.use(len(text) * perByte)
	return spans
}

// metered is a text that ends when the work is used up.
type metered struct {
	text string
	left *work
}

func (m *metered) ReadRune() (rune, int, error) {
	if m.text == "" || m.left.spent() {
		return 0, 0, io.EOF
	}
	m.left.use(workThreads)
	r, size := utf8.DecodeRuneInString(m.text)
	m.text = m.text[size:]
	return r, size, nil
}

// short is what a regexp is fast on.
const short = 768

// enough spares a regexp the most of a text that it may go through without an
// end: what is as long as that is one long word, and where there is none the
// beginning will do. The few rules that take in more have a brace first.
func (h *hunt) enough(at, stop int) int {
	near := at + short
	if near >= stop || near >= len(h.text) || h.text[at] == '{' {
		return stop
	}
	for i := near; i > near-short/3; i-- {
		switch h.text[i] {
		case ' ', '\n', '\t', '"', '\'', ',', ';':
			return i + 1
		}
	}
	return stop
}
