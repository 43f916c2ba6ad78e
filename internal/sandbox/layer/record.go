package layer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// record is what is written down before a change set is applied. Whoever finds it
// unfinished can put everything back, since each step is a rename or a chmod that
// can be turned round.
type record struct {
	Version int          `json:"version"`
	Done    bool         `json:"done"`
	Undoing bool         `json:"undoing,omitempty"` // a person has it taken back
	Trees   []recordTree `json:"trees"`
	Steps   []step       `json:"steps"`
}

// recordTree is a granted directory, and the one on the same file system that
// files are renamed from and to.
type recordTree struct {
	Root  string `json:"root"`
	Stage string `json:"stage"`
	// Temporary: the stage was made for this record only, because the layer lies on
	// another file system.
	Temporary bool `json:"temporary,omitempty"`
	// NotKept is why what was there before is not kept, so that it cannot be taken back.
	NotKept string `json:"not_kept,omitempty"`

	dir string // of the layer
}

// action is what a step does.
type action string

// The actions. Each can be turned round by itself.
const (
	put  action = "put"  // aside becomes live, where nothing is
	take action = "take" // live becomes aside, where nothing is
	swap action = "swap" // live and aside change places
	mode action = "mode" // live gets other permissions
)

// step is one action.
type step struct {
	Action  action   `json:"action"`
	Tree    int      `json:"tree"`
	Live    string   `json:"live"`               // below the root
	Aside   string   `json:"aside,omitempty"`    // below the stage
	Old     identity `json:"old,omitzero"`       // what is live before the step
	New     identity `json:"new,omitzero"`       // what is live after it
	NewTime int64    `json:"new_time,omitempty"` // when the new file was last written
	Empty   bool     `json:"empty,omitempty"`    // it puts a directory in place that later steps fill
	Count   int      `json:"count,omitempty"`    // how much is in the directory that it puts in place
	Stays   bool     `json:"stays,omitempty"`    // what it put in place is left there when the others are taken back
	// OldMode and NewMode are for "mode" only.
	OldMode uint32 `json:"old_mode,omitempty"`
	NewMode uint32 `json:"new_mode,omitempty"`

	before []listed // what live is expected to be, with all that is in it
	made   bool     // an earlier step puts it there
	link   *link    // what it puts into place is to be a further name of a live file
}

// listed is one path of a subtree.
type listed struct {
	rel   string
	entry Entry
}

const recordVersion = 1

// write writes a record down. A stage that lies beside it is named from there, since a
// layer that was applied gets another name.
func (r *record) write(path string) error {
	own := *r
	own.Trees = slices.Clone(r.Trees)
	for i := range own.Trees {
		if rel, beside := pathglob.Rel(filepath.Dir(path), own.Trees[i].Stage); beside {
			own.Trees[i].Stage = rel
		}
	}
	own.Steps = slices.Clone(r.Steps)
	for _, path := range own.paths() {
		*path = pathText(*path)
	}
	text, err := json.Marshal(own)
	if err != nil {
		return err
	}
	if err := durable.Replace(path, text, 0o600); err != nil {
		return fmt.Errorf("recording what is about to be applied: %w", err)
	}
	return nil
}

// paths are all that a record names.
func (r *record) paths() []*string {
	out := make([]*string, 0, 2*(len(r.Trees)+len(r.Steps)))
	for i := range r.Trees {
		out = append(out, &r.Trees[i].Root, &r.Trees[i].Stage)
	}
	for i := range r.Steps {
		out = append(out, &r.Steps[i].Live, &r.Steps[i].Aside)
	}
	return out
}

// maxRecord is how large a record may be: a million steps.
const maxRecord = 1 << 30

// readRecord gives a record, and when it was written; nil where there is none.
func readRecord(path string) (*record, time.Time, error) {
	var written time.Time
	if info, err := os.Lstat(path); err == nil {
		written = info.ModTime()
	}
	text, err := plainfile.Read(path, maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, written, nil
	}
	if err != nil {
		return nil, written, fmt.Errorf("reading what was about to be applied: %w", err)
	}
	r, err := parseRecord(text, filepath.Dir(path))
	if err != nil {
		return nil, written, fmt.Errorf("reading %s: %w", path, err)
	}
	return r, written, nil
}

// parseRecord reads the text of a record that lies in a directory. Whoever could write
// there could do all that the record says, but half a record must not be taken for one.
func parseRecord(text []byte, dir string) (*record, error) {
	r := &record{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, err
	}
	if r.Version != recordVersion {
		return nil, fmt.Errorf("it has version %d, which this Toolcrib does not know", r.Version)
	}
	for _, path := range r.paths() {
		var err error
		if *path, err = pathOf(*path); err != nil {
			return nil, err
		}
	}
	for i := range r.Trees {
		t := &r.Trees[i]
		if !filepath.IsAbs(t.Root) {
			return nil, fmt.Errorf("it names the directory %q, which is nowhere", t.Root)
		}
		switch {
		case filepath.IsLocal(t.Stage):
			t.Stage = filepath.Join(dir, t.Stage)
		case !filepath.IsAbs(t.Stage):
			return nil, fmt.Errorf("it names the directory %q, which is nowhere", t.Stage)
		}
	}
	for _, s := range r.Steps {
		if s.Tree < 0 || s.Tree >= len(r.Trees) {
			return nil, errors.New("it names a directory that it does not list")
		}
		for _, path := range []string{s.Live, s.Aside} {
			if path != "" && !filepath.IsLocal(path) {
				return nil, fmt.Errorf("it names %q, which lies in none of its directories", path)
			}
		}
	}
	return r, nil
}
