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

// maskText puts marks over a text. Without anything to hide it is nil.
func (b *Box) maskText(text string) (*maskedText, []Span, error) {
	if b.cfg.Hide == nil {
		return nil, nil, nil
	}
	hidden, err := b.cfg.Hide(text)
	if err != nil {
		return nil, nil, fmt.Errorf("it cannot be told what is hidden in the file: %w", err)
	}
	return newMaskedText(text, hidden, b.cfg.Mark), hidden, nil
}

// edit replaces text in a file, as its caller sees the file.
func (b *Box) edit(c *change, oldText, newText string, which int) (err error) {
	text, encoding := string(c.before), guess(c.before[:min(len(c.before), 2)])
	wide := encoding == encUTF16LE || encoding == encUTF16BE
	if wide && b.cfg.Hide != nil {
		text = decode(c.before, encoding)
	}
	v, hidden, err := b.maskText(text)
	if err != nil {
		return err
	}
	if v == nil || len(hidden) == 0 && !strings.Contains(newText, b.cfg.Mark) {
		c.after, c.count, err = replace(c.before, oldText, newText, which)
		return err
	}
	after, count, back, kept, err := v.edited(oldText, newText, which)
	switch {
	case err != nil:
		return err
	case back > 0 && !c.read:
		return errUnread
	}
	c.count, c.after, c.kept, c.text = count, []byte(after), kept, after
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
	v := &maskedText{mark: b.cfg.Mark} // of nothing: no mark has a meaning
	if adds {
		v.literal = bytes.Contains(c.before, []byte(b.cfg.Mark))
	} else if !c.large {
		var err error
		if v, _, err = b.maskText(readable(c.before)); err != nil {
			return "", err
		}
	}
	text, back, err := v.restored(content)
	if err == nil && len(back) > 0 && !c.read {
		err = errUnread
	}
	c.kept, c.text = back, text
	return text, err
}

// checkHiddenKept holds a planned change to the promise that what is hidden stays
// hidden, and says what becomes of it.
func (b *Box) checkHiddenKept(c *change) error {
	if b.cfg.Hide == nil {
		return nil
	}
	mark := []byte(b.cfg.Mark)
	if !c.large && !bytes.Contains(c.before, mark) && bytes.Contains(c.after, mark) {
		return fmt.Errorf("the new text would have %s in it: %w", b.cfg.Mark, errMark) // put together of pieces
	}
	before, after := readable(c.before), readable(c.after)
	old, hid, err := b.maskText(before)
	if err != nil {
		return err
	}
	now, hides, err := b.maskText(after)
	if err != nil {
		return err
	}
	if err := b.stillHidden(c, before, after, hid, hides); err != nil {
		return err
	}
	c.veiled, c.old, c.new = true, old.text(), now.text()
	// By where values are, not by what they are: whoever writes a value that he
	// guessed learns nothing.
	stay := len(c.kept)
	gone, fresh := max(0, len(hid)-stay), max(0, len(hides)-stay)
	c.brings = fresh > 0
	c.what += say(stay, "stays as it is", "stay as they are") + say(gone, "is removed", "are removed") + say(fresh, "is new", "are new")
	return nil
}

// stillHidden makes sure that what was hidden and stays in the file is hidden
// afterwards. Only bytes that come from the file count: a value that the caller
// has brought tells him nothing.
func (b *Box) stillHidden(c *change, before, after string, hid, hides []Span) error {
	if c.adds {
		c.kept, c.text = hid, after
		if !strings.HasPrefix(after, before) && len(hid) > 0 {
			return errUncovered // it would be read as other letters
		}
	}
	if len(c.kept) == 0 {
		return nil
	}
	if kind(c.before) != kind(c.after) {
		return errUncovered // the same
	}
	if c.text != after { // it is edited as bytes, whatever they mean
		var err error
		if hides, err = b.cfg.Hide(c.text); err != nil {
			return err
		}
	}
	for _, k := range c.kept {
		if !within(k, hides) {
			return errUncovered
		}
	}
	return nil
}

// within reports whether spans, which are in order, cover another.
func within(k Span, spans []Span) bool {
	for _, s := range spans {
		if s.From <= k.From && k.From < s.To {
			if k.From = s.To; k.From >= k.To {
				return true
			}
		}
	}
	return k.From >= k.To
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
