// Package worker is the other side of package codemode: it runs one script in
// QuickJS, in a process that has nothing but two pipes. What it cannot do itself it
// asks the host for.
//
// Its invariant: nothing in here guards anything. A script that takes the process
// over has what the process has, which is two pipes.
package worker

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/toolcrib/toolcrib/internal/codemode"
)

// Limits are what a script may use. The sandbox around the process has its own.
type Limits struct {
	Memory int // bytes of values; 0: 64 MiB
}

// maxStack is the most that the stack of the engine takes: room for [maxFrames].
const maxStack = 256 << 20

// host is the connection to who makes the calls. Only the script's own goroutine
// uses it, so that a call costs one write and one read, and no goroutine is woken.
type host struct {
	in      *bufio.Reader
	out     *bufio.Writer
	replies map[uint32]codemode.Message // that came before somebody waited for them
	last    uint32
	clock   *clock
}

// Serve runs the one script that comes, and returns when it has told how that ended,
// or when the host is gone.
func Serve(in io.Reader, out io.Writer, limits Limits) error {
	debug.SetMaxStack(maxStack)
	if limits.Memory == 0 {
		limits.Memory = 64 << 20
	}
	h := &host{in: bufio.NewReaderSize(in, 16<<10), out: bufio.NewWriterSize(out, 16<<10), replies: map[uint32]codemode.Message{}}
	m, err := newMachine(h, limits) // before anybody waits for it
	if err != nil {
		return err
	}
	if err := h.send(codemode.Message{Kind: codemode.Ready}, true); err != nil {
		return err
	}
	first, err := codemode.Read(h.in)
	if errors.Is(err, io.EOF) {
		return nil // it was not needed
	}
	if err != nil {
		return err
	}
	if first.Kind != codemode.Run {
		return fmt.Errorf("the first message is of kind %d", first.Kind)
	}
	h.clock = newClock(time.Duration(first.ID)*time.Millisecond, m.vm.Interrupt)
	defer h.clock.stop()
	return m.run(first.Name, first.Body)
}

func (h *host) send(m codemode.Message, now bool) error {
	if err := codemode.Write(h.out, m); err != nil {
		return err
	}
	if now {
		return h.out.Flush()
	}
	return nil
}

// begin asks for something and gives the number of the question.
func (h *host) begin(kind codemode.Kind, name, body string, waits bool) (uint32, error) {
	h.last++
	return h.last, h.send(codemode.Message{Kind: kind, Waits: waits, ID: h.last, Name: name, Body: []byte(body)}, true)
}

// wait gives the answer to a question. told: the host knows already that the
// script waits. The clock stands meanwhile.
func (h *host) wait(id uint32, told bool) (codemode.Message, error) {
	if m, ok := h.replies[id]; ok {
		delete(h.replies, id)
		return m, nil
	}
	if !told {
		if err := h.send(codemode.Message{Kind: codemode.Wait, ID: id}, true); err != nil {
			return codemode.Message{}, err
		}
	}
	h.clock.pause()
	defer h.clock.resume()
	for {
		m, err := codemode.Read(h.in)
		if err != nil || m.ID == id {
			return m, err
		}
		h.replies[m.ID] = m
	}
}
