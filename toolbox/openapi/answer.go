package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/schema"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/toolbox/openapi/internal/jq"
)

// result makes of an answer what a caller gets.
func (c *call) result(ctx context.Context, a *answer) (*toolcrib.Result, error) {
	if a.status < 200 || a.status >= 300 {
		return c.failed(a), nil
	}
	kind, params, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	if err != nil && kind == "" {
		kind, params, _ = mime.ParseMediaType(http.DetectContentType(a.body))
	}
	charset := strings.ToLower(params["charset"])
	switch {
	case c.op.Method == http.MethodHead:
		return c.text(a, c.head(a)), nil
	case len(a.body) == 0 && a.cut == "" && a.saved == 0:
		return c.text(a, fmt.Sprintf("%d %s, with an empty answer.", a.status, http.StatusText(a.status))), nil
	case c.saveTo != "":
		return c.saved(a, kind), nil
	case looksJSON(kind, a.body):
		return c.json(ctx, a)
	case c.cut != nil:
		return c.fail(a, "the answer is %s and not JSON, so that nothing can be selected from it", shortKind(kind)), nil
	case isText(kind) && utf8.Valid(trimRune(a.body)) && (charset == "" || charset == "utf-8" || charset == "us-ascii"):
		s := string(trimRune(a.body))
		if a.cut != "" {
			s += "\n[the answer was not read to its end: " + a.cut + "]"
		}
		return c.text(a, s), nil
	}
	return c.binary(a, kind)
}

// looksJSON: some servers say text/plain of what is JSON.
func looksJSON(kind string, body []byte) bool {
	if kind == "application/json" || strings.HasSuffix(kind, "+json") || kind == "text/json" {
		return true
	}
	body = bytes.TrimLeft(body, " \t\r\n")
	return (kind == "" || kind == "text/plain" || kind == "application/octet-stream") && len(body) > 0 && (body[0] == '{' || body[0] == '[') && json.Valid(body)
}

func isText(kind string) bool {
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+xml") || strings.HasSuffix(kind, "+yaml") || kind == "application/xml" || kind == "application/yaml" ||
		kind == "application/x-yaml" || kind == "application/javascript" || kind == "application/x-ndjson" || kind == "application/jsonl" || kind == "application/csv"
}

// trimRune takes half a character off the end of a text that was cut.
func trimRune(b []byte) []byte {
	for i := 1; i <= utf8.UTFMax && i <= len(b); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

func shortKind(kind string) string { return text.Clip(text.ShowLine(kind), 100) }

// json gives an answer that is JSON as a value, cut by the caller's expression.
func (c *call) json(ctx context.Context, a *answer) (*toolcrib.Result, error) {
	if a.cut != "" {
		hint := ""
		if c.op.Select != "" && c.cut == nil {
			hint = "; ask for less, or cut it with " + c.op.Select
		}
		return c.fail(a, "the answer cannot be given: %s%s", a.cut, hint), nil
	}
	value := json.RawMessage(bytes.TrimSpace(a.body))
	if c.cut != nil {
		var err error
		if value, err = c.cut.Run(ctx, value, jq.Limits{Bytes: c.box.cfg.MaxBody}); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return c.fail(a, "%s: %s", c.op.Select, err), nil
		}
	}
	doc, err := schema.Parse(value, schema.Limits{})
	if err != nil { // it says JSON and is not: what there is, is given as text
		if !utf8.Valid(value) {
			return c.binary(a, "application/octet-stream")
		}
		return c.text(a, string(value)), nil
	}
	defer doc.Release()
	switch {
	case c.cut != nil:
		return c.wrapped(a, "selected", value), nil
	case doc.Kind() != schema.Object:
		return c.wrapped(a, "result", value), nil
	case !c.fits(doc):
		return c.wrapped(a, "answer", value), nil
	}
	return c.value(a, value), nil
}

// fits reports whether an answer is as its document says. One that is not is told once.
func (c *call) fits(doc *schema.Doc) bool {
	s := c.schema()
	if s == nil {
		return true
	}
	problems := s.Validate(doc)
	if len(problems) == 0 {
		return true
	}
	if c.told.CompareAndSwap(false, true) && c.box.needs.Log != nil {
		c.box.needs.Log.Warn("an API answers otherwise than its document says", "box", c.box.cfg.Name, "tool", c.name, "problem", text.Clip(problems[0].Unquoted(), 300))
	}
	return false
}

// wrapped gives a value that is no object, or not the one that was announced, as a member of
// one: clients that hold results to a schema want an object, and take any other member.
func (c *call) wrapped(a *answer, name string, value json.RawMessage) *toolcrib.Result {
	object := append(append([]byte(`{"`+name+`":`), value...), '}')
	doc, err := schema.Parse(object, schema.Limits{})
	if err != nil {
		return c.text(a, string(value))
	}
	defer doc.Release()
	if c.fits(doc) {
		return c.value(a, object)
	}
	return &toolcrib.Result{Content: c.withHeaders(a, toolcrib.Content{Type: "text", Text: string(value)})}
}

// value is a result for programs; headers that a caller needs are told beside it.
func (c *call) value(a *answer, value json.RawMessage) *toolcrib.Result {
	r := &toolcrib.Result{Value: value}
	if headers := c.interesting(a, false); headers != "" {
		r.Content = []toolcrib.Content{{Type: "text", Text: string(value)}, {Type: "text", Text: headers}}
	}
	return r
}

// text is a result of plain text; with an output schema it has a value too.
func (c *call) text(a *answer, s string) *toolcrib.Result {
	r := &toolcrib.Result{Content: c.withHeaders(a, toolcrib.Content{Type: "text", Text: s})}
	if c.op.Output != nil {
		value := append(jsontext.AppendString([]byte(`{"result":`), s), '}')
		if doc, err := schema.Parse(value, schema.Limits{}); err == nil {
			if sch := c.schema(); sch != nil && len(sch.Validate(doc)) == 0 {
				r.Value = value
			}
			doc.Release()
		}
	}
	return r
}

func (c *call) withHeaders(a *answer, content toolcrib.Content) []toolcrib.Content {
	out := []toolcrib.Content{content}
	if headers := c.interesting(a, false); headers != "" {
		out = append(out, toolcrib.Content{Type: "text", Text: headers})
	}
	return out
}

// binary gives bytes in the form that frontends know.
func (c *call) binary(a *answer, kind string) (*toolcrib.Result, error) {
	if a.cut != "" {
		hint := ""
		if c.op.SaveTo != "" {
			hint = "; write it to a file with " + c.op.SaveTo
		}
		return c.fail(a, "the answer (%s) cannot be given: %s%s", shortKind(kind), a.cut, hint), nil
	}
	content := toolcrib.Content{Type: "resource", Data: a.body, MIME: kind, Name: fileName(a)}
	switch {
	case strings.HasPrefix(kind, "image/"):
		content.Type = "image"
	case strings.HasPrefix(kind, "audio/"):
		content.Type = "audio"
	default:
		u := *a.url
		u.RawQuery, u.User, u.Fragment = "", nil, ""
		content.URI = u.String()
	}
	return &toolcrib.Result{Content: c.withHeaders(a, content)}, nil
}

// fileName is what the server calls the answer.
func fileName(a *answer) string {
	if _, params, err := mime.ParseMediaType(a.header.Get("Content-Disposition")); err == nil && params["filename"] != "" {
		return text.Clip(text.ShowLine(path.Base(strings.ReplaceAll(params["filename"], `\`, "/"))), 200)
	}
	if base := path.Base(a.url.Path); base != "/" && base != "." {
		return text.Clip(text.ShowLine(base), 200)
	}
	return ""
}
