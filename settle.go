package toolcrib

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/files"
)

// applyChanges judges what programs did on their layers, as if the tools for files
// had made each change, and applies it, has a person asked, or drops it. The result
// says what was not applied, and why.
func (c *Crib) applyChanges(ctx context.Context, r ran) ran {
	r.flight.programAllowed = !r.flight.changesUnjudged || r.flight.rec.ApprovedBy != ""
	for _, changes := range r.flight.takeLayers() {
		why := c.applyOne(ctx, r.flight, changes)
		if err := changes.Drop(); err != nil { // what was not applied by now
			c.log().Error("a layer cannot be removed", "call", r.flight.call.ID, "err", err)
		}
		if why != "" {
			own := *r.result
			own.Content = append(slices.Clone(own.Content), Content{Type: "text", Text: why, Notice: true})
			r.result, r.flight.clean = &own, false
		}
	}
	return r
}

// addLayer keeps what a program did until its changes are judged. A call that is over
// has nobody to judge them for.
func (f *flight) addLayer(changes Changes) error {
	f.layersMu.Lock()
	defer f.layersMu.Unlock()
	if f.over.Load() {
		return changes.Drop()
	}
	f.layers = append(f.layers, changes)
	return nil
}

func (f *flight) takeLayers() []Changes {
	f.layersMu.Lock()
	defer f.layersMu.Unlock()
	layers := f.layers
	f.layers = nil
	return layers
}

// notApplied begins what the caller is told of changes that were dropped.
const notApplied = "Nothing that the command changed was applied. "

// applyOne settles one change set, and says what was not applied; empty: all of it was.
func (c *Crib) applyOne(ctx context.Context, f *flight, changes Changes) string {
	s, why := c.judgeChanges(ctx, f, changes)
	f.rec.Verdicts = append(f.rec.Verdicts, distinct(s.verdicts)...)
	if why != "" {
		return notApplied + why
	}
	if s.asked {
		if why := s.ask(ctx, c.redactedText(changes.Show(s.accepted))); why != "" {
			return notApplied + why
		}
		// A rule that came while the person thought counts.
		again, why := c.judgeChanges(ctx, f, changes)
		if why == "" && len(again.denied) > len(s.denied) {
			why = "Refused meanwhile: " + again.why()
		}
		if why != "" {
			return notApplied + why
		}
	}
	if len(s.denied) < len(s.changes) {
		s.record()
		if err := changes.Apply(context.WithoutCancel(ctx), s.accepted); err != nil {
			f.rec.Verdicts = append(f.rec.Verdicts, Verdict{Decision: Deny, Guard: "layer", Note: true, Reason: "the changes could not be applied: " + err.Error()})
			return notApplied + err.Error()
		}
	}
	if len(s.denied) > 0 {
		return "These new files were not kept: " + s.why()
	}
	return ""
}

// judgeChanges asks the guards about all changes. It says why nothing can be applied.
func (c *Crib) judgeChanges(ctx context.Context, f *flight, changes Changes) (s *settling, why string) {
	s = &settling{crib: c, flight: f, guards: c.guards(), layer: changes, changes: changes.List(), denied: map[string]bool{}}
	if err := s.judge(ctx); err != nil {
		return s, err.Error()
	}
	if len(s.denied) > 0 && !s.droppable() {
		return s, "Refused: " + s.why()
	}
	return s, ""
}

// record writes down what is about to be applied.
func (s *settling) record() {
	const most = 20
	var paths []string
	count := 0
	for _, change := range s.changes {
		if !s.accepted(change.Path) {
			continue
		}
		if count++; count <= most {
			paths = append(paths, change.word()+" "+change.Path)
		}
	}
	if count > most {
		paths = append(paths, fmt.Sprintf("and %d more", count-most))
	}
	s.flight.rec.Verdicts = append(s.flight.rec.Verdicts, Verdict{Decision: Allow, Guard: "layer", Note: true, Reason: fmt.Sprintf("%d changes are applied: %s", count, strings.Join(paths, ", "))})
}

// word is what became of a path.
func (c *Change) word() string {
	switch {
	case c.Before == nil:
		return "created"
	case c.After == nil:
		return "deleted"
	}
	return "changed"
}

// maxReasons is how many refused paths are named.
const maxReasons = 10

// why names what was refused.
func (s *settling) why() string {
	if more := len(s.reasons) - maxReasons; more > 0 {
		return fmt.Sprintf("%s; and %d more", strings.Join(s.reasons[:maxReasons], "; "), more)
	}
	return strings.Join(s.reasons, "; ")
}

// accepted tells whether a change is applied. What is in a directory that is refused
// goes with it.
func (s *settling) accepted(path string) bool {
	if len(s.denied) == 0 {
		return true
	}
	for {
		if s.denied[path] {
			return false
		}
		parent := filepath.Dir(path)
		if parent == path {
			return true
		}
		path = parent
	}
}

// settling is one look at a change set.
type settling struct {
	crib    *Crib
	flight  *flight
	guards  []Guard // one look for all of them
	layer   Changes
	changes []Change

	denied   map[string]bool // by path
	reasons  []string        // why
	asked    bool            // a person has to be
	verdicts []Verdict       // all that do not allow
}

// judge asks the guards about each change.
func (s *settling) judge(ctx context.Context) error {
	handle, err := files.New(s.flight.grant.Dirs, s.crib.filesOptions(s.flight, s.flight.grant))
	if err != nil {
		return refuse(CodeUnavailable, s.flight.call.Tool, "the granted directories cannot be looked at", err)
	}
	defer handle.Close() //nolint:errcheck // it was only read
	for _, change := range s.changes {
		decision, verdicts := s.judgeChange(ctx, handle, change)
		switch decision {
		case Allow:
			continue
		case Ask:
			s.asked = true
		default:
			s.denied[change.Path] = true
			s.reasons = append(s.reasons, change.Path+": "+reasons(verdicts, Deny))
		}
		s.verdicts = append(s.verdicts, verdicts...)
	}
	return nil
}

// judgeChange judges a change as the call that it counts as.
func (s *settling) judgeChange(ctx context.Context, handle *files.Handle, change Change) (Decision, []Verdict) {
	deny := func(err error) (Decision, []Verdict) {
		return Deny, []Verdict{{Decision: Deny, Guard: "files", Reason: err.Error()}}
	}
	switch {
	case change.Conflict:
		return deny(errors.New("somebody else changed it while the command ran"))
	case change.After != nil && change.After.Mode()&(fs.ModeDevice|fs.ModeCharDevice) != 0:
		return deny(errors.New("it is a device"))
	}
	if err := handle.Check(change.Path, true, true); err != nil {
		return deny(err)
	}
	if s.crib.AsCall == nil {
		return deny(errors.New("no tool changes files here, so changes of commands cannot be judged"))
	}
	var content []byte
	if change.After != nil && change.After.Mode().IsRegular() && !change.ModeOnly {
		var err error
		if content, err = s.layer.Read(change.Path, int64(s.flight.limits.Input)); err != nil {
			return deny(fmt.Errorf("what was written to it cannot be read: %w", err))
		}
	}
	box, tool, input, err := s.crib.AsCall(change, content)
	if err != nil {
		return deny(err)
	}
	entry := s.crib.Catalog.native(box, tool)
	if entry == nil {
		return deny(fmt.Errorf("the tool %s/%s, by which it would be judged, is switched off", box, tool))
	}
	// A flight of its own: what the guards leave of its grant is not what the command has.
	own := &flight{call: s.flight.call, limits: s.flight.limits, entry: entry, input: input, programAllowed: s.flight.programAllowed}
	own.call.Tool, own.call.Input = entry.spec.Name, input
	decision, verdicts := s.crib.verdictOf(ctx, s.guards, own, input)
	if decision != Deny && !writable(own.grant, change.Path) {
		return deny(errors.New("the guards left no right to write there"))
	}
	var why string
	switch {
	case decision != Allow || change.After == nil:
	case change.Linked && !change.ModeOnly:
		why = "it has further names (hard links), which keep the old content"
	case change.After.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 && change.After.Mode().IsRegular():
		why = "it would run with the rights of its owner or group (setuid, setgid)"
	}
	if why != "" {
		return Ask, append(verdicts, Verdict{Decision: Ask, Guard: "files", Reason: change.Path + ": " + why})
	}
	return decision, verdicts
}

// writable tells whether a grant has a directory for writing around a path.
func writable(g Grant, path string) bool {
	inner := files.Dir{}
	for _, d := range g.Dirs {
		if (path == d.Path || strings.HasPrefix(path, strings.TrimSuffix(d.Path, "/")+"/")) && len(d.Path) >= len(inner.Path) {
			inner = d
		}
	}
	return inner.Write
}

// droppable tells whether everything that was denied is new and can be left out,
// with the rest applied.
func (s *settling) droppable() bool {
	for _, change := range s.changes {
		if change.From != "" && (s.denied[change.Path] || s.denied[change.From]) {
			return false // both halves of a move stay together
		}
		if s.denied[change.Path] && (change.Before != nil || change.From != "") {
			return false
		}
	}
	return true
}

// ask puts one question about all changes, and says why they may not be applied.
func (s *settling) ask(ctx context.Context, preview string) string {
	f := s.flight
	if s.crib.Approver == nil {
		return "a person has to approve it, and nobody is there to be asked: " + reasons(s.verdicts, Ask)
	}
	ask, cancel := context.WithTimeout(ctx, f.limits.Ask)
	defer cancel()
	answer, err := s.crib.ask(ask, Question{
		Call: f.call, Spec: f.entry.native, Input: f.input, Effects: Writes | Destroys, Preview: preview, Reasons: distinct(s.verdicts),
	})
	if err != nil {
		return s.crib.unanswered(ctx, ask, f, err).Error()
	}
	if f.rec.ApprovedBy == "" {
		f.rec.ApprovedBy = answer.By
	}
	f.rec.Verdicts = append(f.rec.Verdicts, Verdict{Decision: answer.Decision, Guard: "person", Rule: answer.By, Note: true, Reason: "answered about the changes of the command"})
	if answer.Input != nil {
		return "the answer has other arguments for the command, which has run already"
	}
	if answer.Decision != Allow {
		f.rec.Verdicts = append(f.rec.Verdicts, Verdict{Decision: Deny, Guard: "person", Rule: answer.By, Reason: answer.Message})
		return strings.TrimSuffix("a person said no: "+answer.Message, ": ")
	}
	return ""
}

// distinct are the verdicts without repetition.
func distinct(all []Verdict) []Verdict {
	var out []Verdict
	for _, v := range all {
		if !slices.ContainsFunc(out, func(o Verdict) bool { return o.Guard == v.Guard && o.Rule == v.Rule && o.Reason == v.Reason }) {
			out = append(out, v)
		}
	}
	return out
}
