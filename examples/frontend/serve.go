package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/toolcrib/toolcrib"
)

// Server answers one client.
type Server struct {
	Crib   *toolcrib.Crib
	Caller toolcrib.Caller // who the client is, by how it was let in
	Line   int             // the longest line in bytes; zero: 4 MiB
}

// Serve answers requests one after the other until the client hangs up; once
// ctx has ended it takes no further one. A line that is too long ends it, too:
// what follows need not be the beginning of another request.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	limit := s.Line
	if limit == 0 {
		limit = 4 << 20
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, limit)
	answers := json.NewEncoder(out)
	for ctx.Err() == nil && lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		if err := answers.Encode(s.answer(ctx, lines.Bytes())); err != nil {
			return fmt.Errorf("answering: %w", err)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		tooLong := &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: fmt.Sprintf("a line is longer than %d bytes", limit)}
		return errors.Join(tooLong, answers.Encode(refused("", tooLong)))
	}
	return lines.Err()
}

// answer makes a call of one line.
func (s *Server) answer(ctx context.Context, line []byte) response {
	r, err := decode(line)
	if err != nil {
		return refused("", &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: err.Error()})
	}
	result, err := s.Crib.Call(ctx, toolcrib.Call{ID: r.ID, Tool: r.Tool, Input: r.Input, Caller: s.Caller})
	if err != nil {
		return refused(r.ID, err)
	}
	return response{ID: r.ID, Result: result}
}
