// Package worker is the other side of package codemode: it runs one script in
// QuickJS, in a process that has nothing but two pipes. What it cannot do itself it
// asks the host for.
//
// Its invariant: nothing in here guards anything. A script that takes the process
// over has what the process has, which is two pipes.
package worker

import (
	"bufio"
	"fmt"
	"io"
	"runtime/debug"
	"sync"

	"github.com/toolcrib/toolcrib/internal/codemode"
)

// Limits are what a script may use. The sandbox around the process has its own.
type Limits struct {
	Memory int // bytes of values; 0: 64 MiB
}

func (l Limits) filled() Limits {
	if l.Memory == 0 {
		l.Memory = 64 << 20
	}
	return l
}

// host is the connection to who makes the calls.
type host struct {
	out *bufio.Writer

	mu        sync.Mutex
	news      *sync.Cond
	replies   map[uint32]codemode.Message
	last      uint32
	gone      error
	interrupt func() // set while a script runs
	over      bool   // the time is
}

// Serve runs the one script that comes, and returns when it has been told how it
// ended, or when the host is gone.
func Serve(in io.Reader, out io.Writer, limits Limits) error {
	debug.SetMaxStack(256 << 20)
	limits = limits.filled()
	h := &host{out: bufio.NewWriterSize(out, 16<<10), replies: map[uint32]codemode.Message{}}
	h.news = sync.NewCond(&h.mu)
	m, err := newMachine(h, limits) // before anybody waits for it
	if err != nil {
		return err
	}
	if err := h.send(codemode.Message{Kind: codemode.Ready}, true); err != nil {
		return err
	}
	from := bufio.NewReaderSize(in, 16<<10)
	first, err := codemode.Read(from)
	if err != nil {
		if err == io.EOF {
			return nil // it was not needed
		}
		return err
	}
	if first.Kind != codemode.Run {
		return fmt.Errorf("the first message is of kind %d", first.Kind)
	}
	go h.listen(from)
	return m.run(first.Name, first.Body)
}

// listen takes what the host sends while the script runs.
func (h *host) listen(from *bufio.Reader) {
	for {
		m, err := codemode.Read(from)
		h.mu.Lock()
		switch {
		case err != nil:
			h.gone = err
		case m.Kind == codemode.Interrupt:
			h.over = true
		default:
			h.replies[m.ID] = m
		}
		if (h.gone != nil || h.over) && h.interrupt != nil {
			h.interrupt()
		}
		h.news.Broadcast()
		h.mu.Unlock()
		if err != nil {
			return
		}
	}
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

func (h *host) answered(id uint32) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, ok := h.replies[id]
	return ok
}

// wait gives the answer to a question. told: the host knows already that the
// script waits.
func (h *host) wait(id uint32, told bool) (codemode.Message, error) {
	if !told && !h.answered(id) {
		if err := h.send(codemode.Message{Kind: codemode.Wait, ID: id}, true); err != nil {
			return codemode.Message{}, err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		if m, ok := h.replies[id]; ok {
			delete(h.replies, id)
			return m, nil
		}
		if h.gone != nil {
			return codemode.Message{}, h.gone
		}
		h.news.Wait()
	}
}

// late reports whether the script's time is over, or nobody is there any more.
func (m *machine) late() bool {
	m.host.mu.Lock()
	defer m.host.mu.Unlock()
	return m.host.over || m.host.gone != nil
}
