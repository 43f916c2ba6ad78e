// Package toolbox is the recipe for a toolbox: a stock list in a CSV file, and
// two tools that look things up in it.
//
// Nothing imports it. A real one would be toolbox/parts, known to
// internal/app/toolboxes.go alone. Its invariant is that of every toolbox that
// runs in our process: it reaches the world only through what Open was given,
// here a directory, and through Env.
package toolbox

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/toolcrib/toolcrib"
)

// Config is what can be set about the box.
type Config struct {
	File string // the stock list, below the directory; empty: parts.csv
	Most int    // how many parts one search may give; zero: 20
}

// maxFile bounds what is read into memory at once.
const maxFile = 1 << 20

// box holds what the tools need, once; the tools are its methods.
type box struct {
	cfg Config
	dir fs.FS
}

// Open makes the box over a directory. It looks at the list once, so that a
// wrong setting shows at the start and not at the first call.
func Open(_ context.Context, cfg Config, dir fs.FS) (toolcrib.Toolbox, error) {
	if cfg.File == "" {
		cfg.File = "parts.csv"
	}
	if cfg.Most == 0 {
		cfg.Most = 20
	}
	b := &box{cfg: cfg, dir: dir}
	if _, err := b.read(); err != nil {
		return nil, fmt.Errorf("opening the parts box: %w", err)
	}
	return toolcrib.NewBox("parts", b.findParts(), b.getPart()), nil
}

// part is one line of the list.
type part struct {
	Code  string `json:"code" doc:"The number on the shelf."`
	Name  string `json:"name" doc:"What it is."`
	Stock int    `json:"stock" doc:"How many are there."`
}

// read reads the list anew: it may have changed since the last call.
func (b *box) read() ([]part, error) {
	f, err := b.dir.Open(b.cfg.File)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if info.Size() > maxFile {
		return nil, fmt.Errorf("%s is larger than %d bytes", b.cfg.File, maxFile)
	}
	r := csv.NewReader(f)
	r.FieldsPerRecord = 3
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", b.cfg.File, err)
	}
	if len(rows) == 0 {
		return nil, errors.New(b.cfg.File + " has no heading")
	}
	parts := make([]part, 0, len(rows))
	for i, row := range rows[1:] {
		stock, err := strconv.Atoi(row[2])
		if err != nil || stock < 0 {
			return nil, fmt.Errorf("%s: part %d has the stock %q", b.cfg.File, i+1, row[2])
		}
		parts = append(parts, part{Code: row[0], Name: row[1], Stock: stock})
	}
	return parts, nil
}
