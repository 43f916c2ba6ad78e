package secrets

import (
	"slices"
	"strings"
)

// Carried are the values that were found in the parts of a text which is too
// long to be looked through as a whole. They are secrets in each of its parts, as
// [Scanner.Find] has it for the places of one text. The zero value has none.
type Carried struct {
	known map[string]bool
	list  []string
	bytes int
	ready *repeats // of list
}

// carriedBytes bounds the values of one text. No file that tools change has more.
const carriedBytes = 16 << 20

// Add keeps what was found in a part.
func (c *Carried) Add(text string, found []Finding) {
	for _, f := range found {
		value := text[f.Start:f.End]
		if !repeatable(value) || c.known[value] || c.bytes+len(value) > carriedBytes {
			continue
		}
		if c.known == nil {
			c.known = map[string]bool{}
		}
		value = strings.Clone(value) // the part is not kept
		c.known[value] = true
		c.list = append(c.list, value)
		c.bytes += len(value)
		c.ready = nil
	}
}

// Find gives what was found in a part together with the values of the others in
// it. What comes in is merged, and so is what is given.
func (c *Carried) Find(text string, found []Finding) []Finding {
	if len(c.list) == 0 {
		return found
	}
	if c.ready == nil {
		c.ready = newRepeats(len(c.list))
		for _, value := range c.list {
			c.ready.add(value, ruleAssigned)
		}
	}
	if more := c.ready.find(text, found); len(more) > 0 {
		return Merge(slices.Concat(found, more))
	}
	return found
}
