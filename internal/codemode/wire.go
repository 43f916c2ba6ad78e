package codemode

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Kind is what a message is.
type Kind byte

// The messages. The host sends Run once, then replies; the worker sends the rest.
const (
	Run    Kind = iota + 1 // ID: milliseconds that it may compute, Name: the code, Body: the input
	Reply                  // ID, Body: JSON
	Refuse                 // ID, Name: the code of the fault, Body: its message

	Ready    // the worker waits for a script
	Call     // ID, Name: the tool, Body: the arguments
	Search   // ID, Name: the query
	Describe // ID, Name: the tool
	Wait     // ID: the script does nothing until this call is answered
	Log      // Name: a line
	Done     // ID: lines of the log that were not sent, Body: the value
	Failed   // the same, Body: an Exception
)

// Message goes over the pipe.
type Message struct {
	Kind Kind
	// Waits is set on a call that the script waits for at once.
	Waits bool
	ID    uint32
	Name  string
	Body  []byte
}

// MaxName bounds names that are no code: more than any tool has.
const MaxName = 64 << 10

var errFrame = errors.New("a message that does not fit the protocol")

// header is the length of everything before the name: kind, flags, ID, and two lengths.
const header = 1 + 1 + 4 + 4 + 4

// Write puts a message into w, which the caller flushes.
func Write(w *bufio.Writer, m Message) error {
	var h [header]byte
	h[0] = byte(m.Kind)
	if m.Waits {
		h[1] = 1
	}
	binary.LittleEndian.PutUint32(h[2:], m.ID)
	binary.LittleEndian.PutUint32(h[6:], uint32(len(m.Name)))  //nolint:gosec // bounded by the reader
	binary.LittleEndian.PutUint32(h[10:], uint32(len(m.Body))) //nolint:gosec // bounded by the reader
	if _, err := w.Write(h[:]); err != nil {
		return err
	}
	if _, err := w.WriteString(m.Name); err != nil {
		return err
	}
	_, err := w.Write(m.Body)
	return err
}

// Read takes one message out of r. Nothing is allocated that did not arrive.
func Read(r *bufio.Reader) (Message, error) {
	var h [header]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return Message{}, err
	}
	m := Message{Kind: Kind(h[0]), Waits: h[1] == 1, ID: binary.LittleEndian.Uint32(h[2:])}
	name, body := binary.LittleEndian.Uint32(h[6:]), binary.LittleEndian.Uint32(h[10:])
	most := uint32(MaxName)
	if m.Kind == Run {
		most = MaxCode
	}
	if m.Kind < Run || m.Kind > Failed || h[1] > 1 || name > most || body > MaxValue {
		return Message{}, fmt.Errorf("%w: kind %d, %d and %d bytes", errFrame, h[0], name, body)
	}
	text, err := take(r, int(name))
	if err != nil {
		return Message{}, err
	}
	m.Name = string(text)
	m.Body, err = take(r, int(body))
	return m, err
}

// take reads n bytes, growing as they come.
func take(r *bufio.Reader, n int) ([]byte, error) {
	const step = 64 << 10
	out := make([]byte, 0, min(n, step))
	for len(out) < n {
		from := len(out)
		part := min(n-from, max(step, from))
		if cap(out) < from+part {
			grown := make([]byte, from, from+part)
			copy(grown, out)
			out = grown
		}
		out = out[:from+part]
		if _, err := io.ReadFull(r, out[from:]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
