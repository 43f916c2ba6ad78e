package notes

import (
	"context"
	_ "embed" // the description
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

//go:embed todo_write.md
var todoWriteText string

type todoIn struct {
	Items []Todo `json:"items" doc:"The whole list, in order: at most 20 tasks. It replaces the one before."`
}

type todoOut struct {
	Completed int    `json:"completed" doc:"How many tasks are completed."`
	Total     int    `json:"total" doc:"How many tasks there are."`
	Current   string `json:"current,omitempty" doc:"The task that is in progress."`
}

func (b box) todoWrite() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: "todo_write", Title: "Write the list of tasks", Description: todoWriteText,
		Effects: toolcrib.Reads, Group: group, Idempotent: true,
	}, func(ctx context.Context, env *toolcrib.Env, in todoIn) (todoOut, error) {
		list, err := checked(in.Items)
		if err != nil {
			return todoOut{}, err
		}
		if err := b.store.Change(ctx, env.Call.Caller, func(n *Notes) error {
			n.Todos = list
			return nil
		}); err != nil {
			return todoOut{}, err
		}
		out := todoOut{Total: len(list)}
		for _, t := range list {
			switch t.Status {
			case Completed:
				out.Completed++
			case InProgress:
				out.Current = t.Content
			}
		}
		return out, nil
	})
}

// checked is a list as it is kept, or what is wrong with it. Items are counted
// from 1, as people do.
func checked(items []Todo) ([]Todo, error) {
	if len(items) > MaxTodos {
		return nil, fmt.Errorf("the list has %d tasks, and at most %d are kept: leave out what is completed, or make one task of several", len(items), MaxTodos)
	}
	list := slices.Clone(items)
	first, current := map[string]int{}, 0
	var errs []error
	for i := range list {
		t := &list[i]
		t.Content, t.ActiveForm = strings.TrimSpace(t.Content), strings.TrimSpace(t.ActiveForm)
		switch at := first[t.Content]; {
		case t.Content == "":
			errs = append(errs, fmt.Errorf("task %d has no content", i+1))
		case at > 0:
			errs = append(errs, fmt.Errorf("tasks %d and %d have the same content", at, i+1))
		default:
			first[t.Content] = i + 1
		}
		if t.Status != InProgress {
			continue
		}
		if current > 0 {
			errs = append(errs, fmt.Errorf("tasks %d and %d are both in_progress: work on one at a time", current, i+1))
		}
		current = i + 1
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("the list is as it was: %w", errors.Join(errs...))
	}
	return list, nil
}

// Shown writes a list of tasks for people, as Markdown.
func Shown(list []Todo) string {
	if len(list) == 0 {
		return "No tasks.\n"
	}
	var b strings.Builder
	for _, t := range list {
		switch t.Status {
		case Completed:
			b.WriteString("- [x] " + oneLine(t.Content))
		case InProgress:
			b.WriteString("- [ ] **" + oneLine(t.Content) + "**")
			if t.ActiveForm != "" {
				b.WriteString(" (" + oneLine(t.ActiveForm) + ")")
			}
		default:
			b.WriteString("- [ ] " + oneLine(t.Content))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// oneLine keeps a task from looking like several.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
