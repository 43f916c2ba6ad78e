package chatapi

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"
)

// writeFor is how long a client may take to read a piece of its answer.
const writeFor = 30 * time.Second

// stream answers piece by piece. The first piece is sent when there is something to say, so that
// what fails at once fails with a status of its own.
func (s *server) stream(w http.ResponseWriter, r *http.Request, run *run) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	out := &pieces{w: w, run: run, lost: cancel, sent: time.Now()}
	quiet := make(chan struct{})
	var waiting sync.WaitGroup
	waiting.Go(func() { out.keepAlive(quiet, s.KeepAlive) })
	_, err := run.do(ctx, out.say, out.tell)
	close(quiet)
	waiting.Wait()
	defer func() { _ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) }() // for the next request of this connection
	if err != nil {
		if ctx.Err() != nil {
			return // the client has gone, or does not read
		}
		no := *refusalOf(err, run.req.Model)
		no.Final = run.calls > 0
		out.fail(&no)
		return
	}
	out.end()
}

// pieces writes the pieces of an answer as server-sent events.
type pieces struct {
	mu    sync.Mutex
	w     http.ResponseWriter
	run   *run
	begun bool
	sent  time.Time // when the client last heard something
	lost  func()    // the client does not read any more
}

// say sends a piece of the text.
func (p *pieces) say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.send(p.piece(delta{Content: &text}))
}

// tell sends what a tool does, to a client that wants to know.
func (p *pieces) tell(a activity) {
	if !p.run.req.Own.Events {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.piece(delta{})
	c.Own = &ownExtension{Events: []activity{a}}
	p.send(c)
}

// keepAlive sends a piece without text whenever there was nothing to say for a time: while tools
// run, and while a person is asked. A comment would be the usual way, but there are clients, the
// plugin of OpenVoiceOS among them, that take every line for a piece.
func (p *pieces) keepAlive(quiet <-chan struct{}, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-quiet:
			return
		case <-tick.C:
		}
		p.mu.Lock()
		if time.Since(p.sent) >= every/2 {
			empty := ""
			p.send(p.piece(delta{Content: &empty}))
		}
		p.mu.Unlock()
	}
}

// end sends what ends an answer: calls for the client to make, why it ended, what it cost.
func (p *pieces) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	reason, calls, used := p.run.asked.ended()
	for i, call := range calls {
		call.Index = &i
		p.send(p.piece(delta{Calls: []chatCall{call}}))
	}
	last := p.piece(delta{})
	last.Choices[0].Reason = &reason
	p.send(last)
	if o := p.run.req.StreamOptions; o != nil && o.Usage {
		c := p.piece(delta{})
		c.Choices, c.Usage = []choice{}, usageOf(used)
		p.send(c)
	}
	p.write([]byte("[DONE]"))
}

// fail ends an answer with an error, with its status if nothing was sent before.
func (p *pieces) fail(no *refusal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.begun {
		fail(p.w, no)
		return
	}
	text, err := json.Marshal(errorBody{no})
	if err == nil {
		p.write(text)
	}
}

func (p *pieces) piece(d delta) completion {
	return completion{ID: p.run.id, Object: "chat.completion.chunk", Created: p.run.made, Model: p.run.req.Model, Choices: []choice{{Delta: &d}}}
}

// send writes a piece, after the one that says who speaks.
func (p *pieces) send(c completion) {
	if !p.begun {
		p.begun = true
		h := p.w.Header()
		h.Set("Content-Type", "text/event-stream; charset=utf-8")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Accel-Buffering", "no") // a proxy in front would wait for the whole answer
		p.w.WriteHeader(http.StatusOK)
		empty := ""
		p.send(p.piece(delta{Role: roleAssistant, Content: &empty}))
	}
	text, err := json.Marshal(c)
	if err != nil { // texts and numbers always have a form
		panic(err)
	}
	p.write(text)
}

func (p *pieces) write(data []byte) {
	control := http.NewResponseController(p.w)
	_ = control.SetWriteDeadline(time.Now().Add(writeFor)) // not every writer has deadlines; the one of a server does
	line := append(append([]byte("data: "), data...), "\n\n"...)
	if _, err := p.w.Write(line); err != nil {
		p.lost()
		return
	}
	if err := control.Flush(); err != nil {
		p.lost()
	}
	p.sent = time.Now()
}
