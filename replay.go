package toolcrib

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	"github.com/toolcrib/toolcrib/files"
)

// sameCall reports whether a call is the one that its ID was used for before.
func (c *Crib) sameCall(f *flight) bool {
	return f.old.Tool == f.rec.Tool && f.old.Caller.Dialect == f.call.Caller.Dialect &&
		f.old.Caller.Organisation == f.rec.Caller.Organisation && f.sameInput()
}

// sameInput compares inputs by their digests. Records from before there were
// keys have a plain hash.
func (f *flight) sameInput() bool {
	was := f.old.InputHash
	if was == f.rec.InputHash {
		return true
	}
	if strings.Contains(was, ":") {
		return false
	}
	sum := sha256.Sum256(f.text)
	return was == hex.EncodeToString(sum[:])
}

// again refuses a call whose ID was used before.
func (f *flight) again(why string) error {
	return refuse(CodeConflict, f.call.Tool, "the call ID "+f.call.ID+" "+why, nil)
}

// replay answers a call that was made before from its record, without running
// anything. It was found, admitted and judged as any other: who may not have the
// answer today does not get it because he had it once. The vetters of today look
// over the answer, too.
func (c *Crib) replay(ctx context.Context, j judged) (*Result, error) {
	f, old := j.flight, j.old
	switch {
	case old.Outcome == "":
		return nil, f.again("is still running; ask again later with the same ID")
	case old.Outcome == Interrupted:
		return nil, f.again("was interrupted and its effect is unknown; look before you call again with a new ID")
	case !old.Answered():
		return nil, refuse(Code(old.Outcome), f.call.Tool, old.Message, nil)
	case f.decision == Ask && !f.approvedBefore():
		return nil, f.again("is done, and a person would have to approve it today, so its answer is not given again; look at what it did (a new ID would do it a second time)")
	case f.looks():
		return nil, errLookAgain
	case old.Cut || old.Result == nil:
		return nil, f.again("is done, but its result was too large to be kept")
	}
	if err := c.reaches(f); err != nil {
		return nil, err
	}
	var result Result
	if err := json.Unmarshal(old.Result, &result); err != nil {
		return nil, refuse(CodeInternal, f.call.Tool, "the recorded result cannot be read", err)
	}
	if old.Outcome != Done {
		f.ended = ending{old.Outcome, old.Message}
	}
	// It was held to its contract when it was made, and has the form of its
	// dialect; secrets that were taken out since may break either.
	return c.lookOver(ctx, f, &result)
}

// errLookAgain says that a call is made anew although it was made before.
var errLookAgain = errors.New("look again")

// looks reports whether a call only looks for files, or at a skill. Its answer names files
// that may be out of reach today, and no guard knows them, or a text that may no longer be
// trusted: to look again changes nothing, and shows what is so now.
func (f *flight) looks() bool {
	tool := &f.entry.tool
	return (tool.Group == "search" || tool.Group == "skill") && tool.Idempotent && tool.Effects.Within(Pure|Reads)
}

// reaches refuses the answer of a call about files that are out of reach today:
// no guard says so, but the handle that a tool is given, and nothing runs here.
func (c *Crib) reaches(f *flight) error {
	tool := &f.entry.tool
	declared := tool.Effects.All()
	if declared&(Reads|Writes|Destroys) == 0 || tool.Group == "mcp" { // the paths of a server are its own
		return nil
	}
	var names struct {
		Path        string   `json:"path"`
		FilePath    string   `json:"file_path"`
		File        string   `json:"file"`
		Directory   string   `json:"directory"`
		WorkingDir  string   `json:"working_dir"`
		Source      string   `json:"source"`
		Destination string   `json:"destination"`
		From        string   `json:"from"`
		To          string   `json:"to"`
		Paths       []string `json:"paths"`
	}
	if len(c.Grant.Dirs) == 0 || json.Unmarshal(f.input, &names) != nil {
		return nil // then it has no files, or other fields of these names
	}
	handle, err := files.New(f.grant.within(declared).Dirs, c.filesOptions(f, f.grant))
	if err != nil {
		return refuse(CodeUnavailable, f.call.Tool, "the granted directories cannot be handed out", err)
	}
	defer handle.Close() //nolint:errcheck // nothing was written
	for _, name := range append(names.Paths, names.Path, names.FilePath, names.File, names.Directory, names.WorkingDir, names.Source, names.Destination, names.From, names.To) {
		if name == "" {
			continue
		}
		if _, err := handle.Real(name); CodeOf(err) == CodeDenied || errors.Is(err, files.ErrMoved) {
			return refuse(CodeDenied, f.call.Tool, "the answer of the call "+f.call.ID+" is not given again: "+name+" is out of reach today", err)
		}
	}
	return nil
}

// approvedBefore reports whether a person approved this very call: in the same
// conversation, under the same preset, of the same tool. Nobody is asked a
// second time about what is not done a second time.
func (f *flight) approvedBefore() bool {
	old := f.old
	return old.ApprovedBy != "" && old.Caller.Session == f.rec.Caller.Session && old.Caller.Agent == f.rec.Caller.Agent &&
		old.Caller.Token == f.rec.Caller.Token && old.Definition == f.entry.native.Hash
}
