package code

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib"
)

// output takes what code prints: beginning and end of it, whatever its length, and every piece as an event. A mark, which the
// driver prints after a cell, says that all of it has come.
type output struct {
	mu    sync.Mutex
	mark  []byte
	head  []byte
	tail  []byte
	half  int
	total int64
	flood int64
	held  []byte // what may be the beginning of a mark
	marks int    // that have come since the cell began
	emit  func(toolcrib.Event)
	news  chan struct{} // a mark has come
	flow  chan struct{} // there is too much of it
}

func newOutput(mark string, keep int, flood int64) *output {
	return &output{mark: []byte(mark), half: keep / 2, flood: flood, news: make(chan struct{}, 1), flow: make(chan struct{}, 1)}
}

// begin begins a cell. What came since the last one, of what goes on in the background, counts to it.
func (o *output) begin(emit func(toolcrib.Event)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.emit, o.marks, o.total = emit, 0, int64(len(o.head)+len(o.tail))
	for _, c := range []chan struct{}{o.news, o.flow} {
		select {
		case <-c:
		default:
		}
	}
}

// end gives what was printed in the cell.
func (o *output) end() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.emit = nil
	text := string(o.head)
	if left := o.total - int64(len(o.head)+len(o.tail)); left > 0 {
		text += fmt.Sprintf("\n[%d bytes are left out]\n", left)
	}
	text += string(o.tail)
	o.head, o.tail, o.total = nil, nil, 0
	return strings.ToValidUTF8(text, "\uFFFD")
}

// Write never fails and never waits.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := len(p)
	if len(o.held) > 0 {
		p = append(o.held, p...)
		o.held = nil
	}
	for {
		at := bytes.Index(p, o.mark)
		if at < 0 {
			break
		}
		o.keep(p[:at])
		p = p[at+len(o.mark):]
		o.marks++
		notify(o.news)
	}
	// The end of it may be the beginning of a mark.
	hold := 0
	for k := min(len(o.mark)-1, len(p)); k > 0; k-- {
		if bytes.HasPrefix(o.mark, p[len(p)-k:]) {
			hold = k
			break
		}
	}
	o.keep(p[:len(p)-hold])
	o.held = bytes.Clone(p[len(p)-hold:])
	return n, nil
}

// shownWhole is how much of it screens are shown.
const shownWhole = 256 << 10

func (o *output) keep(p []byte) {
	if len(p) == 0 {
		return
	}
	before := o.total
	if o.total += int64(len(p)); o.total > o.flood {
		notify(o.flow)
	}
	if o.emit != nil && before < shownWhole {
		o.emit(toolcrib.Event{Kind: "stdout", Text: strings.ToValidUTF8(string(p), "\uFFFD")})
	}
	n := min(len(p), o.half-len(o.head))
	o.head = append(o.head, p[:n]...)
	if p = p[n:]; len(p) > o.half {
		p = p[len(p)-o.half:]
	}
	o.tail = append(o.tail, p...)
	if len(o.tail) > 2*o.half {
		o.tail = append([]byte(nil), o.tail[len(o.tail)-o.half:]...)
	}
}

// marked reports whether the mark of the cell has come.
func (o *output) marked() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.marks > 0
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
