package files

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/difference"
)

// change is what a call would do to one file.
type change struct {
	name          string // as the caller gave it
	path          string // where that leads, if it does already
	before, after []byte
	was           files.Stamp // of the content before; zero: there is no file
	large         bool        // before is too large to be read
	count         int         // replacements
	what          string      // what else there is to say to the person who is asked
	read          bool        // the caller has read it in this conversation
	adds          bool        // it only adds to the end
	kept          []Span      // where text is, what was hidden before
	text          string      // the new content as kept counts it
	brings        bool        // the caller has brought what is hidden
	veiled        bool        // the difference is of the two texts below
	old, new      string      // before and after, without what is hidden
}

func (c *change) isNew() bool { return c.was == files.Stamp{} }

func (c *change) diff() string {
	if c.large {
		return difference.Header(c.name) + "(the difference is not shown: the file is too large)\n"
	}
	if c.veiled {
		if c.old == c.new && (c.brings || !bytes.Equal(c.before, c.after)) {
			return difference.Header(c.name) + "(only what is hidden, or bytes that are no text, would differ)\n"
		}
		return difference.Unified(c.name, []byte(c.old), []byte(c.new))
	}
	return difference.Unified(c.name, c.before, c.after)
}

// load reads what is there now and refuses it if that is not what the caller
// has seen.
func (b *Box) load(env *toolcrib.Env, handle *files.Handle, name string) (*change, error) {
	c := &change{name: name}
	info, err := handle.Stat(name)
	switch {
	case err != nil:
	case info.Mode().IsRegular() && info.Size() > b.cfg.MaxEdit:
		c.large = true
		c.was, err = handle.Stamp(name)
	default:
		c.before, c.was, err = handle.ReadFile(name, b.cfg.MaxEdit)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if c.path, err = handle.Real(name); err != nil {
		return nil, err
	}
	seen, ok := b.seen.get(keyFor(env, c.path))
	if ok && !seen.Same(c.was) {
		return nil, fmt.Errorf("the file changed since you last read it; read it again before you change it: %q", name)
	}
	c.read = seen.read
	return c, nil
}

// apply writes the new content if the old one is still there.
func (b *Box) apply(env *toolcrib.Env, handle *files.Handle, c *change) error {
	if !c.large { // what is not read cannot be kept
		b.keep(env, Kept{Path: c.path, Before: c.before, New: c.isNew(), After: files.StampOf(c.after)})
	}
	if err := handle.WriteFile(c.name, c.after, &c.was); err != nil {
		return err
	}
	// It is written: what fails from here on must not be taken for a refusal.
	if path, err := handle.Real(c.name); err == nil {
		c.path = path
	}
	b.seen.put(keyFor(env, c.path), knownFile{files.StampOf(c.after), c.read})
	return nil
}

// keep tells whoever wants to know what a call changes.
func (b *Box) keep(env *toolcrib.Env, k Kept) {
	if b.cfg.Keep != nil {
		k.Call, k.Subject = env.Call.ID, env.Call.Caller.Subject
		b.cfg.Keep(k)
	}
}

// planner tells what a call would change.
type planner[In any] func(*toolcrib.Env, *files.Handle, In) (*change, error)

// preview makes a tool tell the person who is asked what it would change, and
// remembers what they were shown.
func preview[In any](b *Box, plan planner[In]) func(context.Context, *toolcrib.Env, json.RawMessage) (string, error) {
	return func(_ context.Context, env *toolcrib.Env, input json.RawMessage) (string, error) {
		var in In
		if err := json.Unmarshal(input, &in); err != nil {
			return "", fmt.Errorf("reading the input: %w", err)
		}
		handle, err := granted(env)
		if err != nil {
			return "", err
		}
		c, err := plan(env, handle, in)
		if err != nil {
			return "", err
		}
		text := c.what + c.diff()
		if text == "" {
			text = "(nothing would change: the file holds exactly this already)\n"
		}
		key := approvedKey{keyFor(env, c.name), env.Call.ID}
		if shown, again := b.approved.get(key); !again || shown.text != text { // the same is not shown twice, and is about the file that was there first
			b.approved.put(key, approval{c.path, c.what, text, c.was})
		}
		return text, nil
	}
}

// approval is a file as a person saw it before they approved of a call.
type approval struct {
	path, what, text string
	was              files.Stamp
}

// approvedKey is by name too: the person may have changed the arguments, and
// another name was never shown.
type approvedKey struct {
	seenKey
	call string
}

// planned tells what a call is about to change, and refuses it if that is not
// what the person was shown.
func planned[In any](b *Box, env *toolcrib.Env, handle *files.Handle, in In, plan planner[In]) (*change, error) {
	c, err := plan(env, handle, in)
	if err != nil {
		return nil, err
	}
	shown, ok := b.approved.take(approvedKey{keyFor(env, c.name), env.Call.ID})
	if ok && (shown.path != c.path || shown.what != c.what || !shown.was.Same(c.was)) {
		return nil, fmt.Errorf("the file changed since this call was approved; read it again and make a new call: %q", c.name)
	}
	return c, nil
}
