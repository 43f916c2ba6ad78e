package linux

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// ErrSettled: a layer does not wait for an answer any more. It is an [fs.ErrNotExist].
var ErrSettled = fmt.Errorf("the layer was applied or dropped meanwhile: %w", fs.ErrNotExist)

// Kept is a layer that waits for an answer.
type Kept struct {
	ID      string          `json:"id"`
	Caller  toolcrib.Caller `json:"caller"`
	Tool    string          `json:"tool"`
	Input   json.RawMessage `json:"input,omitempty"`
	Call    string          `json:"call,omitempty"`
	Dirs    []string        `json:"dirs"`  // that were granted
	Began   time.Time       `json:"began"` // the first command
	At      time.Time       `json:"at"`    // when the last of them left it
	Created int             `json:"created"`
	Changed int             `json:"changed"`
	Deleted int             `json:"deleted"`
	// Stuck is why it can neither be applied nor put in order; empty: it waits for an
	// answer. Of such a one there may be nothing known but its directory.
	Stuck string `json:"stuck,omitempty"`
	// Dir names its directory: another one has other changes.
	Dir string `json:"-"`
}

// keptRecord is what is written down of it.
type keptRecord struct {
	Kept
	ledRecord

	Version  int        `json:"version"`
	Replaces string     `json:"replaces,omitempty"` // the directory of what it was based on
	Digest   string     `json:"digest"`             // of the changes
	Line     string     `json:"line,omitempty"`     // a digest of the last command, by which it is known again
	Trees    []keptTree `json:"trees"`
	Mixed    bool       `json:"mixed,omitempty"` // several commands made it
}

// ledRecord is where links and settings led others when a command had ended.
type ledRecord struct {
	Led   []ledPath `json:"led,omitempty"`
	Unled string    `json:"unled,omitempty"` // why that was not known
	Apart [][]byte  `json:"apart,omitempty"` // files that get no further names
}

// ledPath is a place that others obey because links or settings lead there.
type ledPath struct {
	Path []byte            `json:"path"`
	Kind sandbox.CoverKind `json:"kind"`
}

// keptTree is a tree of a kept layer. Names of files need not be text.
type keptTree struct {
	Root  []byte      `json:"root"`
	Dir   string      `json:"dir"`
	Later []laterPath `json:"later,omitempty"`
}

type laterPath struct {
	Path []byte    `json:"path"`
	At   time.Time `json:"at"`
}
