package code

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"sync"
)

// What goes over the pipes of a session. To the driver: a line of words and, for some, as many bytes as its last word says.
//
//	hello N, put NAME N, run CELL N, types CELL N, get CELL NAME MOST, interrupt CELL
//
// types is run for code with types, which the driver takes out.
//
// From the driver: frames, each a line KIND CELL N and N bytes. Names are written in hexadecimal, so that they are words. The code
// runs in the same process as the driver and can write frames too: it then fools its own caller about its own answer, and
// no more.

// The bounds of what a driver may send for one cell.
const (
	maxLine    = 200
	maxPayload = 48 << 20
	maxFrames  = 400
)

type frame struct {
	kind string
	cell int
	data []byte
}

// hello, put, run, get and interrupt write commands.
func helloCommand(data []byte) []byte { return withData("hello", data) }

func putCommand(name string, data []byte) []byte {
	return withData("put "+hex.EncodeToString([]byte(name)), data)
}

func runCommand(cell int, code string, types bool) []byte {
	if types {
		return withData("types "+strconv.Itoa(cell), []byte(code))
	}
	return withData("run "+strconv.Itoa(cell), []byte(code))
}

func getCommand(cell int, name string, most int64) []byte {
	return fmt.Appendf(nil, "get %d %s %d\n", cell, hex.EncodeToString([]byte(name)), most)
}

func interruptCommand(cell int) []byte { return fmt.Appendf(nil, "interrupt %d\n", cell) }

func withData(words string, data []byte) []byte {
	return append(fmt.Appendf(nil, "%s %d\n", words, len(data)), data...)
}

// wire reads frames out of what a driver writes. It never blocks the driver and keeps no more than the bounds allow.
type wire struct {
	mu      sync.Mutex
	cell    int // frames of others are dropped
	frames  []frame
	kept    int    // bytes of them
	left    int    // frames that were left out
	ended   bool   // the last frame of the cell has come
	broken  error  // it is not understood any more
	line    []byte // of a frame that begins
	current *frame // whose bytes are coming
	missing int    // bytes of it that are still to come
	drop    bool   // they are not kept
	news    chan struct{}
}

func newWire() *wire { return &wire{news: make(chan struct{}, 1)} }

// expect begins a cell.
func (w *wire) expect(cell int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cell, w.frames, w.kept, w.left, w.ended = cell, nil, 0, 0, false
	select {
	case <-w.news:
	default:
	}
}

// state tells whether the cell is over or the stream is broken.
func (w *wire) state() (ended bool, broken error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended, w.broken
}

// taken gives the frames of the cell, and how many were left out.
func (w *wire) taken() ([]frame, int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	frames := w.frames
	w.frames, w.kept = nil, 0
	return frames, w.left
}

// Write takes what the driver wrote. It never fails.
func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for rest := p; len(rest) > 0 && w.broken == nil; {
		rest = w.feed(rest)
	}
	if w.ended || w.broken != nil {
		select {
		case w.news <- struct{}{}:
		default:
		}
	}
	return len(p), nil
}

// feed takes a piece and gives back what is left of it.
func (w *wire) feed(p []byte) []byte {
	if w.current != nil {
		n := min(len(p), w.missing)
		if !w.drop {
			w.current.data = append(w.current.data, p[:n]...)
		}
		if w.missing -= n; w.missing == 0 {
			w.complete()
		}
		return p[n:]
	}
	end := bytes.IndexByte(p, '\n')
	if end < 0 {
		end = len(p)
	}
	if len(w.line)+end > maxLine {
		w.broken = errLine
		return nil
	}
	w.line = append(w.line, p[:end]...)
	if end == len(p) {
		return nil
	}
	f, size, err := readHeader(w.line)
	w.line = w.line[:0]
	if err != nil {
		w.broken = err
		return nil
	}
	last := f.kind == "done" || f.kind == "file" || f.kind == "nofile" || f.kind == "ready"
	w.drop = f.cell != w.cell || w.ended
	if !w.drop && !last && (len(w.frames) >= maxFrames || w.kept+size > maxPayload) {
		w.left++
		w.drop = true
	}
	if w.current, w.missing = &f, size; size == 0 {
		w.complete()
	}
	return p[end+1:]
}

// complete keeps a frame whose bytes have come.
func (w *wire) complete() {
	f := *w.current
	w.current = nil
	if w.drop {
		return
	}
	w.frames, w.kept = append(w.frames, f), w.kept+len(f.data)
	switch f.kind {
	case "done", "file", "nofile", "ready":
		w.ended = true
	}
}

var errLine = fmt.Errorf("a line of more than %d bytes", maxLine)

// readHeader reads the line of a frame.
func readHeader(line []byte) (f frame, size int, err error) {
	words := bytes.Split(line, []byte(" "))
	if len(words) != 3 {
		return f, 0, fmt.Errorf("a frame begins with %q", line)
	}
	cell, err := strconv.ParseUint(string(words[1]), 10, 31)
	if err != nil {
		return f, 0, fmt.Errorf("a frame begins with %q", line)
	}
	n, err := strconv.ParseUint(string(words[2]), 10, 31)
	if err != nil || n > maxPayload {
		return f, 0, fmt.Errorf("a frame begins with %q", line)
	}
	return frame{kind: string(words[0]), cell: int(cell)}, int(n), nil
}
