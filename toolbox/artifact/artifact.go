// Package artifact is the toolbox that pages through long results: what was
// left out of one is kept, and read_artifact reads it.
//
// It is for whoever wires up a crib; other toolboxes never import it. Its one
// invariant: what is read is decided by the caller of the call, which comes
// from authentication, and never by the arguments alone.
package artifact

import (
	"cmp"
	"context"
	"errors"

	"github.com/toolcrib/toolcrib"
)

// Config bounds a page.
type Config struct {
	// Page is the most bytes of one answer, as JSON; default 50,000. It must be
	// less than the size that results are cut to: a page that is cut again would
	// never end.
	Page int `yaml:"page"`
}

// Read gives a part of an artifact of this caller, and how long all of it is.
type Read func(caller toolcrib.Caller, id string, offset int64, limit int) (part []byte, total int64, err error)

type box struct {
	page int
	read Read
}

// minPage has room for a little text around what is said of it.
const minPage = 1024

// Open makes the box.
func Open(_ context.Context, cfg Config, read Read) (toolcrib.Toolbox, error) {
	b := box{page: cmp.Or(cfg.Page, 50_000), read: read}
	if b.page < minPage {
		return nil, errors.New("opening toolbox artifact: a page has at least 1024 bytes")
	}
	if read == nil {
		return nil, errors.New("opening toolbox artifact: there is nothing to read from")
	}
	return toolcrib.NewBox("artifact", b.readArtifact()), nil
}
