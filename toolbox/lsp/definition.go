package lsp

import (
	"cmp"
	"context"
	_ "embed" // the descriptions
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

//go:embed lsp_goto_definition.md
var definitionText string

//go:embed lsp_find_references.md
var referencesText string

// maxPlaces is how many places an answer has.
const maxPlaces = 500

type definitionOut struct {
	Count       int     `json:"count" doc:"How many there are."`
	Definitions []place `json:"definitions" doc:"Where it is defined."`
}

func (b *Box) definition() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: "lsp_goto_definition", Title: "Go to a definition", Description: definitionText,
		Effects: toolcrib.Reads, Group: Group, Idempotent: true, Timeout: toolTime,
	}, func(ctx context.Context, env *toolcrib.Env, in placeIn) (out definitionOut, err error) {
		err = b.about(ctx, env, in.File, func(ctx context.Context, q question) error {
			if !has(q.caps.Definition) {
				return q.cannot("find definitions")
			}
			at, err := q.at(in)
			if err != nil {
				return err
			}
			out.Definitions, out.Count, err = q.places(ctx, "textDocument/definition", at)
			return err
		})
		return out, err
	})
}

type referencesIn struct {
	placeIn
	Declaration *bool `json:"include_declaration,omitempty" doc:"Whether the declaration itself is listed too. Left out: it is."`
}

type referencesOut struct {
	Count      int     `json:"count" doc:"How many there are; the list has at most 500 of them."`
	References []place `json:"references" doc:"Where it is used, those in granted files first."`
	Incomplete bool    `json:"incomplete,omitempty" doc:"The server is still reading the project, so that there may be more."`
}

func (b *Box) references() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: "lsp_find_references", Title: "Find references", Description: referencesText,
		Effects: toolcrib.Reads, Group: Group, Idempotent: true, Timeout: toolTime,
	}, func(ctx context.Context, env *toolcrib.Env, in referencesIn) (out referencesOut, err error) {
		err = b.about(ctx, env, in.File, func(ctx context.Context, q question) error {
			if !has(q.caps.References) {
				return q.cannot("find references")
			}
			at, err := q.at(in.placeIn)
			if err != nil {
				return err
			}
			out.Incomplete = !q.settled(ctx)
			out.References, out.Count, err = q.places(ctx, "textDocument/references", struct {
				documentPosition
				Context map[string]bool `json:"context"`
			}{at, map[string]bool{"includeDeclaration": in.Declaration == nil || *in.Declaration}})
			return err
		})
		return out, err
	})
}

// places asks for locations.
func (q *question) places(ctx context.Context, method string, params any) ([]place, int, error) {
	var answer json.RawMessage
	if err := q.ask(ctx, method, params, &answer); err != nil {
		return nil, 0, err
	}
	found, err := locations(answer)
	if err != nil {
		return nil, 0, errors.New("the answer of the server cannot be read")
	}
	list, files := []place{}, q.texts()
	for _, l := range found[:min(len(found), 20*maxPlaces)] {
		if p, ok := files.place(l.where()); ok {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, comparePlaces)
	list = slices.Compact(list)
	return list[:min(len(list), maxPlaces)], len(list), nil
}

func comparePlaces(a, b place) int {
	outside := func(p place) int {
		if p.Outside {
			return 1
		}
		return 0
	}
	return cmp.Or(outside(a)-outside(b), strings.Compare(a.Path, b.Path), a.Line-b.Line, a.Column-b.Column, a.EndLine-b.EndLine, a.EndColumn-b.EndColumn)
}

// cannot says that a server has no answer to such questions.
func (s *server) cannot(what string) error {
	return errors.New("the language server " + s.spec.Name + " cannot " + what)
}

// trimmed is a line without the space around it.
func trimmed(line string) string {
	const most = 300
	return text.ShowLine(text.Head(strings.TrimSpace(line), most))
}
