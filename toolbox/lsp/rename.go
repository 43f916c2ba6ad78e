package lsp

import (
	"context"
	_ "embed" // the description
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

//go:embed lsp_rename.md
var renameText string

type renameIn struct {
	placeIn
	NewName string `json:"new_name" minlen:"1" maxlen:"1000" doc:"The new name."`
}

type renameOut struct {
	Files   []string `json:"files" doc:"The files that were changed."`
	Changes int      `json:"changes" doc:"At how many places."`
	Diff    string   `json:"diff" doc:"The change as a unified difference."`
}

func (b *Box) rename() toolcrib.Tool {
	t := toolcrib.Define(toolcrib.Spec{
		Name: "lsp_rename", Title: "Rename everywhere", Description: renameText,
		Effects: toolcrib.Reads | toolcrib.Writes, Group: Group, Timeout: toolTime,
	}, func(ctx context.Context, env *toolcrib.Env, in renameIn) (renameOut, error) {
		p, err := b.planRename(ctx, env, in)
		if err != nil {
			return renameOut{}, err
		}
		if shown, ok := b.approved.take(approvalKey(env)); ok && shown != p.mark() {
			return renameOut{}, errors.New("what would change is not what was approved any more, since files have changed meanwhile; nothing was renamed. Make a new call")
		}
		if err := p.apply(env.Files); err != nil {
			return renameOut{}, err
		}
		out := renameOut{Files: []string{}, Changes: p.edits, Diff: p.diff(b.needs.Shown)}
		for _, f := range p.files {
			out.Files = append(out.Files, f.path)
		}
		return out, nil
	})
	t.Preview = func(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (string, error) {
		var in renameIn
		if err := json.Unmarshal(input, &in); err != nil {
			return "", fmt.Errorf("reading the input: %w", err)
		}
		p, err := b.planRename(ctx, env, in)
		if err != nil {
			return "", err
		}
		b.approved.put(approvalKey(env), p.mark())
		return p.diff(b.needs.Shown), nil
	}
	return t
}

// planRename finds out what a rename would change. It is the same whoever asks: the one
// who shows it to a person, and the one who does it.
func (b *Box) planRename(ctx context.Context, env *toolcrib.Env, in renameIn) (plan, error) {
	var p plan
	err := b.about(ctx, env, in.File, func(ctx context.Context, q question) error {
		if !has(q.caps.Rename) {
			return q.cannot("rename")
		}
		at, err := q.at(in.placeIn)
		if err != nil {
			return err
		}
		if !q.settled(ctx) {
			return errors.New("the language server is still reading the project, and would miss places; try again in a while")
		}
		before := q.seen()
		var edit workspaceEdit
		if err := q.ask(ctx, "textDocument/rename", struct {
			documentPosition
			NewName string `json:"newName"`
		}{at, in.NewName}, &edit); err != nil {
			return err
		}
		p, err = q.plan(edit)
		if err != nil {
			return err
		}
		// What the server went by must still be there.
		fresh, err := q.update(ctx, q.handle, q.file, q.doc.language)
		if err != nil {
			return err
		}
		if fresh.sum != q.doc.sum {
			return changed(q.file)
		}
		after := q.seen()
		for _, f := range p.files {
			if stamp, err := q.handle.Stamp(f.path); err != nil || !stamp.Same(f.was) || before[f.path] != after[f.path] {
				return changed(f.path)
			}
		}
		return nil
	})
	return p, err
}

func changed(file string) error {
	return fmt.Errorf("files changed while it was found out what to rename: %s; nothing was renamed, so try again", file)
}

// apply writes all files, or none.
func (p plan) apply(handle *files.Handle) error {
	for _, f := range p.files {
		if err := handle.Check(f.path, true, false); err != nil {
			return refusedEdit(f.path, err)
		}
	}
	for i, f := range p.files {
		err := handle.WriteFile(f.path, []byte(f.after), &f.was)
		if err == nil {
			continue
		}
		err = fmt.Errorf("%s: %w", f.path, err)
		var left []string
		for _, done := range p.files[:i] {
			now := files.StampOf([]byte(done.after))
			if handle.WriteFile(done.path, []byte(done.before), &now) != nil {
				left = append(left, done.path)
			}
		}
		if len(left) > 0 {
			return fmt.Errorf("%w. These files were renamed in already and could not be put back: %s", err, strings.Join(left, ", "))
		}
		return fmt.Errorf("%w. Nothing was renamed", err)
	}
	return nil
}

// approvals is what people were shown of calls.
type approvals struct {
	mu    sync.Mutex
	shown map[callKey]string
	order []callKey
}

type callKey struct{ organisation, subject, agent, session, call string }

func approvalKey(env *toolcrib.Env) callKey {
	c := env.Call.Caller
	return callKey{c.Organisation, c.Subject, c.Agent, c.Session, env.Call.ID}
}

func (a *approvals) put(k callKey, mark string) {
	const most = 1000
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.shown == nil {
		a.shown = map[callKey]string{}
	}
	if _, again := a.shown[k]; again { // a second look is about what was shown first
		return
	}
	a.shown[k] = mark
	if a.order = append(a.order, k); len(a.order) > most {
		delete(a.shown, a.order[0])
		a.order = a.order[1:]
	}
}

func (a *approvals) take(k callKey) (string, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	mark, ok := a.shown[k]
	delete(a.shown, k)
	return mark, ok
}
