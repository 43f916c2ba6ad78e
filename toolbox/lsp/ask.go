package lsp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/toolbox/lsp/internal/position"
)

// question is one about a file, to a server that knows it.
type question struct {
	*server
	handle *files.Handle
	file   string    // its whole path, after links
	doc    *document // as the server knows it
}

// granted gives the handle of a call, or says that there is none.
func granted(env *toolcrib.Env) (*files.Handle, error) {
	if env.Files == nil {
		return nil, &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "no directory was granted, so there are no files to look at"}
	}
	return env.Files, nil
}

// about has a question about a file answered. A server that dies of it is started again,
// once.
func (b *Box) about(ctx context.Context, env *toolcrib.Env, file string, do func(context.Context, question) error) error {
	handle, err := granted(env)
	if err != nil {
		return err
	}
	info, err := handle.Stat(file)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%q is not a file", file)
	}
	full, err := handle.Real(file)
	if err != nil {
		return err
	}
	spec, language, program, err := b.serverFor(full)
	if err != nil {
		return err
	}
	return b.with(ctx, spec, program, rootOf(handle, full, spec.Roots), handle, func(ctx context.Context, s *server) error {
		doc, err := s.update(ctx, handle, full, language)
		if err != nil {
			return err
		}
		return do(ctx, question{s, handle, full, doc})
	})
}

// with has something asked of a server.
func (b *Box) with(ctx context.Context, spec Server, program, root string, handle *files.Handle, do func(context.Context, *server) error) error {
	for attempt := 1; ; attempt++ {
		s, err := b.take(ctx, spec, program, root, handle)
		if err != nil {
			return err
		}
		err = do(ctx, s)
		if errors.Is(err, io.ErrClosedPipe) && ctx.Err() == nil {
			s.hangUp()
		}
		b.give(s)
		switch {
		case err == nil:
			b.pool.worked(s)
			return nil
		case !s.dead():
			return b.unanswered(ctx, s, err)
		}
		err = s.because(err)
		b.pool.failed(s, err)
		if attempt == 2 || ctx.Err() != nil {
			return err
		}
	}
}

// unanswered says why a server that still runs gave no answer. One that keeps silent is
// ended, so that the next question finds a fresh one.
func (b *Box) unanswered(ctx context.Context, s *server, err error) error {
	if _, own := errors.AsType[*mcp.Error](err); own {
		b.pool.worked(s)
		return s.because(err)
	}
	if ctx.Err() == nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	b.pool.mu.Lock()
	s.silent++
	silent := s.silent
	b.pool.mu.Unlock()
	if silent >= 2 {
		b.pool.failed(s, errors.New("it does not answer"))
	}
	return err
}

// rootOf finds the top of the project of a file: the first of some names that lies beside
// it or above it, within what was granted.
func rootOf(handle *files.Handle, file string, names []string) string {
	top := filepath.Dir(file)
	dirs, _ := handle.Granted()
	var up []string
	for dir := top; ; dir = filepath.Dir(dir) {
		if handle.Check(dir, false, false) != nil {
			break
		}
		up = append(up, dir)
		if filepath.Dir(dir) == dir {
			break
		}
	}
	for _, name := range names {
		for _, dir := range up {
			if info, err := handle.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
				return dir
			}
		}
	}
	for _, d := range dirs { // the directory that was granted
		for _, dir := range up {
			if dir == d.Path {
				top = dir
			}
		}
	}
	if len(up) > 0 && top == filepath.Dir(file) {
		top = up[len(up)-1]
	}
	return top
}

// at is where in a document a caller means.
func (q *question) at(in placeIn) (documentPosition, error) {
	offset := 0
	var err error
	switch {
	case in.Symbol != "":
		offset, err = q.doc.text.Find(in.Line, in.Symbol, in.Column)
	case in.Column > 0:
		offset, err = q.doc.text.At(in.Line, in.Column)
	default:
		err = errors.New("say where in the line: give symbol, the name as it is written there, or column")
	}
	if err != nil {
		return documentPosition{}, err
	}
	return documentPosition{documentID{uriOf(q.file)}, q.doc.text.Position(offset, q.caps.Encoding)}, nil
}

// placeIn is what the tools about one place take.
type placeIn struct {
	File   string `json:"file" minlen:"1" maxlen:"4096" doc:"The file: relative to the working directory, or absolute inside a granted one."`
	Line   int    `json:"line" min:"1" doc:"The line, counted from 1."`
	Column int    `json:"column,omitempty" default:"0" min:"0" doc:"The column of the name in the line: Unicode characters counted from 1, a tab being one. 0 or left out: give symbol."`
	Symbol string `json:"symbol,omitempty" maxlen:"1000" doc:"The name as it is written in that line, instead of counting columns. Where the line has it more than once, the one nearest to column is meant, or the first."`
}

// place is a part of a file in an answer.
type place struct {
	Path      string `json:"path" doc:"The file."`
	Line      int    `json:"line" doc:"Where it begins, counted from 1."`
	Column    int    `json:"column" doc:"Unicode characters, counted from 1."`
	EndLine   int    `json:"end_line" doc:"Where it ends."`
	EndColumn int    `json:"end_column" doc:"The column behind its last character."`
	Text      string `json:"text,omitempty" doc:"The line. Left out for files that were not granted."`
	Outside   bool   `json:"outside,omitempty" doc:"The file was not granted, so that it cannot be read here; its columns are as the server counts them."`
}

// texts reads files of answers, each once.
type texts struct {
	q     *question
	known map[string]*position.Text
	whole map[string]string
}

func (q *question) texts() *texts {
	return &texts{q, map[string]*position.Text{}, map[string]string{}}
}

func (t *texts) of(file string) (*position.Text, string, bool) {
	text, ok := t.known[file]
	if !ok {
		if t.q.doc != nil && file == t.q.file {
			t.known[file], t.whole[file] = t.q.doc.text, t.q.doc.body
		} else if body, _, _, err := content(t.q.handle, file); err == nil {
			t.known[file], t.whole[file] = position.New(body), body
		} else {
			t.known[file] = nil
		}
		text = t.known[file]
	}
	return text, t.whole[file], text != nil
}

// place makes a place of what a server said. False: it is no file.
func (t *texts) place(uri string, r position.Range) (place, bool) {
	file, err := pathOf(uri)
	if err != nil || len(file) > 4096 {
		return place{}, false
	}
	text, body, ok := t.of(file)
	if !ok {
		return place{Path: file, Line: max(0, r.Start.Line) + 1, Column: max(0, r.Start.Character) + 1, EndLine: max(0, r.End.Line) + 1, EndColumn: max(0, r.End.Character) + 1, Outside: true}, true
	}
	from := text.Place(text.Offset(r.Start, t.q.caps.Encoding))
	to := text.Place(text.Offset(r.End, t.q.caps.Encoding))
	return place{Path: file, Line: from.Line, Column: from.Column, EndLine: to.Line, EndColumn: to.Column, Text: t.q.box.line(text, body, from.Line-1)}, true
}

// line is a line as it is shown.
func (b *Box) line(text *position.Text, body string, line int) string {
	from, to := text.Bounds(line)
	shown := body[from:to]
	if b.needs.Shown != nil {
		var err error
		if shown, err = b.needs.Shown(body, from, to); err != nil {
			return ""
		}
	}
	return trimmed(shown)
}

// patience is until when something is waited for: for as long as is usual, but so that
// there is time to tell what has come.
func (b *Box) patience(ctx context.Context) time.Time {
	until := time.Now().Add(b.cfg.Patient)
	if end, ok := ctx.Deadline(); ok {
		if end = end.Add(-500 * time.Millisecond); end.Before(until) {
			until = end
		}
	}
	return until
}
