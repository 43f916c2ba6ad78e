package files

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// This file holds changes to what their caller is not shown of a file. A value
// that is hidden is put back only into the file that hides it, for a caller that
// has read it, at its place; it is not found by guessing, and no change makes
// it seen.

// errUnread is a mark in a file that this conversation has not read: whoever
// guesses what a file hides gets nothing of it moved.
var errUnread = errors.New("the text has a mark in the place of a hidden value, but this conversation has not read the file; read it with read_file first")

// errUncovered is a change by which a hidden value would be shown.
var errUncovered = errors.New("after this change a value that is hidden now would no longer be recognised and hidden. " +
	"Nothing was written; leave the line that hides it, and what it ends with, as they are")

// veil puts marks over a text. Without anything to hide it is nil.
func (b *Box) veil(text string) (*veil, []Span, error) {
	if b.cfg.Hide == nil {
		return nil, nil, nil
	}
	hidden, err := b.cfg.Hide(text)
	if err != nil {
		return nil, nil, fmt.Errorf("it cannot be told what is hidden in the file: %w", err)
	}
	return newVeil(text, hidden, b.cfg.Mark), hidden, nil
}

// edit replaces text in a file, as its caller sees the file.
func (b *Box) edit(c *change, oldText, newText string, which int) (err error) {
	text, encoding := string(c.before), guess(c.before[:min(len(c.before), 2)])
	wide := encoding == encUTF16LE || encoding == encUTF16BE
	if wide && b.cfg.Hide != nil {
		text = decode(c.before, encoding)
	}
	v, hidden, err := b.veil(text)
	if err != nil {
		return err
	}
	if v == nil || len(hidden) == 0 && !strings.Contains(newText, b.cfg.Mark) {
		c.after, c.count, err = replace(c.before, oldText, newText, which)
		return err
	}
	after, count, back, err := v.edited(oldText, newText, which)
	switch {
	case err != nil:
		return err
	case back > 0 && !c.read:
		return errUnread
	}
	c.count, c.after = count, []byte(after)
	if wide {
		if c.after, err = encode("\ufeff"+after, encoding); err != nil {
			return err
		}
	}
	return nil
}

// restore puts the hidden values of a file back into what is to be written to
// it.
func (b *Box) restore(c *change, content string, adds bool) (string, error) {
	if b.cfg.Hide == nil || !strings.Contains(content, b.cfg.Mark) {
		return content, nil
	}
	v := &veil{mark: b.cfg.Mark} // of nothing: no mark has a meaning
	if adds {
		v.literal = bytes.Contains(c.before, []byte(b.cfg.Mark))
	} else if !c.large {
		var err error
		if v, _, err = b.veil(readable(c.before)); err != nil {
			return "", err
		}
	}
	text, back, err := v.restored(content)
	if err == nil && back > 0 && !c.read {
		err = errUnread
	}
	return text, err
}

// settle holds a planned change to the promise that what is hidden stays
// hidden, and says what becomes of it.
func (b *Box) settle(c *change) error {
	if b.cfg.Hide == nil {
		return nil
	}
	mark := []byte(b.cfg.Mark)
	if !c.large && !bytes.Contains(c.before, mark) && bytes.Contains(c.after, mark) {
		return fmt.Errorf("the new text would have %s in it: %w", b.cfg.Mark, errMark) // put together of pieces
	}
	before, after := readable(c.before), readable(c.after)
	old, hid, err := b.veil(before)
	if err != nil {
		return err
	}
	if kind(c.before) != kind(c.after) && disguised(c.after, tally(before, hid)) {
		return errUncovered
	}
	now, hides, err := b.veil(after)
	if err != nil {
		return err
	}
	c.veiled, c.old, c.new = true, old.text(), now.text()
	was, is := tally(before, hid), tally(after, hides)
	if len(was)*(len(before)+len(after)) > maxSettle {
		return fmt.Errorf("the file hides %d values, too many for a change of a file of this size", len(was))
	}
	stay, gone, fresh := 0, 0, 0
	for value, n := range was {
		stay += min(n, is[value])
		gone += max(0, n-is[value])
		if uncovered(after, hides, value) > uncovered(before, hid, value) {
			return errUncovered
		}
	}
	for value, n := range is {
		fresh += max(0, n-was[value])
	}
	c.what += say(stay, "stays as it is", "stay as they are") + say(gone, "is removed", "are removed") + say(fresh, "is new", "are new")
	return nil
}

// disguised reports whether bytes have one of these values in them by any way to
// read them: where the encoding becomes another, the same bytes are other letters.
func disguised(data []byte, values map[string]int) bool {
	for _, text := range []string{string(data), decode(data, encLatin1), string(bytes.ReplaceAll(data, []byte{0}, nil))} {
		for value := range values {
			if strings.Contains(text, value) {
				return true
			}
		}
	}
	return false
}

// maxSettle bounds the bytes that are looked through for hidden values.
const maxSettle = 4 << 30

// uncovered counts how often a value is seen in a text, as a whole or in part.
func uncovered(text string, hidden []Span, value string) (n int) {
	for at := 0; ; {
		i := strings.Index(text[at:], value)
		if i < 0 {
			return n
		}
		at += i
		for len(hidden) > 0 && hidden[0].To <= at {
			hidden = hidden[1:]
		}
		if len(hidden) == 0 || hidden[0].From > at || hidden[0].To < at+len(value) {
			n++
		}
		at += len(value)
	}
}

// tally counts the values that are hidden in a text.
func tally(text string, hidden []Span) map[string]int {
	count := map[string]int{}
	for _, s := range hidden {
		if from, to := max(s.From, 0), min(s.To, len(text)); from < to {
			count[text[from:to]]++
		}
	}
	return count
}

func say(n int, one, many string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 hidden value " + one + "\n"
	}
	return fmt.Sprintf("%d hidden values %s\n", n, many)
}
