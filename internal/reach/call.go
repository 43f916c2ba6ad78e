package reach

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/refusal"
)

// Reachable asks nobody about a call that its handles would refuse whatever a person says.
type Reachable struct {
	Crib *toolcrib.Crib
	toolcrib.Approver
	// Elsewhere: what is asked about is done by another program, in no sandbox of ours.
	Elsewhere bool
	// ReadGit reports whether commands can only read repositories; nil: nobody knows. Base
	// is where they run.
	ReadGit func() bool
	Base    string
}

// Approve implements [toolcrib.Approver].
func (r Reachable) Approve(ctx context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
	err := Refuses(r.Crib, &toolcrib.Judgement{Review: toolcrib.Review{Call: q.Call, Spec: q.Spec, Input: q.Input}, Grant: r.Crib.Grant})
	if no, refused := toolcrib.AsError(err); refused {
		told := *no
		setting := Setting(err)
		if setting == "grant.read" && slices.ContainsFunc(namedPlaces(&q.Spec), func(a namedPlace) bool { return a.write }) {
			setting = "grant.write" // with the other it would only be refused in other words
		}
		if setting != "" && !strings.Contains(told.Message, "grant.") && setting != "grant.protected" {
			told.Message += "; the owner of this machine grants it by " + setting
		}
		return toolcrib.Answer{}, &told
	}
	if err := errors.Join(r.runs(ctx, q), r.writes(q), r.commits(ctx, q)); err != nil {
		return toolcrib.Answer{}, err
	}
	return r.Approver.Approve(ctx, q)
}

// runs says why no sandbox would run what a command is asked about. Of other tools
// that run programs their own preview says it: they know which sandbox that is.
func (r Reachable) runs(ctx context.Context, q toolcrib.Question) error {
	if r.Elsewhere || q.Spec.Box != "shell" || q.Spec.Effects.All()&toolcrib.Runs == 0 || q.Text != "" {
		return nil
	}
	box, ok := r.Crib.Sandbox.(interface {
		Ready(ctx context.Context, tool string, effects toolcrib.Effects, granted toolcrib.Bounds) error
	})
	if !ok {
		return nil
	}
	return box.Ready(ctx, q.Spec.Native, q.Effects, r.Crib.Grant.Bounds)
}

// Setting names what decides that a handle refuses something.
func Setting(err error) string {
	switch {
	case errors.Is(err, files.ErrOutside):
		return "grant.read"
	case errors.Is(err, files.ErrReadOnly):
		return "grant.write"
	case errors.Is(err, files.ErrProtected):
		return "grant.protected"
	case toolcrib.CodeOf(err) == toolcrib.CodeDenied:
		return "grant.hosts"
	}
	return ""
}

// Refuses has the same handles that a call would be given look at the files, the
// directory or the address that it names.
func Refuses(crib *toolcrib.Crib, j *toolcrib.Judgement) error {
	spec := &j.Review.Spec
	arguments := namedPlaces(spec)
	if spec.Box != "web" && len(arguments) == 0 {
		return nil // what others mean by their arguments nobody knows
	}
	var named map[string]json.RawMessage
	if err := json.Unmarshal(j.Review.Input, &named); err != nil {
		return err
	}
	if spec.Box == "web" {
		var url *string
		if raw, ok := named["url"]; !ok || json.Unmarshal(raw, &url) != nil || url == nil {
			return nil
		}
		gate := httpclient.NewGate(j.Grant.Hosts, crib.HTTP)
		defer gate.Close()
		return gate.Check(*url)
	}
	for _, a := range arguments {
		for _, path := range pathsIn(named[a.name]) {
			if err := RefusesFile(crib, j.Grant, path, a.write, a.link); err != nil {
				return err
			}
		}
	}
	return nil
}

// RefusesFile says why the handle on files would refuse a path; nil: it would not.
func RefusesFile(crib *toolcrib.Crib, grant toolcrib.Grant, path string, write, link bool) error {
	if len(grant.Dirs) == 0 {
		return &toolcrib.Error{Code: toolcrib.CodeDenied, Message: refusal.NoDirectory, Err: files.ErrOutside}
	}
	opt := crib.Files
	opt.Denied, opt.Fixed = slices.Concat(opt.Denied, grant.Denied), slices.Concat(opt.Fixed, grant.Fixed)
	for _, d := range crib.Grant.Dirs {
		opt.Within = append(slices.Clip(opt.Within), d.Path)
	}
	handle, err := files.New(grant.Dirs, opt)
	if err != nil {
		return err
	}
	defer func() { _ = handle.Close() }() // nothing was opened that could be lost
	return handle.Check(path, write, link)
}
