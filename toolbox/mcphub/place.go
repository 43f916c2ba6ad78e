package mcphub

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// errDropped is told by an instance that another has taken the place of.
var errDropped = errors.New("this place was given up")

// instancesMost bounds how many conversations have a server of their own.
const instancesMost = 64

// placeOf names the conversation of a caller. A client of the modern era has no
// session: its person is what is known of it.
func placeOf(c toolcrib.Caller) string {
	if c.Organisation == "" && c.Subject == "" && c.Session == "" {
		return ""
	}
	return c.Organisation + "\x00" + c.Subject + "\x00" + c.Session
}

// personal reports whether people or conversations have servers of their own.
func (b *Box) personal() bool {
	return b.server.Instance == PerSession || b.server.Instance == PerPerson
}

// keyOf names the running server that is for a conversation; empty: the one for
// everybody.
func (b *Box) keyOf(place string) string {
	switch at := strings.LastIndexByte(place, 0); {
	case b.server.Instance == PerSession:
		return place
	case b.server.Instance == PerPerson && at >= 0:
		return place[:at]
	}
	return ""
}

// instance gives the place of a conversation's server.
func (b *Box) instance(place string) (*instance, error) {
	key := b.keyOf(place)
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := b.instances[key]; i != nil && !i.gone() {
		return i, nil
	}
	if b.ctx.Err() != nil {
		return nil, b.overError()
	}
	if len(b.instances) >= instancesMost {
		// Places of servers that are not there are none that count.
		maps.DeleteFunc(b.instances, func(key string, i *instance) bool { return key != "" && i.leave() })
	}
	if len(b.instances) >= instancesMost {
		return nil, fmt.Errorf("%d conversations or people have an MCP server %s of their own already; wait until one of them is idle", len(b.instances), b.name)
	}
	i := &instance{box: b, key: key, stderr: &tail{}}
	b.instances[key] = i
	return i, nil
}

// overError tells who still has a tool of a server that was ended why that is so: the
// one that took its place may not have come up.
func (b *Box) overError() error {
	b.hub.mu.Lock()
	next, closed := b.hub.boxes[b.name], b.hub.closed
	b.hub.mu.Unlock()
	switch {
	case closed || next == b:
		return errors.New("the hub is closed")
	case next == nil:
		return fmt.Errorf("the MCP server %s is not there any more", b.name)
	}
	was, failed := next.failed()
	switch {
	case failed && next.server.Shown != "": // no MCP server to whoever wrote it
		return fmt.Errorf("the toolbox %s was changed, and does not work as it is now: %s", b.name, was.Err)
	case failed:
		return fmt.Errorf("the MCP server %s was set up anew, and does not work as it is now: %s", b.name, was.Err)
	}
	return fmt.Errorf("the MCP server %s was set up anew; call again", b.name)
}

// replaced reports whether what the box is made of was changed: another box has its name now.
func (b *Box) replaced() bool {
	b.hub.mu.Lock()
	next, closed := b.hub.boxes[b.name], b.hub.closed
	b.hub.mu.Unlock()
	return b.server.Shown != "" && b.ctx.Err() != nil && !closed && next != nil && next != b
}

// person is a word for whom an instance is, which tells nothing of them and can be a
// directory; empty: for everybody.
func (i *instance) person() string {
	if i.key == "" || i.box.server.Instance != PerPerson {
		return ""
	}
	sum := sha256.Sum256([]byte(i.key))
	return hex.EncodeToString(sum[:8])
}

// drop forgets the place of a conversation whose server is no longer there.
func (b *Box) drop(i *instance) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i.key != "" && b.instances[i.key] == i {
		delete(b.instances, i.key)
	}
}

// abandon gives up the place of a conversation whose server has ended and that
// nobody uses; the lock is held. Where it failed the place stays, so that the
// failures count.
func (i *instance) abandon() {
	if i.key == "" || i.ended || i.dropped || i.uses > 0 || i.session != nil || i.starting != nil || i.fails > 0 {
		return
	}
	i.dropped = true
	go i.box.drop(i) // the box's lock comes before this one
}

// leave gives up a place without a server, if nobody is about to use it.
func (i *instance) leave() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.uses > 0 || i.session != nil || i.starting != nil {
		return false
	}
	i.dropped = true
	return true
}

func (i *instance) gone() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.dropped
}
