package shell

import "strings"

// An answer shows a part of an output, and a part of a key does not look like
// one. So what is hidden is looked for in the part with what stands around it,
// before the part is cut out.

// reach is how far around a part is looked; the longest private keys are much
// shorter.
const reach = 64 << 10

// Span is a part of a text, by its bytes.
type Span struct{ From, To int }

// cover gives text[from:to] with marks in the place of what is hidden in it or
// reaches into it.
func (c *capture) cover(text []byte, from, to int) (string, error) {
	if c.hide == nil {
		return string(text[from:to]), nil
	}
	hidden, err := c.hide(string(text))
	if err != nil {
		return "", err
	}
	var out strings.Builder
	at := from
	for _, h := range hidden {
		if h.To <= at || h.From >= to {
			continue
		}
		if h.From > at {
			out.Write(text[at:h.From])
		}
		out.WriteString(c.mark)
		at = min(h.To, to)
	}
	if at < to {
		out.Write(text[at:to])
	}
	return out.String(), nil
}

// around gives a part of the stream with what stands around it: where the part
// begins and ends in it, and how much there is in all.
func (c *capture) around(offset int64, limit int) (text []byte, from, to int, total int64, err error) {
	start := max(0, offset-reach)
	text, total, err = c.part(start, int(offset-start)+limit+reach)
	if err != nil {
		return nil, 0, 0, total, err
	}
	if from = min(int(offset-start), len(text)); from == len(text) && offset < total { // it was not kept so far
		_, _, err = c.part(offset, limit)
	}
	to = min(from+limit, len(text))
	if start+int64(to) < total {
		to = from + len(whole(text[from:to]))
	}
	return text, from, to, total, err
}
