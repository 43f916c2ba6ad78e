// Package finder is the toolbox that finds tools: where there are too many to
// show a model all at once, it is shown these, and finds the others with them.
//
// It is for whoever wires up a crib; other toolboxes never import it. Its one
// invariant: a caller finds exactly the tools it may see. Every answer is made
// from the list that is asked for at that call, for that caller; what is kept
// between calls only ranks.
package finder

import (
	"context"
	"errors"
	"iter"
	"log/slog"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/find"
)

// Name is the name of the box.
const Name = "finder"

// Config is empty: there is nothing to choose yet.
type Config struct{}

// Embedder turns texts into vectors; see [Needs].
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Needs is what the box works with.
type Needs struct {
	// Tools gives the tools a caller may see, as Crib.Tools does, always in the
	// same order.
	Tools func(caller toolcrib.Caller) iter.Seq[toolcrib.Entry]
	// Past gives what past searches of callers like this one led to, under a name
	// that is another one whenever that is something else. It only ranks: what a
	// caller does not see it does not find. Nil: nothing is learned.
	Past func(caller toolcrib.Caller) (name string, uses func() []Use)
	// Embedder blends meaning into the ranking. It is shown queries and
	// descriptions. Nil: words alone decide.
	Embedder Embedder
	// Log is told when the Embedder fails. Nil: nobody is.
	Log *slog.Logger
}

// Use is a past query and the tool that it led to.
type Use struct {
	Query       string
	Box, Native string
	Times       int
}

type box struct {
	needs   Needs
	indexes *indexes
}

// Open makes the box.
func Open(_ context.Context, _ Config, needs Needs) (toolcrib.Toolbox, error) {
	if needs.Tools == nil {
		return nil, errors.New("opening toolbox finder: there is nothing to search")
	}
	if needs.Log == nil {
		needs.Log = slog.New(slog.DiscardHandler)
	}
	b := box{needs: needs, indexes: newIndexes(find.New(nil))}
	return toolcrib.NewBox(Name, b.searchTools(), b.describeTool()), nil
}

// visible is what this caller can find: the tools it sees but for those that
// find and call others.
func (b box) visible(caller toolcrib.Caller) []toolcrib.Entry {
	var specs []toolcrib.Entry
	for spec := range b.needs.Tools(caller) {
		if spec.Box != Name && spec.Name != CallToolName {
			specs = append(specs, spec)
		}
	}
	return specs
}
