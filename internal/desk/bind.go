package desk

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

// Terms is what the wiring knows about a question besides what the core says.
type Terms struct {
	// Floor: it is asked every time, whatever was remembered.
	Floor bool
	// Rules are texts, such as run_command(git push *), of which each covers a
	// part of the call and which together cover all of it. A person may
	// remember them instead of the exact arguments. Empty: none is offered.
	Rules []string
	// Wide are further ways in which the answer may be remembered, and Dir is the
	// directory that [ByDirectory] would mean.
	Wide []By
	Dir  string
	// SetUp tells what stands behind the name of the toolbox: see [Grant].
	SetUp string
	// Parts is what the call would do, one by one: the programs of a command.
	Parts []string
	// Bind is what the approval depends on and the arguments do not show, such
	// as the hash of the program that would run. If it changes, it is asked
	// again. A grant goes by Files instead.
	Bind string
	// Files are the scripts that would run and what they hold. What is allowed
	// for longer is allowed for them as they are now.
	Files []File
	// Project is the directory of "for this project", if it is not the desk's.
	Project string
}

// File is a script that a call would run.
type File struct {
	Path string `json:"path"`
	Sum  string `json:"sum"` // a fingerprint of what it holds
}

// bindFiles makes of the fingerprints what is kept.
func (d *Desk) bindFiles(files []File) []File {
	var out []File
	for _, f := range files {
		f.Sum = d.digest("file", f.Path, f.Sum)
		out = append(out, f)
	}
	return out
}

// changed gives the scripts of a question that are not as they were when a grant
// was given. One for exact arguments is for exactly its scripts.
func (g *Grant) changed(q *Question) []string {
	var list []string
	missing := func(some, all []File) {
		for _, f := range some {
			if !slices.Contains(all, f) && !slices.Contains(list, f.Path) {
				list = append(list, f.Path)
			}
		}
	}
	missing(q.Files, g.Files)
	if g.Arguments != "" {
		missing(g.Files, q.Files)
	}
	return list
}

// hashOf is a fingerprint of several texts that are no secret, each behind its
// length so that none can trade bytes with its neighbour.
func hashOf(parts ...string) string {
	h := sha256.New()
	var n [8]byte
	for _, p := range parts {
		binary.LittleEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Digester is a Store that gives the fingerprints of what is asked about, under
// a key that it keeps: arguments are kept without their secrets, and a plain
// hash would give those to whoever tries likely ones.
type Digester interface {
	Digest(parts ...string) string
}

// argumentsHash is what arguments are bound by, with the places that paths in
// them lead to. Those that cannot be normalised are bound byte for byte.
func (d *Desk) argumentsHash(input []byte, places ...string) string {
	if len(input) == 0 {
		input = []byte("{}")
	}
	if text, err := canonical(input); err == nil {
		return d.digest(append([]string{"arguments", string(text)}, places...)...)
	}
	return d.digest(append([]string{"bytes", string(input)}, places...)...)
}

// definitionHash is of all that a person or a guard goes by. The time limit is
// no part of it: it comes from the configuration.
func definitionHash(s toolcrib.Entry) (string, error) {
	s.Timeout = 0
	text, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("reading the definition of %s: %w", s.Name, err)
	}
	return hashOf("definition", string(text)), nil
}

// draft turns a question of the core into one that can be kept.
func (d *Desk) draft(q toolcrib.Question) (Question, error) {
	var terms Terms
	if d.cfg.Terms != nil {
		terms = d.cfg.Terms(q)
	}
	project := terms.Project
	if project == "" {
		project = d.cfg.Project
	}
	if project != "" {
		project = filepath.Clean(project)
	}
	definition, err := definitionHash(q.Spec)
	if err != nil {
		return Question{}, err
	}
	c := q.Call.Caller
	out := Question{
		State: Open, Call: q.Call.ID, Caller: c, Project: project,
		Tool: q.Call.Tool, Box: q.Spec.Box, Native: q.Spec.Native, Definition: definition,
		Effects: q.Effects, ByPath: q.ByPath, Floor: terms.Floor, Arguments: d.argumentsHash(q.Input, q.Places...),
	}
	if out.Tool == "" {
		out.Tool = q.Spec.Name
	}
	out.Files = d.bindFiles(terms.Files)
	if d.rulesKeepable(terms.Rules) {
		out.Rules = slices.Clone(terms.Rules)
	}
	out.Wide = slices.Clone(terms.Wide)
	if terms.SetUp != "" {
		out.SetUp = d.digest("set up", terms.SetUp)
	}
	if terms.Dir != "" && d.rulesKeepable([]string{terms.Dir}) {
		out.Dir = terms.Dir
	}
	out.Slot = d.digest("slot", c.Organisation, c.Subject, c.Agent, project, out.Tool, out.Box, out.Native, out.Arguments, q.Text)
	out.Like = d.digest(append([]string{"like", c.Organisation, c.Subject, c.Agent, project, out.Tool, definition, q.Effects.String(), fmt.Sprint(q.Text != "")}, askers(q.Reasons, true)...)...)
	reasons, err := json.Marshal(q.Reasons)
	if err != nil {
		return Question{}, fmt.Errorf("reading the reasons: %w", err)
	}
	out.Key = d.digest(append([]string{"key", out.Slot, definition, q.Preview, q.Effects.String(), string(reasons),
		fmt.Sprint(terms.Floor), terms.Bind, fmt.Sprintf("%q", out.Files), out.SetUp, strings.Join(terms.Rules, "\n"), strings.Join(terms.Parts, "\n")}, q.Options...)...)
	for _, p := range terms.Parts[:min(len(terms.Parts), maxParts)] {
		p = text.Head(d.cfg.RedactText(p), maxReason)
		out.Parts = append(out.Parts, p)
	}
	return out, d.show(&out, q)
}

// rulesKeepable reports whether rules can be kept as they are. One with a secret in it
// is not kept, and what is left of the others would not cover the call.
func (d *Desk) rulesKeepable(rules []string) bool {
	return !slices.ContainsFunc(rules, func(r string) bool { return r == "" || len(r) > maxReason || d.cfg.RedactText(r) != r })
}

// show fills in what people see, without secrets and within bounds.
func (d *Desk) show(out *Question, q toolcrib.Question) error {
	if len(q.Input) > d.cfg.MaxInput {
		return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Tool: out.Tool,
			Message: fmt.Sprintf("a person has to approve this, and its arguments are too large to be shown (%d bytes; at most %d)", len(q.Input), d.cfg.MaxInput)}
	}
	if len(q.Options) > maxOptions {
		return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Tool: out.Tool,
			Message: fmt.Sprintf("a person cannot choose among %d answers; offer at most %d", len(q.Options), maxOptions)}
	}
	redacted := d.cfg.RedactText
	if len(q.Input) > 0 {
		shown := d.cfg.RedactJSON(slices.Clone(q.Input))
		if !json.Valid(shown) { // what cannot be shown as it is meant is shown as a text
			quoted, err := json.Marshal(redacted(string(shown)))
			if err != nil {
				return fmt.Errorf("writing the arguments: %w", err)
			}
			shown = quoted
		}
		out.Input, out.Redacted = shown, string(shown) != string(q.Input)
		out.Unseen = out.Redacted && hidesMore(q.Input, shown, d.cfg.Mark)
	}
	preview := redacted(q.Preview)
	out.Unseen = out.Unseen || textHidesMore(q.Preview, preview, d.cfg.Mark)
	out.Preview, out.Cut = text.Head(preview, d.cfg.MaxPreview), len(preview) > d.cfg.MaxPreview
	for _, v := range q.Reasons {
		v.Grant, v.Unasked = nil, nil
		v.Rule = text.Head(redacted(v.Rule), maxReason)
		v.Reason = text.Head(redacted(v.Reason), maxReason)
		out.Reasons = append(out.Reasons, v)
	}
	out.Text = text.Head(redacted(q.Text), d.cfg.MaxPreview)
	if q.Text != "" && out.Text == "" {
		out.Text = d.cfg.Mark // it stays a tool's question
	}
	for _, o := range q.Options {
		o = text.Head(redacted(o), maxReason)
		out.Options = append(out.Options, o)
	}
	return nil
}

const (
	maxReason  = 16 << 10
	maxOptions = 100
	maxParts   = 200
)
