// Package notebook opens what conversations keep: the notes of a session and the
// memory of an agent, each a toolbox over files below the state of the program. It
// joins them to what is known of conversations, so that text from outside stays
// marked when it is kept. The wiring in internal/app imports it.
package notebook

import (
	"context"
	"log/slog"
	"path/filepath"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp/shelf"
	"github.com/toolcrib/toolcrib/internal/memoryfile"
	"github.com/toolcrib/toolcrib/internal/notefile"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/safety"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
	"github.com/toolcrib/toolcrib/toolbox/memory"
	"github.com/toolcrib/toolcrib/toolbox/notes"
)

// Notebook is what the boxes are made with.
type Notebook struct {
	State, Home string
	// Flow knows what conversations have read. Nil: nobody does, in a crib that
	// cannot be called.
	Flow *safety.Flow
	Log  *slog.Logger

	// Notes are those of sessions. Nil: the box is not there.
	Notes *notefile.Store

	everyone bool // has a memory
}

// The names of the boxes.
const (
	MemoryBox = memory.Name
	NotesBox  = notes.Name
)

// OpenNotes opens the toolbox of notes.
func (n *Notebook) OpenNotes(ctx context.Context, cfg settings.NotesBox) (toolcrib.Toolbox, error) {
	store, err := notefile.Open(notefile.Config{
		Dir: filepath.Join(n.State, "notes"), Sessions: cfg.MaxSessions, MaxAge: cfg.MaxAge, Log: n.Log,
		Taint: n.taint, Carry: n.carry,
	})
	if err != nil {
		return nil, err
	}
	box, err := notes.Open(ctx, notes.Config{Screens: mcphub.ShelfGroup}, notes.Needs{Store: store})
	if err != nil {
		return nil, err
	}
	n.Notes = store
	return box, nil
}

// OpenMemory opens the toolbox of memories.
func (n *Notebook) OpenMemory(ctx context.Context, cfg settings.MemoryBox) (toolcrib.Toolbox, error) {
	store, err := memoryfile.Open(memoryfile.Config{
		Dir: cfg.Folder(n.State, n.Home), Harmless: safety.Neutral,
		Untrusted: func(caller toolcrib.Caller) string { return n.taint(caller).Untrusted },
		Carry: func(caller toolcrib.Caller, source string) {
			n.carry(caller, notefile.Taint{Untrusted: memory.Name + ", from " + source})
		},
	})
	if err != nil {
		return nil, err
	}
	n.everyone = cfg.Everyone
	return memory.Open(ctx, memory.Config{}, memory.Needs{Store: store})
}

// WantsMemory reports whether anybody is offered a memory.
func WantsMemory(cfg settings.Config) bool {
	return cfg.Toolboxes.Memory.Enabled && (cfg.Toolboxes.Memory.Everyone || len(cfg.Agents) > 0)
}

// Absent says of tools that are not there how one gets them.
func Absent(cfg settings.Config) map[string]string {
	out := map[string]string{}
	if !WantsMemory(cfg) {
		for _, name := range []string{"memory_append", "memory_search"} {
			out[name] = "a memory is for callers under one of agents (--agent NAME); toolboxes.memory.everyone: true in the configuration gives it to all"
		}
	}
	if !cfg.Toolboxes.Notes.Enabled {
		for _, name := range []string{"todo_write", "scratchpad_write", "scratchpad_read"} {
			out[name] = "notes of conversations are switched off; toolboxes.notes.enabled: true in the configuration switches them on"
		}
	}
	return out
}

// Offered reports whether a tool exists for a caller as far as this is concerned: a
// memory does for agents, and for others where the person says so.
func (n *Notebook) Offered(caller toolcrib.Caller, spec *toolcrib.Entry) bool {
	return spec.Box != memory.Name || n.everyone || caller.Agent != ""
}

// Shown is what screens show of sessions; nil: there are no notes.
func (n *Notebook) Shown() shelf.Notes {
	if n.Notes == nil {
		return nil
	}
	return n.Notes
}

// Todos is the list of tasks of a session, for screens. Nil: there is none.
func (n *Notebook) Todos(ctx context.Context, caller toolcrib.Caller) ([]notes.Todo, error) {
	if n.Notes == nil {
		return nil, nil
	}
	return n.Notes.Todos(ctx, caller)
}

// Watch tells screens when this process changes notes of a session.
func (n *Notebook) Watch(do func(caller toolcrib.Caller)) (stop func()) {
	if n.Notes == nil {
		return func() {}
	}
	return n.Notes.Watch(func(c notefile.Change) { do(c.Caller) })
}

// Close gives the files back.
func (n *Notebook) Close() error {
	if n.Notes == nil {
		return nil
	}
	return n.Notes.Close()
}

// Read tells which tool first brought private data and content from outside into a
// conversation; empty: none did.
func (n *Notebook) Read(caller toolcrib.Caller) (private, untrusted string) {
	t := n.taint(caller)
	return t.Private, t.Untrusted
}

// Carry has what was read count for a conversation that is gone on with.
func (n *Notebook) Carry(caller toolcrib.Caller, private, untrusted string) {
	n.carry(caller, notefile.Taint{Private: private, Untrusted: untrusted})
}

// taint is what a conversation has read until now.
func (n *Notebook) taint(caller toolcrib.Caller) notefile.Taint {
	if n.Flow == nil {
		return notefile.Taint{Untrusted: "unknown"}
	}
	had, private, untrusted := n.Flow.Session(caller)
	var t notefile.Taint
	if had&policy.LabelPrivate != 0 {
		t.Private = source(private)
	}
	if had&policy.LabelUntrusted != 0 {
		t.Untrusted = source(untrusted)
	}
	return t
}

// source names a tool without the call, which nobody finds again later.
func source(b safety.Brought) string {
	if b.Tool == "" {
		return "unknown"
	}
	return b.Tool
}

// carry has labels count that a conversation has from elsewhere.
func (n *Notebook) carry(caller toolcrib.Caller, t notefile.Taint) {
	if n.Flow == nil {
		return
	}
	if t.Private != "" {
		n.Flow.Carry(caller, policy.LabelPrivate, t.Private)
	}
	if t.Untrusted != "" {
		n.Flow.Carry(caller, policy.LabelUntrusted, t.Untrusted)
	}
}
