package lsp

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // the description
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/text"
)

//go:embed lsp_diagnostics.md
var diagnosticsText string

const maxMessages = 500

type diagnosticsIn struct {
	File string `json:"file,omitempty" maxlen:"4096" doc:"The file. Left out: the files of the project that changed last, up to 20 of each server."`
}

type finding struct {
	Path      string `json:"path" doc:"The file."`
	Line      int    `json:"line" doc:"Where it begins, counted from 1."`
	Column    int    `json:"column" doc:"Unicode characters, counted from 1."`
	EndLine   int    `json:"end_line" doc:"Where it ends."`
	EndColumn int    `json:"end_column" doc:"The column behind its last character."`
	Severity  string `json:"severity" doc:"error, warning, information or hint."`
	Message   string `json:"message" doc:"What is wrong."`
	Code      string `json:"code,omitempty" doc:"The number or name that the server has for it."`
	Source    string `json:"source,omitempty" doc:"Who says so."`
}

type diagnosticsOut struct {
	Count       int       `json:"count" doc:"How many there are; the list has at most 500 of them, errors first."`
	Diagnostics []finding `json:"diagnostics" doc:"What is wrong."`
	Checked     []string  `json:"checked" doc:"The files that were looked at."`
	Incomplete  bool      `json:"incomplete,omitempty" doc:"A server did not finish in time: there may be more, or fewer. Ask again."`
	Notes       []string  `json:"notes,omitempty" doc:"What could not be looked at."`
}

func (b *Box) diagnostics() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: "lsp_diagnostics", Title: "Errors and warnings", Description: diagnosticsText,
		Effects: toolcrib.Reads, Group: Group, Idempotent: true, Timeout: toolTime,
	}, func(ctx context.Context, env *toolcrib.Env, in diagnosticsIn) (diagnosticsOut, error) {
		out := diagnosticsOut{Diagnostics: []finding{}, Checked: []string{}}
		if in.File == "" {
			if err := b.diagnoseProject(ctx, env, &out); err != nil {
				return diagnosticsOut{}, err
			}
		} else if err := b.about(ctx, env, in.File, func(ctx context.Context, q question) error {
			list, done, err := q.wrong(ctx)
			if err != nil {
				return err
			}
			out.Checked, out.Incomplete = []string{q.file}, !done
			out.Diagnostics = q.findings(list)
			return nil
		}); err != nil {
			return diagnosticsOut{}, err
		}
		slices.SortStableFunc(out.Diagnostics, func(a, b finding) int {
			return cmp.Or(rank(a.Severity)-rank(b.Severity), strings.Compare(a.Path, b.Path), a.Line-b.Line, a.Column-b.Column)
		})
		out.Diagnostics = slices.Compact(out.Diagnostics)
		out.Count = len(out.Diagnostics)
		out.Diagnostics = out.Diagnostics[:min(out.Count, maxMessages)]
		return out, nil
	})
}

// diagnoseProject looks at what changed last.
func (b *Box) diagnoseProject(ctx context.Context, env *toolcrib.Env, out *diagnosticsOut) error {
	const most = 20
	handle, err := granted(env)
	if err != nil {
		return err
	}
	groups := b.project(ctx, handle, most)
	if len(groups) == 0 {
		return errors.New("there are no files that a language server is installed for; name a file to learn which server it would need")
	}
	for _, g := range groups {
		err := b.with(ctx, g.spec, g.program, g.root, handle, func(ctx context.Context, s *server) error {
			var open []question
			for _, file := range g.files {
				doc, err := s.update(ctx, handle, file, g.spec.language(file))
				switch {
				case err == nil:
					open = append(open, question{s, handle, file, doc})
				case s.dead() || ctx.Err() != nil:
					return err
				case !gone(err):
					out.Notes = append(out.Notes, err.Error())
				}
			}
			for _, q := range open { // all are being looked at meanwhile
				list, done, err := q.wrong(ctx)
				if err != nil {
					return err
				}
				out.Checked, out.Incomplete = append(out.Checked, q.file), out.Incomplete || !done
				out.Diagnostics = append(out.Diagnostics, q.findings(list)...)
			}
			return nil
		})
		if err != nil {
			if _, refused := toolcrib.AsError(err); refused || ctx.Err() != nil {
				return err
			}
			out.Incomplete = true
			out.Notes = append(out.Notes, err.Error())
		}
	}
	if len(out.Checked) == 0 && len(out.Notes) > 0 {
		return errors.New(strings.Join(out.Notes, "\n"))
	}
	return nil
}

// wrong is what a server says is wrong with a document as it is now, and whether that
// is all.
func (q *question) wrong(ctx context.Context) ([]diagnostic, bool, error) {
	for told := false; ; {
		q.mu.Lock()
		pull := q.pulling() && !told
		q.mu.Unlock()
		if !pull {
			list, done, asks, err := q.pushed(ctx, told)
			if asks {
				continue // it has just said that it wants to be asked
			}
			return list, done, err
		}
		list, err := q.pulled(ctx)
		if e, own := errors.AsType[*mcp.Error](err); !own || e.Code != mcp.CodeMethodNotFound {
			return list, err == nil, err
		}
		told = true // it wants to be asked and has no answer
	}
}

// cancelledByServer: it wants to be asked again.
const cancelledByServer = -32802

// pulled asks for what is wrong.
func (q *question) pulled(ctx context.Context) ([]diagnostic, error) {
	for attempt := 1; ; attempt++ {
		var report struct {
			Items []diagnostic `json:"items"`
		}
		err := q.ask(ctx, "textDocument/diagnostic", map[string]any{"textDocument": documentID{uriOf(q.file)}}, &report)
		if e, own := errors.AsType[*mcp.Error](err); own && e.Code == cancelledByServer && attempt < 5 {
			q.settled(ctx)
			continue
		}
		return report.Items[:min(len(report.Items), maxDiagnostics)], err
	}
}

// pushed waits for what a server says by itself about this version of a document. It
// may say it in pieces, so what came is whole only after a while without more.
func (q *question) pushed(ctx context.Context, only bool) (list []diagnostic, done, asks bool, err error) {
	quiet := max(q.box.cfg.Quiet, q.spec.Quiet)
	done = q.waitUntil(ctx, q.box.patience(ctx), func() (bool, time.Duration) {
		if asks = q.pulling() && !only; asks {
			return true, 0
		}
		known := q.known[q.file]
		if known == nil || known.count <= q.doc.before || known.version != nil && *known.version != q.doc.version {
			return false, 0
		}
		list = known.list
		since := known.at
		if q.told.After(since) { // something else has changed, which may change this
			since = q.told
		}
		left := quiet - time.Since(since)
		return left <= 0, left
	})
	if err := ctx.Err(); err != nil {
		return nil, false, false, err
	}
	if q.dead() {
		return nil, false, false, mcp.ErrClosed
	}
	return slices.Clone(list), done, asks, nil
}

// findings are diagnostics as callers see them.
func (q *question) findings(list []diagnostic) []finding {
	out := []finding{}
	for _, d := range list {
		from := q.doc.text.Place(q.doc.text.Offset(d.Range.Start, q.caps.Encoding))
		to := q.doc.text.Place(q.doc.text.Offset(d.Range.End, q.caps.Encoding))
		out = append(out, finding{
			Path: q.file, Line: from.Line, Column: from.Column, EndLine: to.Line, EndColumn: to.Column, Severity: severity(d.Severity),
			Message: text.Head(d.Message, 2000), Code: text.Head(plainCode(d.Code), 100), Source: text.Head(d.Source, 100),
		})
	}
	return out
}

func severities() []string { return []string{"error", "warning", "information", "hint"} }

func severity(n int) string {
	if n < 1 || n > 4 { // the protocol leaves it to the client
		n = 1
	}
	return severities()[n-1]
}

func rank(severity string) int { return slices.Index(severities(), severity) }

// plainCode is a number or a text.
func plainCode(code json.RawMessage) string {
	code = bytes.TrimSpace(code)
	var word string
	if json.Unmarshal(code, &word) == nil {
		return word
	}
	if len(code) > 0 && (code[0] == '-' || code[0] >= '0' && code[0] <= '9') {
		return string(code)
	}
	return ""
}
