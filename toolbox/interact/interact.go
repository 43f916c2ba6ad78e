// Package interact is the toolbox that talks with the person.
//
// It is for whoever wires up a crib; other toolboxes never import it. Its one
// invariant: an answer is what a person said to exactly this question. Nothing
// here answers for them, whatever mode the crib is in.
package interact

import (
	"context"

	"github.com/toolcrib/toolcrib"
)

// Config is empty: the person is found by the crib.
type Config struct{}

// Open makes the box.
func Open(context.Context, Config) (toolcrib.Toolbox, error) {
	return toolcrib.NewBox("interact", askUser()), nil
}
