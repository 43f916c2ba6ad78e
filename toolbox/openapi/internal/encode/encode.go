package encode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/toolbox/openapi/internal/spec"
)

// Request is what is sent.
type Request struct {
	Path    string // escaped, from the base of the API on
	Query   string
	Header  http.Header
	Cookies []string // name=value
	Body    []byte   // nil: none
	Files   *Stream  // a body with files in it, instead of Body
}

// Encode makes the request of a call. The arguments lack those that are for us. Its
// errors tell the caller what to change.
func Encode(o *spec.Operation, args map[string]json.RawMessage, open OpenFile) (*Request, error) {
	given, err := places(o, args)
	if err != nil {
		return nil, err
	}
	r := &Request{Header: http.Header{}}
	values := map[string]string{}
	var query []string
	if q := o.Template.Query(); q != "" {
		query = append(query, q)
	}
	for _, p := range o.Params {
		v, there, err := value(given[p.In], p.Name)
		if err != nil {
			return nil, err
		}
		if !there {
			if p.Required {
				return nil, missing(o, p.In, p.Name)
			}
			continue
		}
		switch p.In {
		case "path":
			values[p.Name], err = pathValue(p, v, o.Template.Several(p.Name))
		case "query":
			if err = noShadow(o, p, v); err != nil {
				break
			}
			var parts []string
			parts, err = queryValue(p, v)
			query = append(query, parts...)
		case "header":
			var s string
			s, err = headerValue(p, v)
			r.Header.Set(p.Name, s)
		case "cookie":
			var parts []string
			parts, err = cookieValue(p, v)
			r.Cookies = append(r.Cookies, parts...)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", shown(p.Name), err)
		}
	}
	if r.Path, err = o.Template.Fill(func(name string) (string, error) {
		v, ok := values[name]
		if !ok {
			return "", missing(o, "path", name)
		}
		return v, nil
	}); err != nil {
		return nil, err
	}
	r.Query = strings.Join(query, "&")
	return r, body(r, o, given["body"], args, open)
}

// noShadow refuses an object whose members would be parameters of their own, where one of them
// has the name of another parameter, or of what the path itself asks for.
func noShadow(o *spec.Operation, p spec.Param, v any) error {
	members, ok := v.(map[string]any)
	if !ok || !p.Explode || p.Style != "form" || p.Media != "" {
		return nil
	}
	fixed, _ := url.ParseQuery(o.Template.Query()) // what cannot be read is nobody's name
	for name := range members {
		if fixed.Has(name) || slices.ContainsFunc(o.Params, func(other spec.Param) bool { return other.In == "query" && other.Name == name && other.Name != p.Name }) {
			return fmt.Errorf("its member %s is the name of another parameter", shown(name))
		}
	}
	return nil
}

// places sorts the arguments by where they go, and refuses those that go nowhere.
func places(o *spec.Operation, args map[string]json.RawMessage) (map[string]map[string]json.RawMessage, error) {
	out := map[string]map[string]json.RawMessage{}
	for name := range args {
		if !slices.Contains(o.Names, name) {
			hint := ""
			if near := text.Nearest(name, o.Names); near != "" {
				hint = "; did you mean " + shown(near) + "?"
			}
			return nil, fmt.Errorf("there is no argument %s%s", shown(name), hint)
		}
	}
	if !o.Nested {
		// Names are different in every place, so that each finds its own here.
		for _, place := range []string{"path", "query", "header", "cookie", "body"} {
			out[place] = args
		}
		return out, nil
	}
	for place, raw := range args {
		if place == "body" && !o.Body.Flat {
			continue
		}
		if isNull(raw) {
			continue
		}
		group := map[string]json.RawMessage{}
		if err := json.Unmarshal(raw, &group); err != nil {
			return nil, fmt.Errorf("%s has to be an object with the arguments that go there", shown(place))
		}
		out[place] = group
	}
	return out, nil
}

func missing(o *spec.Operation, place, name string) error {
	if o.Nested {
		name = place + "." + name
	}
	return fmt.Errorf("the argument %s is missing", shown(name))
}

func shown(name string) string { return strconv.QuoteToASCII(text.Clip(name, 100)) }

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(bytes.TrimSpace(raw)) == "null" }

// value reads an argument. Null means that it was not given.
func value(args map[string]json.RawMessage, name string) (v any, there bool, err error) {
	raw, ok := args[name]
	if !ok || isNull(raw) {
		return nil, false, nil
	}
	v, err = decode(raw)
	return v, true, err
}

func decode(raw json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, errors.New("an argument is not valid JSON")
	}
	return v, nil
}

// body writes what is sent behind the header.
func body(r *Request, o *spec.Operation, fields, args map[string]json.RawMessage, open OpenFile) error {
	b := o.Body
	if b == nil {
		return nil
	}
	if b.Flat {
		fields = ownFields(o, fields)
		if len(fields) == 0 && !b.Required {
			return nil
		}
		return flat(r, b, fields, open)
	}
	raw, there := args["body"]
	if !there || isNull(raw) && b.Kind != spec.JSON {
		if b.Required {
			return fmt.Errorf("the argument %q is missing", "body")
		}
		return nil
	}
	r.Header.Set("Content-Type", b.Media)
	switch b.Kind {
	case spec.JSON:
		r.Body = raw
		return nil
	case spec.Form, spec.Multipart:
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(raw, &fields); err != nil {
			return errors.New("the body is a form: want an object with its fields")
		}
		return flat(r, b, fields, open)
	}
	v, err := decode(raw)
	if err != nil {
		return err
	}
	s, err := atom(v)
	if err != nil {
		return err
	}
	if b.Kind == spec.Text {
		r.Body = []byte(s)
		return nil
	}
	file, err := open(s)
	if err != nil {
		return err
	}
	r.Files = &Stream{}
	r.Files.add(file)
	return nil
}

// ownFields are the arguments that are parts of the body.
func ownFields(o *spec.Operation, args map[string]json.RawMessage) map[string]json.RawMessage {
	if o.Nested {
		return args
	}
	out := map[string]json.RawMessage{}
	for name, raw := range args {
		if !slices.ContainsFunc(o.Params, func(p spec.Param) bool { return p.Name == name }) {
			out[name] = raw
		}
	}
	return out
}

// flat writes a body of fields.
func flat(r *Request, b *spec.Body, fields map[string]json.RawMessage, open OpenFile) error {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	r.Header.Set("Content-Type", b.Media)
	switch b.Kind {
	case spec.JSON:
		out := []byte{'{'}
		for i, name := range names {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(jsontext.AppendString(out, name), ':')
			out = append(out, fields[name]...)
		}
		out = append(out, '}')
		r.Body = out
		return nil
	case spec.Form:
		return form(r, b, names, fields)
	}
	return multiform(r, b, names, fields, open)
}
