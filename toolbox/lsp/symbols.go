package lsp

import (
	"cmp"
	"context"
	_ "embed" // the description
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

//go:embed lsp_symbols.md
var symbolsText string

const maxSymbols = 1000

type symbolsIn struct {
	File  string `json:"file,omitempty" maxlen:"4096" doc:"List what this file declares. Left out: give query."`
	Query string `json:"query,omitempty" maxlen:"200" doc:"Find names in the whole project, or with file only those of it that have this text in them."`
}

type symbolOut struct {
	Name      string `json:"name" doc:"Its name."`
	Kind      string `json:"kind" doc:"What it is, such as function or class."`
	Container string `json:"container,omitempty" doc:"What it is declared in."`
	Path      string `json:"path" doc:"The file."`
	Line      int    `json:"line" doc:"Where its name is, counted from 1."`
	Column    int    `json:"column" doc:"Unicode characters, counted from 1."`
	EndLine   int    `json:"end_line" doc:"The last line of its declaration."`
}

type symbolsOut struct {
	Count      int         `json:"count" doc:"How many there are; the list has at most 1000 of them."`
	Symbols    []symbolOut `json:"symbols" doc:"What was found; of a file in the order of its lines."`
	Incomplete bool        `json:"incomplete,omitempty" doc:"A server is still reading the project, so that there may be more."`
	Notes      []string    `json:"notes,omitempty" doc:"Which servers could not be asked."`
}

func (b *Box) symbols() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: "lsp_symbols", Title: "Find declarations", Description: symbolsText,
		Effects: toolcrib.Reads, Group: Group, Idempotent: true, Timeout: toolTime,
	}, func(ctx context.Context, env *toolcrib.Env, in symbolsIn) (symbolsOut, error) {
		out := symbolsOut{Symbols: []symbolOut{}}
		var err error
		switch {
		case in.File != "":
			err = b.about(ctx, env, in.File, func(ctx context.Context, q question) error {
				out.Symbols, err = q.outline(ctx, in.Query)
				return err
			})
		case in.Query != "":
			err = b.findSymbols(ctx, env, in.Query, &out)
		default:
			err = errors.New("give a file whose declarations are wanted, or a query to find names in the whole project")
		}
		if err != nil {
			return symbolsOut{}, err
		}
		out.Count = len(out.Symbols)
		out.Symbols = out.Symbols[:min(out.Count, maxSymbols)]
		return out, nil
	})
}

// outline lists what a file declares.
func (q *question) outline(ctx context.Context, query string) ([]symbolOut, error) {
	if !has(q.caps.Symbols) {
		return nil, q.cannot("list declarations")
	}
	var list []symbol
	if err := q.ask(ctx, "textDocument/documentSymbol", map[string]any{"textDocument": documentID{uriOf(q.file)}}, &list); err != nil {
		return nil, err
	}
	out, texts := []symbolOut{}, q.texts()
	var walk func(list []symbol, in string, depth int)
	walk = func(list []symbol, in string, depth int) {
		for _, s := range list {
			if depth > 20 || len(out) > 10*maxSymbols {
				return
			}
			uri, name, whole := uriOf(q.file), s.Range, s.Range
			if s.Select != nil {
				name = *s.Select
			}
			if s.Location != nil {
				name, whole = s.Location.Range, s.Location.Range
			}
			if strings.Contains(strings.ToLower(s.Name), strings.ToLower(query)) {
				if p, ok := texts.place(uri, name); ok {
					end, _ := texts.place(uri, whole)
					out = append(out, symbolOut{text.Head(s.Name, 300), kindName(s.Kind), text.Head(cmp.Or(in, s.Container), 300), p.Path, p.Line, p.Column, end.EndLine})
				}
			}
			walk(s.Children, s.Name, depth+1)
		}
	}
	walk(list, "", 0)
	slices.SortStableFunc(out, func(a, b symbolOut) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	return out, nil
}

// findSymbols asks every server of the project.
func (b *Box) findSymbols(ctx context.Context, env *toolcrib.Env, query string, out *symbolsOut) error {
	handle, err := granted(env)
	if err != nil {
		return err
	}
	groups := b.project(ctx, handle, 1)
	if len(groups) == 0 {
		return errors.New("there are no files that a language server is installed for; name a file to learn which server it would need")
	}
	asked := 0
	for _, g := range groups {
		err := b.with(ctx, g.spec, g.program, g.root, handle, func(ctx context.Context, s *server) error {
			// Some servers know no project before they have seen one of its files.
			doc, err := s.update(ctx, handle, g.files[0], g.spec.language(g.files[0]))
			if err != nil {
				return err
			}
			if !has(s.caps.Workspace) {
				return s.cannot("find names in the whole project; give a file")
			}
			out.Incomplete = !s.settled(ctx) || out.Incomplete
			q := question{s, handle, g.files[0], doc}
			var list []symbol
			if err := q.ask(ctx, "workspace/symbol", map[string]string{"query": query}, &list); err != nil {
				return err
			}
			texts := q.texts()
			for _, sym := range list[:min(len(list), 2*maxSymbols)] {
				if sym.Location == nil {
					continue
				}
				p, ok := texts.place(sym.Location.URI, sym.Location.Range)
				if !ok || p.Outside {
					continue
				}
				out.Symbols = append(out.Symbols, symbolOut{text.Head(sym.Name, 300), kindName(sym.Kind), text.Head(sym.Container, 300), p.Path, p.Line, p.Column, p.EndLine})
			}
			return nil
		})
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			out.Notes = append(out.Notes, err.Error())
			continue
		}
		asked++
	}
	if asked == 0 {
		return errors.New(strings.Join(out.Notes, "\n"))
	}
	return nil
}

// kindName is the word for a kind of the protocol.
func kindName(kind int) string {
	names := []string{
		"file", "module", "namespace", "package", "class", "method", "property", "field", "constructor", "enum", "interface", "function", "variable",
		"constant", "string", "number", "boolean", "array", "object", "key", "null", "enum member", "struct", "event", "operator", "type parameter",
	}
	if kind < 1 || kind > len(names) {
		return fmt.Sprintf("kind %d", kind)
	}
	return names[kind-1]
}
