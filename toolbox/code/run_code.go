package code

import (
	"context"
	_ "embed" // the description
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
)

//go:embed run_code.md
var runCodeText string

type runIn struct {
	Language string            `json:"language" doc:"The language of the code."`
	Code     string            `json:"code" minlen:"1" maxlen:"262144" doc:"The code of this cell."`
	Session  string            `json:"session,omitempty" default:"main" minlen:"1" maxlen:"64" pattern:"^[A-Za-z0-9._-]+$" doc:"Which session runs it. Each remembers its own variables and files. Another name begins with nothing."`
	Files    []string          `json:"files,omitempty" maxitems:"64" doc:"Files of the project that are copied in before: relative paths keep their directories, others their last name."`
	Timeout  int               `json:"timeout,omitempty" default:"30" min:"1" max:"86400" doc:"Seconds after which the cell is interrupted. The configuration may allow less."`
	Save     map[string]string `json:"save,omitempty" doc:"Files of the session that are copied into the project after the cell: the name in the session, and the path in the project."`
	Reset    bool              `json:"reset,omitempty" doc:"End the session first and begin with nothing."`
}

type runOut struct {
	Status  string          `json:"status" enum:"ok,error,interrupted,lost" doc:"How the cell went. lost: the session is gone, with its variables and files."`
	Output  string          `json:"output,omitempty" doc:"What the code printed; beginning and end of it if that was much."`
	Error   string          `json:"error,omitempty" doc:"What went wrong."`
	Text    string          `json:"text,omitempty" doc:"What was shown, as text: the value of the last expression, tables."`
	Value   json.RawMessage `json:"value,omitempty" doc:"The last value that was shown, if it can be written as JSON."`
	Tables  []table         `json:"tables,omitempty" doc:"The tables that were shown."`
	Images  int             `json:"images,omitempty" doc:"How many images come with the result."`
	Files   []outFile       `json:"files,omitempty" doc:"Files that the cell made or changed in the session."`
	Saved   []savedFile     `json:"saved,omitempty" doc:"What became of the files under save."`
	Session string          `json:"session" doc:"The session it ran in."`
	Fresh   bool            `json:"fresh,omitempty" doc:"The session began with this cell: nothing was remembered."`
	Cell    int             `json:"cell" doc:"The number of the cell in its session."`
	Sandbox string          `json:"sandbox,omitempty" doc:"Where it ran."`
	Notes   []string        `json:"notes,omitempty" doc:"What else there is to know."`
}

type table struct {
	Columns []string          `json:"columns"`
	Rows    []json.RawMessage `json:"rows" doc:"Each a list of values. Not all of them, if there are many."`
	Index   []json.RawMessage `json:"index,omitempty" doc:"The labels of the rows, if they have any."`
	Total   int               `json:"total_rows"`
	Wide    int               `json:"total_columns"`
}

type outFile struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

type savedFile struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Error string `json:"error,omitempty" doc:"Why it was not saved."`
}

func (b *Box) runCode() (toolcrib.Tool, error) {
	t := toolcrib.Define(toolcrib.Spec{
		Name: RunCode, Title: "Run code", Description: b.described(), Group: Group,
		// It runs programs, and all that they can touch is what this call reads for them.
		Effects: toolcrib.Reads,
		// A cell has its own time; this one only catches what hangs beyond it.
		Timeout: b.cfg.MaxTimeout + b.cfg.Start + b.cfg.Grace + 30*time.Second,
	}, func(ctx context.Context, env *toolcrib.Env, in runIn) (runOut, error) {
		out, images, err := b.cell(ctx, env, in)
		if keep, ok := ctx.Value(imagesKey{}).(*[]toolcrib.Content); ok {
			*keep = images
		}
		return out, err
	})
	var err error
	if t.Input, err = b.onlyOffered(t.Input); err != nil {
		return t, err
	}
	if b.needs.Ready != nil {
		t.Preview = func(ctx context.Context, _ *toolcrib.Env, _ json.RawMessage) (string, error) {
			place, err := b.needs.Place("", max(b.cfg.Risk, Low)) // no code runs in less than that
			if err != nil {
				return "", &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: err.Error()}
			}
			return "", b.needs.Ready(ctx, place)
		}
	}
	define := t.Run
	t.Run = func(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (*toolcrib.Result, error) {
		var images []toolcrib.Content
		r, err := define(context.WithValue(ctx, imagesKey{}, &images), env, input)
		if err != nil || r.Value == nil {
			return r, err
		}
		var out runOut
		if err := json.Unmarshal(r.Value, &out); err != nil {
			return nil, err
		}
		r.Content = append([]toolcrib.Content{{Type: "text", Text: out.told()}}, images...)
		r.Failed = out.Status != "ok"
		return r, nil
	}
	return t, nil
}

// imagesKey carries images past the typed result.
type imagesKey struct{}

// described tells which languages there are.
func (b *Box) described() string {
	var list []string
	for _, l := range b.needs.Languages {
		if l.Text != "" {
			list = append(list, l.Name+" ("+l.Text+")")
		} else {
			list = append(list, l.Name)
		}
	}
	text := strings.TrimSpace(runCodeText) + "\n\nLanguages here: " + strings.Join(list, ", ") + "."
	if len(b.cfg.Packages) > 0 {
		text += " Python packages besides the standard library: " + strings.Join(b.cfg.Packages, ", ") + "."
	}
	return text
}

// onlyOffered writes the languages that are here into the schema.
func (b *Box) onlyOffered(schema json.RawMessage) (json.RawMessage, error) {
	var names []string
	for _, l := range b.needs.Languages {
		names = append(names, l.Name)
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(schema, &top); err != nil {
		return nil, err
	}
	var properties map[string]json.RawMessage
	if err := json.Unmarshal(top["properties"], &properties); err != nil {
		return nil, err
	}
	var language map[string]any
	if err := json.Unmarshal(properties["language"], &language); err != nil {
		return nil, err
	}
	language["enum"] = names
	var err error
	if properties["language"], err = json.Marshal(language); err != nil {
		return nil, err
	}
	if top["properties"], err = json.Marshal(properties); err != nil {
		return nil, err
	}
	return json.Marshal(top)
}

// cell runs one call.
func (b *Box) cell(ctx context.Context, env *toolcrib.Env, in runIn) (runOut, []toolcrib.Content, error) {
	if !b.offers(in.Language) {
		return runOut{}, nil, fmt.Errorf("%s cannot be run here", in.Language)
	}
	files, err := b.bring(env, in.Files)
	if err != nil {
		return runOut{}, nil, err
	}
	k := keyOf(env.Call.Caller, in.Language, in.Session)
	if in.Reset {
		b.reset(k)
	}
	s, fresh, err := b.session(ctx, env.Call, k.language, in.Session, b.cfg.riskOf(len(files)))
	if err != nil {
		return runOut{}, nil, err
	}
	most := min(time.Duration(in.Timeout)*time.Second, b.cfg.MaxTimeout)
	r := s.run(ctx, b.cfg, cell{code: in.Code, types: in.Language == "typescript", files: files, time: most}, env.Emit)
	out, images := r.answer(s, most)
	out.Session, out.Fresh, out.Cell, out.Sandbox = in.Session, fresh, s.cells, s.place
	if r.lost {
		b.forget(k, s)
	}
	b.done(k, s)
	if r.end == left {
		return runOut{}, nil, ctx.Err()
	}
	if len(in.Save) > 0 {
		b.save(ctx, env, in, k, r.lost, &out)
	}
	return out, images, nil
}

// reset ends a session.
func (b *Box) reset(k key) {
	b.mu.Lock()
	s, ok := b.list[k]
	b.mu.Unlock()
	if ok {
		b.forget(k, s)
		s.kill()
	}
}
