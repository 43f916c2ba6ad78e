package app

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/clienthook"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/desk/terms"
	"github.com/toolcrib/toolcrib/internal/hostpath"
	"github.com/toolcrib/toolcrib/internal/hub"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/reach"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/toolname"
)

// HookAsk says who asks the person where a guard wants one asked.
type HookAsk int

// The client asks in its own words and at its own place, or the desk does.
const (
	AskClient HookAsk = iota
	AskDesk
)

// Hooked is what the hook of a client needs.
type Hooked struct {
	Event  *clienthook.Event
	Caller toolcrib.Caller
	Ask    HookAsk
	Warm   *HookWarm
}

// ReadHook reads what the hook of a client was told.
func ReadHook(client string, raw []byte, home string, getenv func(string) string) (*clienthook.Event, error) {
	return clienthook.Parse(client, raw, clienthook.Surroundings{
		Home: home, Getenv: getenv,
		Link: func(path string) bool {
			info, err := os.Lstat(path)
			return err == nil && info.Mode()&os.ModeSymlink != 0
		},
		Own: isThisProgram, Posing: posing,
		Part: filePart,
	})
}

// isThisProgram: clients start it by its path, or by its name.
func isThisProgram(program string) bool {
	self, err := os.Executable()
	if err != nil || program == "" {
		return false
	}
	if found, err := exec.LookPath(program); err == nil {
		program = found
	}
	a, errA := os.Stat(self)
	b, errB := os.Stat(program)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// posing reports whether a project, or a directory around it, brings an MCP server
// that has our name and is another program.
func posing(project string) bool {
	for dir := project; filepath.IsAbs(dir); dir = filepath.Dir(dir) {
		if text, err := plainfile.Settings(filepath.Join(dir, ".codex", "config.toml")); err == nil && bytes.Contains(text, []byte(toolname.OwnServer)) {
			self, err := os.Executable()
			if err != nil || !bytes.Contains(text, []byte(filepath.ToSlash(self))) {
				return true
			}
		}
		text, err := plainfile.Settings(filepath.Join(dir, ".mcp.json"))
		if err == nil && bytes.Contains(text, []byte(toolname.OwnServer)) {
			var file struct {
				Servers map[string]struct {
					Command string `json:"command"`
				} `json:"mcpServers"`
			}
			if json.Unmarshal(text, &file) != nil {
				return true
			}
			if s, ok := file.Servers[toolname.OwnServer]; ok && !isThisProgram(s.Command) {
				return true
			}
		}
		if filepath.Dir(dir) == dir {
			break
		}
	}
	return false
}

// filePart is the beginning or the end of a regular file.
func filePart(path string, end bool, most int) []byte {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // it was only read
	text := make([]byte, min(info.Size(), int64(most)))
	at := int64(0)
	if end {
		at = info.Size() - int64(len(text))
	}
	n, err := f.ReadAt(text, at)
	if err != nil && err != io.EOF {
		return nil
	}
	return text[:n]
}

// HookClients lists the clients whose hooks are read.
func HookClients() []string { return clienthook.Clients() }

// HookAnswer is what a client is told: on standard output, on standard error, and
// by the exit status.
func HookAnswer(client string, word clienthook.Word, reason string) (stdout, stderr string, status int) {
	return clienthook.Answer(client, word, reason)
}

// openHooked puts the tools of a client on the shelves, and no others: this crib
// is for one message of its hook.
func (a *App) openHooked(ctx context.Context, cfg settings.Config, needs Needs) error {
	e := needs.Hook.Event
	for i := range e.Deeds {
		// Rules about a box of ours would be about a server that has its name.
		if d := &e.Deeds[i]; d.Server && (d.Box == e.Client || slices.Contains(a.own, d.Box)) {
			d.Box = "mcp__" + d.Box
		}
	}
	list, _ := hub.Servers(cfg, hub.PluginDir(cfg.Hub, needs.Config), boxNames())
	a.reach.SetOwn(cfg, list, &reach.Launcher{
		Env: os.LookupEnv, Path: cmp.Or(needs.Path, os.Getenv("PATH")), Home: needs.Home, Dir: needs.Dir, Grant: a.Crib.Grant, Log: needs.Log, Rules: a.outOfReach,
		Outside: reach.Outside{Finder: hostpath.Finder{Writable: a.reach.CommandsWrite}, Home: needs.Home, Dir: needs.Dir},
	})
	var checks clienthook.Checks
	if hosts := a.Crib.Grant.Hosts; len(hosts) > 0 {
		checks.Address = func(url string) error {
			gate := httpclient.NewGate(hosts, a.Crib.HTTP)
			defer gate.Close()
			return gate.Check(url)
		}
	}
	_, faults := a.Crib.Catalog.Load(ctx, toolcrib.Contents{Boxes: clienthook.Boxes(e, checks), Disable: cfg.Tools.Disable, Absent: map[string]string{}})
	if len(faults) > 0 {
		return &faults[0]
	}
	was := a.Crib.Visible
	a.Crib.Visible = func(caller toolcrib.Caller, spec *toolcrib.Entry) bool {
		// What was done is written down, whatever a profile has.
		return spec.Box == e.Client && spec.Native == clienthook.Outcome || was(caller, spec)
	}
	return nil
}

// Hook judges, or records, what a client does with its own tools.
func (a *App) Hook(ctx context.Context, cfg settings.Config, needs Needs) (clienthook.Word, string) {
	h, e := needs.Hook, needs.Hook.Event
	caller := h.Caller
	caller.Client, caller.Session = e.Client, e.Session
	var verdicts []toolcrib.Verdict
	a.Crib.OnEnd = append(a.Crib.OnEnd, func(_ context.Context, r *toolcrib.Record) { verdicts = r.Verdicts })
	if e.After {
		input := clienthook.OutcomeInput(e)
		if _, err := a.Crib.Call(ctx, toolcrib.Call{Tool: clienthook.Outcome, Input: input, Caller: caller, Parent: e.Use}); err != nil {
			return clienthook.No, refusalText(err)
		}
		return clienthook.Pass, ""
	}
	var asked string
	ask := &hookApprover{event: e, asked: &asked}
	if h.Ask == AskDesk || !e.Asks {
		ask.desk = sync.OnceValues(func() (*desk.Desk, error) { return a.hookDesk(ctx, cfg, needs) })
	}
	a.Crib.Approver = a.keeper.Approver(ask)
	word := clienthook.Yes // if each of them is allowed by a rule
	for _, d := range e.Deeds {
		name := d.Tool
		for spec := range a.Crib.Tools(caller) { // another may have the same name
			if spec.Box == d.Box && spec.Native == d.Tool {
				name = spec.Name
			}
		}
		result, err := a.Crib.Call(ctx, toolcrib.Call{Tool: name, Input: d.Input, Caller: caller, Parent: e.Use})
		switch {
		case err != nil:
			return clienthook.No, a.hookRefusal(caller, name, err)
		case result.Failed:
			return clienthook.No, result.String()
		case !byRule(verdicts):
			word = clienthook.Pass
		}
	}
	if asked != "" {
		return clienthook.Query, asked
	}
	return word, ""
}

func (a *App) hookRefusal(caller toolcrib.Caller, name string, err error) string {
	if why := a.Hidden(caller, name); why != "" && toolcrib.CodeOf(err) == toolcrib.CodeNotFound {
		return why
	}
	return refusalText(err)
}

func refusalText(err error) string {
	if e, ok := toolcrib.AsError(err); ok {
		return e.Message
	}
	return err.Error()
}

// byRule reports whether a person's own words allow a call: a rule, or a mode that
// they chose. That looking is allowed is nobody's word: the client goes by its own
// rules then.
func byRule(verdicts []toolcrib.Verdict) bool {
	return slices.ContainsFunc(verdicts, func(v toolcrib.Verdict) bool {
		if v.Note || v.Decision != toolcrib.Allow {
			return false
		}
		return v.Guard == "rules" || v.Guard == "shell" || v.Guard == "mode" && v.Rule != "default" && v.Rule != "plan"
	})
}

// hookApprover hands a question to the client, or puts it to the desk.
type hookApprover struct {
	event *clienthook.Event
	asked *string // why the client has to ask
	desk  func() (*desk.Desk, error)
}

func (h *hookApprover) Approve(ctx context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
	if h.desk != nil {
		d, err := h.desk()
		if err != nil {
			return toolcrib.Answer{}, err
		}
		return d.Approve(ctx, q)
	}
	var why []string
	for _, v := range q.Reasons {
		if v.Decision == toolcrib.Ask && !v.Note {
			why = append(why, v.Guard+": "+v.Reason)
		}
	}
	if *h.asked != "" {
		*h.asked += "\n"
	}
	h.event.Asked = true
	*h.asked += cmp.Or(strings.Join(why, "\n"), "its rules want a person asked")
	return toolcrib.Answer{Decision: toolcrib.Allow, By: "whoever " + h.event.Client + " asks"}, nil
}

// hookDesk opens the desk where something has to be asked there.
func (a *App) hookDesk(ctx context.Context, cfg settings.Config, needs Needs) (*desk.Desk, error) {
	d, kept, err := newDesk(ctx, cfg.Desk, deskNeeds{
		State: needs.State, Project: a.reach.Base, Auto: desk.Leave, Ask: cfg.Limits.Ask, Terms: terms.Of(a.shellNow),
		RedactJSON: a.secrets.RedactJSON, RedactText: a.secrets.RedactText, Log: needs.Log,
	})
	if err != nil {
		return nil, errors.New("the desk cannot be opened: " + text.Clip(err.Error(), 200))
	}
	a.Desk, a.closers = d, append(a.closers, kept)
	return d, nil
}

// The words that the command line needs of it.
const (
	HookMost = clienthook.MaxInput
	HookNo   = clienthook.No
	HookPass = clienthook.Pass
)

// HookWord is what a client is told.
type HookWord = clienthook.Word
