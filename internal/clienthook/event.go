package clienthook

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/schema"
	"github.com/toolcrib/toolcrib/internal/toolname"
)

// The clients whose hooks are read.
const (
	Claude = "claude-code"
	Codex  = "codex"
	Gemini = "gemini"
)

// Clients lists them.
func Clients() []string { return []string{Claude, Codex, Gemini} }

// MaxInput is the most bytes that a client may send. A file that is written whole
// is in it, and what a tool answered.
const MaxInput = 16 << 20

const maxDepth = 100

// Event is one message of a client.
type Event struct {
	Client  string
	After   bool   // the tool has run; before that the client asks whether it may
	Session string // as the client names it
	Dir     string // where the client works now, absolute: the model may have chosen it
	Project string // where the client was started, absolute: what is granted goes by it
	Tool    string // as the client calls it
	Use     string // how the client names this use of the tool; may be empty
	// Own: it is a tool of Toolcrib's own server, which judges and records it itself.
	Own bool
	// Alone: and nothing that a project brings can be meant by its name.
	Alone bool
	// Asks: the client can be told to ask the person, and will.
	Asks bool
	// Asked: it was told to, which the record of the call says.
	Asked bool
	// Deeds is what the tool would do. Every one of them must be allowed.
	Deeds []Deed
	// Failed and Response are what became of it.
	Failed   bool
	Response json.RawMessage
}

// Deed is one call of a tool of ours that stands for what the client wants to do.
type Deed struct {
	Box, Tool string
	Server    bool // Box is an MCP server of the client
	Effects   toolcrib.Effects
	Group     string
	Input     json.RawMessage
	// What the handles of a call have to be asked about besides the guards.
	Path  string // a file or directory
	Write bool   // that is to be changed
	URL   string // an address
}

// Surroundings is what reading an event needs of this machine.
type Surroundings struct {
	Home string
	// Getenv reads a variable that the client has set.
	Getenv func(name string) string
	// MayBeZsh reports whether a client may run its commands in zsh, so that they are judged
	// for it. Nil: none may.
	MayBeZsh func(client string) bool
	// Link reports whether a path is a link.
	Link func(path string) bool
	// Own reports whether a program is this one. Nil: none is.
	Own func(program string) bool
	// Alone reports whether no project's file names an MCP server of our name. Nil: nobody
	// knows.
	Alone func(project string) bool
	// Posing reports whether a project brings an MCP server of its own whose tools could
	// be taken for ours by their names. Nil: none does.
	Posing func(project string) bool
	// Served reports whether our server has a tool of exactly this name for who works in
	// a project. Nil: it has none.
	Served func(project, tool string) bool
	// Part gives the beginning or the end of a file, at most so many bytes. Nil: none
	// can be read.
	Part func(path string, end bool, most int) []byte
}

// maxTail is how much of a transcript is looked through for a call that was made just
// now.
const maxTail = 1 << 20

func (s Surroundings) part(path string, end bool) []byte {
	if s.Part == nil || !filepath.IsAbs(path) {
		return nil
	}
	return s.Part(path, end, maxTail)
}

func (s Surroundings) tail(path string) []byte { return s.part(path, true) }

// Parse reads a message of a client.
func Parse(client string, raw []byte, near Surroundings) (*Event, error) {
	if !slices.Contains(Clients(), client) {
		return nil, fmt.Errorf("no hooks of %q are known; want one of %s", client, strings.Join(Clients(), ", "))
	}
	top, err := object(raw)
	if err != nil {
		return nil, fmt.Errorf("what the client sent is not understood: %w", err)
	}
	e := &Event{Client: client}
	var event, mode string
	for name, to := range map[string]*string{
		"session_id": &e.Session, "cwd": &e.Dir, "tool_name": &e.Tool, "tool_use_id": &e.Use, "hook_event_name": &event, "permission_mode": &mode,
	} {
		if *to, err = top.text(name); err != nil {
			return nil, err
		}
	}
	switch {
	case e.Tool == "":
		return nil, errors.New("the client names no tool (tool_name)")
	case !filepath.IsAbs(e.Dir):
		return nil, errors.New("the client does not say where it works (cwd, an absolute path)")
	}
	transcript, err := top.text("transcript_path")
	if err != nil {
		return nil, err
	}
	if err := e.started(near, transcript); err != nil {
		return nil, err
	}
	switch event {
	case "PreToolUse", "BeforeTool":
	case "PostToolUse", "PostToolUseFailure", "AfterTool":
		e.After = true
		if rest, ok := strings.CutPrefix(e.Tool, "mcp__"); ok && client == Claude {
			e.Own = len((&reader{near: near, client: client, tool: e.Tool, project: e.Project}).ofServers(rest)) == 0
		}
		return e, e.outcome(top, event)
	default:
		return nil, fmt.Errorf("the event %q (hook_event_name) is not known; hooks are for PreToolUse, PostToolUse, BeforeTool and AfterTool", event)
	}
	e.Asks = asks(client, mode)
	r := reader{near: near, dir: e.Dir, client: client, tool: e.Tool, use: e.Use, transcript: transcript, project: e.Project}
	if given, ok := top["tool_input"]; ok {
		r.raw = given
	} else {
		r.raw = json.RawMessage("{}")
	}
	if r.in, err = object(r.raw); err != nil {
		// Nobody but the tool knows what it makes of that.
		r.in = nil
	}
	e.Own, e.Deeds, err = r.deeds(top)
	e.Alone = e.Own && client == Claude && near.Alone != nil && near.Alone(e.Project)
	if err == nil && !e.Own && e.Project == "" {
		e.Project = e.Dir
		e.Deeds = append(e.Deeds, Deed{Box: client, Tool: Elsewhere, Input: input("dir", e.Dir)})
	}
	return e, err
}

// started finds out where the client was started. Where it works now does not say it:
// a model that could choose the directory would choose what is granted.
func (e *Event) started(near Surroundings, transcript string) error {
	switch e.Client {
	case Claude:
		if near.Getenv != nil {
			e.Project = near.Getenv("CLAUDE_PROJECT_DIR")
		}
		if !filepath.IsAbs(e.Project) {
			return errors.New("the client does not say where it was started (CLAUDE_PROJECT_DIR, an absolute path)")
		}
	case Codex:
		e.Project = codexProject(near.part(transcript, false))
	case Gemini:
		e.Project = e.Dir // it says with each call where that runs
	}
	return nil
}

// asks reports whether a client asks the person when it is told to. Claude Code does
// where it is set to ask at all: in the mode bypassPermissions it went on with what it
// would have asked about by itself, such as a change of its own settings, and other
// modes leave the answer to a model.
func asks(client, mode string) bool {
	switch client {
	case Claude:
		return mode == "default" || mode == "plan" || mode == "acceptEdits"
	case Gemini:
		return true
	}
	return false
}

// deeds is what the tool would do.
func (r *reader) deeds(top fields) (own bool, deeds []Deed, err error) {
	if server, tool, ok, err := r.server(top); err != nil || ok {
		if server == toolname.OwnServer && r.isOwn(top) && r.serves(tool) {
			return err == nil, nil, err
		}
		return false, []Deed{{Box: server, Tool: tool, Server: true, Input: r.asObject()}}, err
	}
	if rest, ok := strings.CutPrefix(r.tool, "mcp__"); ok {
		deeds := r.ofServers(rest)
		return len(deeds) == 0, deeds, nil // none: ours
	}
	switch r.client {
	case Claude:
		deeds, err = r.claude()
	case Codex:
		deeds, err = r.codex()
	case Gemini:
		deeds, err = r.gemini()
	}
	if err != nil {
		return false, nil, fmt.Errorf("%s: %w", r.tool, err)
	}
	if deeds == nil {
		deeds = []Deed{r.unknown()}
	}
	return false, deeds, nil
}

// ofServers reads mcp__server__tool. Where the name can be cut at several places
// each of the readings has to be allowed. None: it is Toolcrib's own, by the exact name of
// a tool that our server has, and no project brings another that is named so.
func (r *reader) ofServers(rest string) []Deed {
	if own, ok := strings.CutPrefix(rest, toolname.OwnServer+"__"); ok && (r.near.Posing == nil || !r.near.Posing(r.project)) && r.serves(own) {
		return nil
	}
	var out []Deed
	for at := 0; len(out) < 8; {
		i := strings.Index(rest[at:], "__")
		if i < 0 {
			break
		}
		at += i
		if server, tool := rest[:at], rest[at+2:]; plainName(server) && plainName(tool) {
			out = append(out, Deed{Box: server, Tool: tool, Server: true, Input: r.asObject()})
		}
		at++
	}
	if len(out) == 0 {
		return []Deed{r.unknown()}
	}
	return out
}

// serves reports whether our own server has a tool of that name.
func (r *reader) serves(tool string) bool {
	return tool != "" && r.near.Served != nil && r.near.Served(r.project, tool)
}

// unknown is a tool of which nobody knows what it does.
func (r *reader) unknown() Deed {
	if !plainName(r.tool) {
		input, _ := json.Marshal(map[string]json.RawMessage{"tool": quoted(r.tool), "input": r.raw})
		return Deed{Box: r.client, Tool: "other", Input: input}
	}
	return Deed{Box: r.client, Tool: r.tool, Input: r.asObject()}
}

// outcome reads what became of a tool.
func (e *Event) outcome(top fields, event string) error {
	e.Response = top["tool_response"]
	if event == "PostToolUseFailure" {
		e.Failed = true
		if text, ok := top["error"]; ok {
			e.Response = text
		}
	}
	if response, err := object(e.Response); err == nil && e.Client == Gemini {
		fault, given := response["error"]
		e.Failed = given && string(fault) != "null"
	}
	if len(e.Response) == 0 {
		e.Response = json.RawMessage("null")
	}
	return nil
}

// fields are the members of an object, by their exact names: a reader that takes
// Command for command would judge another one than the client runs.
type fields map[string]json.RawMessage

// object reads an object strictly: a name that stands twice is refused, since
// readers differ in which one counts.
func object(raw json.RawMessage) (fields, error) {
	doc, err := schema.Parse(raw, schema.Limits{Bytes: MaxInput, Depth: maxDepth})
	if err != nil {
		return nil, err
	}
	doc.Release()
	var out fields
	if err := json.Unmarshal(raw, &out); err != nil || out == nil {
		return nil, errors.New("it is no JSON object")
	}
	return out, nil
}

// text is a member that is a text; empty if it is missing.
func (f fields) text(name string) (string, error) {
	raw, ok := f[name]
	if !ok || string(raw) == "null" {
		return "", nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", fmt.Errorf("%s is no text", name)
	}
	return s, nil
}

func quoted(s string) json.RawMessage {
	out, _ := json.Marshal(s) // a text can always be written
	return out
}

// plainName is what can be the name of a box and of a tool.
func plainName(s string) bool {
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}
