package toolcrib

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/partial"
	"github.com/toolcrib/toolcrib/internal/settling"
)

// applyChanges judges what programs did on their layers, as if the tools for files
// had made each change, and applies it, has a person asked, or drops it. The result
// says what was not applied, and why.
func (c *Crib) applyChanges(ctx context.Context, r ran) ran {
	r.flight.programAllowed = !r.flight.changesUnjudged || r.flight.rec.ApprovedBy != ""
	for _, changes := range r.flight.takeLayers() {
		why := c.applyOne(ctx, r.flight, changes)
		c.dropLayer(r.flight, changes) // what was not applied by now
		if why != "" {
			own := *r.result
			own.Content = append(slices.Clone(own.Content), Content{Type: "text", Text: why, Notice: true})
			r.result, r.flight.clean = &own, false
			if changes.Whole() { // nothing was done
				r.flight.ended = ending{Broke, why}
			}
		}
	}
	return r
}

// dropLayer drops what was neither applied nor kept.
func (c *Crib) dropLayer(f *flight, changes Changes) {
	if err := changes.Drop(); err != nil {
		c.log().Error("a layer cannot be removed", "call", f.call.ID, "err", err)
	}
}

// addLayer keeps what a program did until its call has come to an end. One that is
// over, or about to be, has nobody to settle it.
func (f *flight) addLayer(changes Changes) bool {
	f.layersMu.Lock()
	defer f.layersMu.Unlock()
	if f.settled {
		return false
	}
	f.layers = append(f.layers, changes)
	return true
}

func (f *flight) takeLayers() []Changes {
	f.layersMu.Lock()
	defer f.layersMu.Unlock()
	layers := f.layers
	f.layers, f.settled = nil, true
	return layers
}

// applyOne settles one change set, and says what was not applied; empty: all of it was.
func (c *Crib) applyOne(ctx context.Context, f *flight, changes Changes) string {
	s, why := c.judgeChanges(ctx, f, changes)
	f.rec.Verdicts = append(f.rec.Verdicts, distinct(s.verdicts)...)
	if why != "" {
		return settling.NotApplied + why + settling.StillWaits(changes.Earlier())
	}
	all := len(s.taken)
	if s.asked || len(s.conflicts) > 0 {
		switch why, how := s.askAll(ctx); {
		case how == noAnswer:
			return settling.NotApplied + why + ". " + s.keep(ctx)
		case how == saidNo:
			return settling.NotApplied + why + s.dropAll(ctx)
		case why != "":
			return settling.NotApplied + why + settling.StillWaits(changes.Earlier())
		}
		// A rule that came while the person thought counts.
		again, why := c.judgeChanges(ctx, f, changes)
		for path := range s.taken {
			if why == "" && !again.taken[path] {
				why = "refused meanwhile: " + again.why()
			}
		}
		if why != "" {
			return settling.NotApplied + why + settling.StillWaits(changes.Earlier())
		}
	}
	if len(s.taken) > 0 {
		f.rec.Verdicts = append(f.rec.Verdicts, Verdict{Decision: Allow, Guard: "layer", Rule: changes.ID(), Note: true, Reason: s.set.Told(s.taken)})
		if err := changes.Apply(context.WithoutCancel(ctx), func(path string) bool { return s.taken[path] }); err != nil {
			s.note("the changes could not be applied: " + err.Error())
			return settling.NotApplied + err.Error() + settling.StillWaits(changes.Earlier())
		}
	}
	if len(s.denied) > 0 {
		why = "These new files were not kept: " + s.why() + ". "
	}
	if len(s.taken) < all {
		why += "A person took a part of the changes. These were not applied: " + s.set.Left(s.taken)
	}
	return strings.TrimSuffix(why, ". ")
}

// judgeChanges asks the guards about all changes. It says why nothing can be applied.
func (c *Crib) judgeChanges(ctx context.Context, f *flight, changes Changes) (s *settled, why string) {
	s = &settled{crib: c, flight: f, layer: changes, changes: changes.List(), denied: map[string]bool{}}
	for _, change := range s.changes {
		if change.Carried == nil {
			s.set = append(s.set, change.partial())
		}
	}
	if err := s.judge(ctx); err != nil {
		return s, err.Error()
	}
	if s.whole || len(s.denied) > 0 && (changes.Whole() || !s.set.Droppable(s.denied)) {
		return s, s.why()
	}
	s.taken = s.set.Without(s.denied)
	return s, ""
}

// why names what was refused.
func (s *settled) why() string { return partial.First(s.reasons, 10) }

// note writes down what went wrong.
func (s *settled) note(text string) {
	s.flight.rec.Verdicts = append(s.flight.rec.Verdicts, Verdict{Decision: Deny, Guard: "layer", Rule: s.layer.ID(), Note: true, Reason: text})
}

// settled is one look at a change set.
type settled struct {
	crib    *Crib
	flight  *flight
	guards  []Guard // of one look
	layer   Changes
	changes []Change
	set     partial.Set // the same

	denied    map[string]bool // by path
	whole     bool            // without it nothing of the rest can be applied
	reasons   []string        // why
	conflicts []string        // paths that somebody else changed meanwhile
	asked     bool            // a person has to be
	verdicts  []Verdict       // all that do not allow
	taken     map[string]bool // by path: what is applied
}

// judge asks the guards about each change.
func (s *settled) judge(ctx context.Context) error {
	all, err := s.judgeEach(ctx)
	if err != nil {
		return err
	}
	for i, change := range s.changes {
		decision, verdicts := all[i].decision, all[i].verdicts
		switch {
		case decision == Deny:
			s.denied[change.Path] = true
			s.whole = s.whole || change.Git != nil // nothing of a repository is left out
			if change.Carried != nil {
				change.Path += " in " + change.Git.Reason
			}
			s.reasons = append(s.reasons, change.Path+": "+reasons(verdicts, Deny))
		case change.Conflict:
			s.conflicts = append(s.conflicts, change.Path)
		}
		if decision != Allow {
			s.asked = s.asked || decision == Ask
			s.verdicts = append(s.verdicts, verdicts...)
		}
	}
	for _, why := range s.layer.Floor() {
		s.asked, s.verdicts = true, append(s.verdicts, Verdict{Decision: Ask, Guard: "layer", Rule: "floor", Reason: why})
	}
	return nil
}

// judgeChange judges a change as the call that it counts as.
func (s *settled) judgeChange(ctx context.Context, change Change, reach func() error) (Decision, []Verdict) {
	if change.After != nil && change.After.Mode()&(fs.ModeDevice|fs.ModeCharDevice) != 0 {
		return denyChange(errors.New("it is a device"))
	}
	if err := reach(); err != nil && (change.Git == nil || change.Carried != nil) {
		return denyChange(err)
	}
	if s.crib.AsCall == nil {
		return denyChange(errors.New("no tool changes files here, so changes of commands cannot be judged"))
	}
	size, read, err := s.content(change)
	if err != nil {
		return denyChange(err)
	}
	decision, verdicts := Allow, []Verdict(nil)
	parts, why := partial.Parts(size, int64(s.flight.limits.Input))
	for i, part := range parts {
		d, v := s.judgePart(ctx, change, part, read)
		if decision = min(decision, d); d != Allow || i == 0 {
			verdicts = append(verdicts, v...)
		}
	}
	for _, known := range []*Verdict{change.Git, change.Led} {
		if known != nil && known.Decision != Allow {
			decision, verdicts = decide(append(verdicts, *known))
		}
	}
	ask := func(rule, why string) {
		decision, verdicts = Ask, append(verdicts, Verdict{Decision: Ask, Guard: "files", Rule: rule, Reason: change.Path + ": " + why})
	}
	switch setuid := change.After != nil && change.After.Mode().IsRegular() && change.After.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0; {
	case decision == Deny:
	case setuid: // no approval of something else stands for that
		ask("floor", "it would run with the rights of its owner or group (setuid, setgid)")
	case change.After != nil && change.Linked && change.ModeOnly:
		ask("", "it has further names (hard links), which get these permissions as well")
	case change.After != nil && change.Linked:
		ask("", "it has further names (hard links), which keep the old content")
	case why != "":
		ask("", why)
	}
	return decision, verdicts
}

func denyChange(err error) (Decision, []Verdict) {
	return Deny, []Verdict{{Decision: Deny, Guard: "files", Reason: err.Error()}}
}

// content says how large the new content of a change is, and how a part of it is read.
func (s *settled) content(change Change) (size int64, read func(from, most int64) ([]byte, error), err error) {
	if change.After == nil || !change.After.Mode().IsRegular() || change.ModeOnly {
		return 0, nil, nil
	}
	if change.Carried == nil {
		return change.After.Size(), func(from, most int64) ([]byte, error) { return s.layer.Read(change.Path, from, most) }, nil
	}
	all, err := change.Carried(partial.Most(int64(s.flight.limits.Input)))
	if err != nil {
		return 0, nil, fmt.Errorf("what a commit has of it cannot be read: %w", err)
	}
	return int64(len(all)), func(from, most int64) ([]byte, error) { return all[from:min(from+most, int64(len(all)))], nil }, nil
}

// judgePart judges a change with a part of its content.
func (s *settled) judgePart(ctx context.Context, change Change, part partial.Part, read func(from, most int64) ([]byte, error)) (Decision, []Verdict) {
	var content []byte
	var err error
	if part.Length > 0 {
		if content, err = read(part.From, part.Length); err != nil {
			return denyChange(fmt.Errorf("what was written to it cannot be read: %w", err))
		}
	}
	box, tool, input, err := s.crib.AsCall(change, content)
	if err != nil {
		return denyChange(err)
	}
	entry := s.crib.Catalog.native(box, tool)
	if entry == nil {
		return denyChange(fmt.Errorf("the tool %s/%s, by which it would be judged, is switched off", box, tool))
	}
	// A flight of its own: what the guards leave of its grant is not what the command has.
	own := &flight{call: s.flight.call, limits: s.flight.limits, entry: entry, input: input, programAllowed: s.flight.programAllowed && !s.layer.Others(), change: &change}
	own.call.Tool, own.call.Input = entry.spec.Name, input
	decision, verdicts := s.crib.verdictOf(ctx, s.guards, own, input)
	if decision != Deny && !writable(own.grant, change.Path) {
		return denyChange(errors.New("the guards left no right to write there"))
	}
	if decision == Allow && slices.ContainsFunc(s.flight.unasked, func(g Grant) bool { return g.keeps(change.Path) }) {
		return Ask, append(verdicts, Verdict{Decision: Ask, Guard: "rules", Rule: "ask", Reason: "a rule asks about this place"})
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

// reply is how a person dealt with a question about changes.
type reply int

const (
	replied  reply = iota // or why says what stands against it
	saidNo                // who saw them
	noAnswer              // but somebody could still give one
)

// askAll has a person decide about conflicts, and then about all that is left. It says why
// nothing may be applied.
func (s *settled) askAll(ctx context.Context) (why string, how reply) {
	if s.crib.Approver == nil {
		return "a person has to approve it, and nobody is there to be asked: " + partial.Why(s.conflicts, reasons(s.verdicts, Ask)), replied
	}
	d := partial.Dialog{
		Set: s.set, Refused: s.denied, Conflicts: s.conflicts, Asked: s.asked, Overwrite: s.layer.Overwrite,
		Show: func(accept func(string) bool) string { return s.crib.redactedText(s.layer.Show(accept)) },
		Ask: func(text, preview string, options []string) (_ string, _ []string, why string) {
			q := Question{Text: text, Options: options}
			if text == "" {
				q = Question{Input: s.flight.input, Effects: Writes | Destroys, Preview: preview, Reasons: distinct(s.verdicts), ByPath: !s.layer.Whole()}
				if s.layer.Others() { // no answer about this command is one about others
					q.Reasons = append(q.Reasons, Verdict{Decision: Ask, Guard: "layer", Rule: "floor", Reason: "other commands of this session made a part of these changes"})
				}
			}
			var answer Answer
			if answer, why, how = s.ask(ctx, q); why == "" && text != "" && answer.Message == partial.Neither {
				how = saidNo
			}
			return answer.Message, answer.Paths, why
		},
	}
	for _, dir := range s.crib.Grant.Dirs {
		d.Dirs = append(d.Dirs, dir.Path)
	}
	s.taken, why = d.Settle(maxAsked)
	return why, how
}

// ask puts a question about the changes, and says why they may not be applied.
func (s *settled) ask(ctx context.Context, q Question) (answer Answer, why string, how reply) {
	f := s.flight
	q.Call, q.Spec = f.call, f.entry.native
	ask, cancel := context.WithTimeout(ctx, f.limits.Ask)
	defer cancel()
	answer, err := s.crib.ask(ask, q)
	if err != nil {
		if how = noAnswer; errors.Is(err, ErrNobody) && !settling.Open(err) { // nor will there be
			how = replied
		}
		return answer, s.crib.unanswered(ctx, ask, f, err).Error(), how
	}
	if f.rec.ApprovedBy == "" {
		f.rec.ApprovedBy = answer.By
	}
	f.rec.Verdicts = append(f.rec.Verdicts, Verdict{Decision: answer.Decision, Guard: "person", Rule: answer.By, Note: true, Reason: "answered about the changes of the command"})
	if answer.Input != nil {
		return answer, "the answer has other arguments for the command, which has run already", replied
	}
	if answer.Decision != Allow {
		f.rec.Verdicts = append(f.rec.Verdicts, Verdict{Decision: Deny, Guard: "person", Rule: answer.By, Reason: answer.Message})
		return answer, strings.TrimSuffix("a person said no: "+answer.Message, ": "), saidNo
	}
	return answer, "", replied
}

// distinct are the verdicts without repetition.
func distinct(all []Verdict) []Verdict {
	type said struct {
		guard, rule, reason string
	}
	return settling.Distinct(all, func(v Verdict) said { return said{v.Guard, v.Rule, v.Reason} })
}
