package code

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
)

// session is one interpreter and what it remembers.
type session struct {
	language, place string
	in              *io.PipeWriter
	wire            *wire
	out             *output
	version         string
	busy            chan struct{} // has one element while somebody uses it
	cell            int           // the last one, of whatever kind
	cells           int           // that ran
	used            time.Time     // guarded by the box
	stop            context.CancelFunc
	over            chan struct{} // closed when its program has ended
	exit            toolcrib.Exit // valid from then on
	err             error
}

// begin starts an interpreter. It runs until ctx ends.
func begin(ctx context.Context, cfg Config, needs Needs, language, place string, call toolcrib.Call) *session {
	driver, _ := driverOf(language)
	fromUs, in := io.Pipe()
	mark := "\x1e" + rand.Text() + "\x1e"
	s := &session{
		language: language, place: place, in: in, wire: newWire(), out: newOutput(mark, cfg.Output, cfg.Flood),
		busy: make(chan struct{}, 1), over: make(chan struct{}),
	}
	ctx, s.stop = context.WithCancel(ctx)
	p := Program{Language: language, Driver: driver.text, Place: place, Stdin: fromUs, Stdout: s.wire, Stderr: s.out, Call: call}
	go func() {
		defer close(s.over)
		defer s.stop()
		s.exit, s.err = needs.Run(ctx, p)
		_ = fromUs.CloseWithError(io.ErrClosedPipe) // it never fails
	}()
	data := []byte(mark)
	if driver.json {
		// Strings and lists of strings can always be written.
		data, _ = json.Marshal(map[string]any{"nonce": mark, "packages": cfg.Packages})
	}
	go s.send(helloCommand(data))
	return s
}

// send writes commands. A program that does not read them holds it up until it is ended.
func (s *session) send(data []byte) { _, _ = s.in.Write(data) } // who waits for an answer is told by over

// take has one caller at a time use the session.
func (s *session) take(ctx context.Context) error {
	select {
	case s.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *session) give() { <-s.busy }

// ready waits until the driver has said that it runs.
func (s *session) ready(ctx context.Context, most time.Duration) error {
	if s.version != "" {
		return nil
	}
	how := s.wait(ctx, most)
	if how != ended {
		printed := strings.TrimSpace(s.out.end())
		if how == tooLong {
			s.kill()
			return fmt.Errorf("the interpreter did not start in %s and was ended: start a call again, or look at it with toolcrib doctor", most)
		}
		if how == left {
			s.kill()
			return ctx.Err()
		}
		return s.unstarted(printed)
	}
	frames, _ := s.wire.taken()
	var told struct {
		Version string `json:"version"`
	}
	if len(frames) > 0 && frames[len(frames)-1].kind == "ready" {
		_ = json.Unmarshal(frames[len(frames)-1].data, &told) // without it the version is not told
	}
	if s.version = told.Version; s.version == "" {
		s.version = "unknown"
	}
	return nil
}

// unstarted says why a program that has ended did not begin.
func (s *session) unstarted(printed string) error {
	<-s.over
	if s.err != nil {
		return s.err
	}
	text := "the interpreter ended before it could run anything (" + how(s.exit) + ")"
	if printed != "" {
		text += ":\n" + printed
	}
	return errors.New(text)
}

// how a program ended, in words.
func how(e toolcrib.Exit) string {
	switch {
	case e.TimedOut:
		return "its time was over"
	case e.Cancelled:
		return "it was cancelled"
	case e.Signal != "":
		return "ended by " + e.Signal
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

// outcome is how waiting for a cell came to an end.
type outcome uint8

const (
	ended    outcome = iota // the driver says so
	gone                    // its program has ended
	tooLong                 // its time is over
	flooded                 // it prints too much
	left                    // the caller has gone
	confused                // nobody understands what it writes
)

// wait waits for the last frame of the current cell.
func (s *session) wait(ctx context.Context, most time.Duration) outcome {
	timer := time.NewTimer(most)
	defer timer.Stop()
	for {
		done, broken := s.wire.state()
		if broken != nil {
			return confused
		}
		if done {
			return ended
		}
		select {
		case <-s.wire.news:
		case <-s.over:
			if done, _ := s.wire.state(); done {
				return ended
			}
			return gone
		case <-timer.C:
			return tooLong
		case <-s.out.flow:
			return flooded
		case <-ctx.Done():
			return left
		}
	}
}

// kill ends the program and waits for its end, for a while: what holds it up is not the caller's trouble.
func (s *session) kill() {
	s.stop()
	_ = s.in.CloseWithError(io.ErrClosedPipe) // it never fails
	select {
	case <-s.over:
	case <-time.After(killTime):
	}
}

const killTime = 10 * time.Second

// alive: its program runs.
func (s *session) alive() bool {
	select {
	case <-s.over:
		return false
	default:
		return true
	}
}

// next is the number of the next cell.
func (s *session) next() int {
	s.cell++
	s.wire.expect(s.cell)
	return s.cell
}

// cell is what is to be run.
type cell struct {
	code  string
	types bool // it is TypeScript
	files []brought
	time  time.Duration
}

// cellResult is what came of one cell.
type cellResult struct {
	frames  []frame
	dropped int // frames
	output  string
	end     outcome // of the first wait
	lost    bool    // the session is gone
	status  string  // as the driver says
}

// run runs code as the next cell. Whoever calls it has taken the session.
func (s *session) run(ctx context.Context, cfg Config, c cell, emit func(toolcrib.Event)) cellResult {
	number := s.next()
	s.cells++
	s.out.begin(emit)
	var send []byte
	for _, f := range c.files {
		send = append(send, putCommand(f.name, f.data)...)
	}
	send = append(send, runCommand(number, c.code, c.types)...)
	go s.send(send)
	r := cellResult{}
	switch r.end = s.wait(ctx, c.time); r.end {
	case tooLong, flooded, left:
		// It is interrupted first: then what the session remembers is kept.
		go s.send(interruptCommand(number))
		// Nobody may wait for longer than that, also not who has gone: the next call needs to know.
		if s.wait(context.WithoutCancel(ctx), cfg.Grace) != ended && !s.settled() {
			r.lost = true
			s.kill()
		}
	case gone, confused:
		r.lost = true
		s.kill()
	}
	if !r.lost {
		s.drained()
	}
	r.frames, r.dropped = s.wire.taken()
	r.output = s.out.end()
	for _, f := range r.frames {
		if f.kind == "done" {
			var told struct {
				Status string `json:"status"`
			}
			_ = json.Unmarshal(f.data, &told) // then it counts as ok: nothing else was said
			r.status = told.Status
		}
	}
	return r
}

// settled: the cell has ended after all. A flood can end a wait while its cell is ending.
func (s *session) settled() bool {
	for {
		switch s.wait(context.Background(), killTime/10) {
		case ended:
			return true
		case flooded:
			continue // it was printed before
		}
		return false
	}
}

// drained waits until what the cell printed has come.
func (s *session) drained() {
	timer := time.NewTimer(2 * time.Second)
	defer timer.Stop()
	for !s.out.marked() {
		select {
		case <-s.out.news:
		case <-s.over:
			return
		case <-timer.C: // the code has closed what the driver would tell it by
			return
		}
	}
}

// get reads a file that code made.
func (s *session) get(ctx context.Context, name string, most int64) ([]byte, error) {
	cell := s.next()
	go s.send(getCommand(cell, name, most))
	switch s.wait(ctx, 10*time.Second) {
	case ended:
	case left:
		return nil, ctx.Err()
	case gone:
		return nil, errors.New("the session has ended, and its files with it")
	default:
		return nil, errors.New("the session does not answer: something that code left running keeps it")
	}
	frames, _ := s.wire.taken()
	last := frames[len(frames)-1]
	if last.kind != "file" {
		return nil, fmt.Errorf("%s: %s", name, last.data)
	}
	if int64(len(last.data)) > most {
		return nil, fmt.Errorf("%s: it has more than %d bytes", name, most)
	}
	return last.data, nil
}
