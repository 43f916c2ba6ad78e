package openapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/schema"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/toolname"
	"github.com/toolcrib/toolcrib/toolbox/openapi/internal/encode"
	"github.com/toolcrib/toolcrib/toolbox/openapi/internal/jq"
	"github.com/toolcrib/toolcrib/toolbox/openapi/internal/spec"
)

// tool is one operation.
type tool struct {
	box    *Box
	op     *spec.Operation
	name   string
	schema func() *schema.Schema // of the result; nil: none
	told   atomic.Bool           // that the API answers otherwise than its document says
}

// definition is the tool as the catalog takes it. It is foreign: the API checks its calls
// itself, and a default of its document is shown and never sent for somebody.
func (t *tool) definition() toolcrib.Tool {
	o := t.op
	d := toolcrib.Tool{
		Spec: toolcrib.Spec{
			Name: t.name, Title: spec.Clean(o.Summary, 80), Description: t.description(), Input: o.Input, Output: o.Output,
			Effects: t.effects(), Idempotent: repeatable(o.Method), Group: "openapi", Timeout: t.box.cfg.Timeout * 2,
		},
		Run: t.run, Foreign: true, Preview: t.preview,
	}
	if harmless := t.box.needs.Harmless; harmless != nil {
		d.Title, d.Description = harmless(d.Title), harmless(d.Description)
	}
	o.Summary, o.Description = "", ""
	return d
}

// description is what a model reads: what it does, and which request it is.
func (t *tool) description() string {
	o := t.op
	summary, long := spec.Clean(o.Summary, 300), spec.Clean(o.Description, t.box.cfg.MaxDescription)
	words := long
	if summary != "" && !strings.HasPrefix(strings.ToLower(long), strings.ToLower(strings.TrimRight(summary, ". "))) {
		words = strings.TrimRight(summary, ". ") + ". " + long
	}
	if o.Deprecated {
		words = "Deprecated. " + words
	}
	request := o.Method + " " + spec.Clean(o.Path, 200)
	words = text.ClipSentence(strings.TrimSpace(words), t.box.cfg.MaxDescription)
	return strings.TrimSpace(words + " (" + request + ")")
}

// effects follow from the method: a claim that rules can correct, and the settings.
func (t *tool) effects() toolcrib.Effects {
	if e, ok := t.declared(); ok {
		return e
	}
	var e toolcrib.Effects
	switch t.op.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		e = toolcrib.Reads
	case http.MethodDelete:
		e = toolcrib.Destroys
	default:
		e = toolcrib.Writes
	}
	if t.op.SaveTo != "" {
		e |= toolcrib.Writes
	}
	if t.sendsFiles() {
		e |= toolcrib.Reads
	}
	if use, _ := t.box.credentials(t.op); len(use) > 0 {
		e |= toolcrib.UsesSecrets
	}
	return e | toolcrib.Network
}

// declared is what the settings say that it may do: by its own name, else what all patterns
// that fit it say together. Calls use the network and what they are sent with, whatever
// anybody says.
func (t *tool) declared() (toolcrib.Effects, bool) {
	said, ok := t.box.cfg.Effects[t.name]
	if !ok {
		for pattern, e := range t.box.cfg.Effects {
			if toolname.Match(pattern, t.name) {
				said, ok = said|e, true
			}
		}
	}
	if !ok || said == 0 {
		return said, ok
	}
	if use, _ := t.box.credentials(t.op); len(use) > 0 {
		said |= toolcrib.UsesSecrets
	}
	if t.op.SaveTo != "" {
		said |= toolcrib.Writes
	}
	if t.sendsFiles() {
		said |= toolcrib.Reads
	}
	return said | toolcrib.Network, true
}

func (t *tool) sendsFiles() bool {
	b := t.op.Body
	if b == nil {
		return false
	}
	for _, f := range b.Fields {
		if f.File {
			return true
		}
	}
	return b.Kind == spec.Binary
}

// repeatable reports whether a second request of a method changes nothing more.
func repeatable(method string) bool {
	return slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodDelete}, method)
}

// run calls the API.
func (t *tool) run(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (*toolcrib.Result, error) {
	args := map[string]json.RawMessage{}
	if len(input) > 0 {
		if err := json.Unmarshal(input, &args); err != nil {
			return nil, invalid("the arguments have to be an object")
		}
	}
	c := &call{tool: t, env: handles{Env: env}}
	if err := c.reserved(args); err != nil {
		return nil, err
	}
	switch {
	case env == nil:
	case t.box.needs.HTTP != nil:
		client, end := t.box.needs.HTTP(env)
		defer end()
		c.env.web = client
	default:
		c.env.web = env.HTTP
	}
	if c.env.web == nil {
		return nil, &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "the host " + hostOf(t.op.Base) + " was not granted; to allow it, add it to " + cmp.Or(t.box.needs.Hosts, "grant.hosts")}
	}
	r, err := c.encode(args)
	if err != nil {
		return nil, err
	}
	return c.do(ctx, r)
}

// encode makes the request of a call.
func (c *call) encode(args map[string]json.RawMessage) (*encode.Request, error) {
	r, err := encode.Encode(c.op, args, c.openFile)
	if err != nil {
		if _, refused := toolcrib.AsError(err); refused {
			return nil, err
		}
		return nil, invalid(err.Error())
	}
	return r, nil
}

func invalid(message string) error {
	return &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: message}
}

// handles are those of a call; hosts may be reached by another one than that of the Env.
type handles struct {
	*toolcrib.Env
	web *http.Client
}

// call is one call of a tool.
type call struct {
	*tool
	env     handles
	cut     *jq.Query
	saveTo  string
	secrets []string // values that must not be shown
	bearer  string   // the token that was sent last
}

// reserved takes out the arguments that are for us.
func (c *call) reserved(args map[string]json.RawMessage) error {
	take := func(name string) (string, error) {
		raw, ok := args[name]
		if !ok || name == "" {
			return "", nil
		}
		delete(args, name)
		var s *string
		if err := json.Unmarshal(raw, &s); err != nil {
			return "", invalid(name + " has to be a text")
		}
		if s == nil {
			return "", nil
		}
		return *s, nil
	}
	expression, err := take(c.op.Select)
	if err != nil {
		return err
	}
	if expression != "" {
		if c.cut, err = jq.Parse(expression); err != nil {
			return invalid(c.op.Select + ": " + err.Error())
		}
	}
	c.saveTo, err = take(c.op.SaveTo)
	return err
}

// openFile finds a file that is sent, in the granted directories.
func (c *call) openFile(name string) (encode.File, error) {
	if c.env.Files == nil {
		return encode.File{}, &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "no directory was granted, so that no file can be sent; to allow one, add it to grant.read"}
	}
	if name == "" {
		return encode.File{}, errors.New("want the path of a file")
	}
	in, info, err := c.env.Files.Open(name)
	if err != nil {
		return encode.File{}, err
	}
	if err := in.Close(); err != nil {
		return encode.File{}, err
	}
	if info.Size() > int64(c.box.cfg.MaxUpload) {
		return encode.File{}, fmt.Errorf("%s is larger than %d bytes, and so not sent", text.ShowLine(name), c.box.cfg.MaxUpload)
	}
	return encode.File{Size: info.Size(), Open: func() (io.ReadCloser, error) {
		in, _, err := c.env.Files.Open(name)
		if err != nil {
			return nil, err
		}
		return in, nil
	}}, nil
}
