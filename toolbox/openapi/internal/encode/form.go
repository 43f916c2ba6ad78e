package encode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"path"
	"strings"

	"github.com/toolcrib/toolcrib/toolbox/openapi/internal/spec"
)

// form writes application/x-www-form-urlencoded.
func form(r *Request, b *spec.Body, names []string, fields map[string]json.RawMessage) error {
	var parts []string
	for _, name := range names {
		v, there, err := value(fields, name)
		if err != nil {
			return err
		}
		if !there {
			continue
		}
		f := b.Fields[name]
		p := spec.Param{Name: name, In: "query", Style: "form", Explode: true, AllowReserved: f.AllowReserved}
		_, isObject := v.(map[string]any)
		switch {
		case f.Style != "":
			p.Style, p.Explode = f.Style, f.Explode
		case isObject: // it is JSON, if the document does not say otherwise
			p.Media = "application/json"
		}
		written, err := queryValue(p, v)
		if err != nil {
			return fmt.Errorf("%s: %w", shown(name), err)
		}
		parts = append(parts, written...)
	}
	r.Body = []byte(strings.Join(parts, "&"))
	return nil
}

// multiform writes multipart/form-data, with files by their paths.
func multiform(r *Request, b *spec.Body, names []string, fields map[string]json.RawMessage, open OpenFile) error {
	var buf bytes.Buffer
	w, out := multipart.NewWriter(&buf), &Stream{}
	withFile := func(f File) {
		out.text(bytes.Clone(buf.Bytes()))
		buf.Reset()
		out.add(f)
	}
	for _, name := range names {
		v, there, err := value(fields, name)
		if err != nil {
			return err
		}
		if !there {
			continue
		}
		f := b.Fields[name]
		list, isList := v.([]any)
		if !isList || f.Style != "" && !f.Explode && !f.File {
			list = []any{v}
		}
		for _, e := range list {
			if err := part(w, name, f, e, open, withFile); err != nil {
				return fmt.Errorf("%s: %w", shown(name), err)
			}
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	r.Header.Set("Content-Type", b.Media+"; boundary="+w.Boundary())
	if out.pieces == nil {
		r.Body = buf.Bytes()
		return nil
	}
	out.text(buf.Bytes())
	r.Files = out
	return nil
}

// part writes one part. A file comes behind what was written so far.
func part(w *multipart.Writer, name string, f spec.Field, v any, open OpenFile, withFile func(File)) error {
	head := textproto.MIMEHeader{}
	disposition := `form-data; name="` + quoteField(name) + `"`
	var content []byte
	var sent *File
	media := f.Media
	if f.File {
		file, ok := v.(string)
		if !ok || file == "" {
			return errors.New("want the path of a file")
		}
		found, err := open(file)
		if err != nil {
			return err
		}
		sent = &found
		base := path.Base(strings.ReplaceAll(file, `\`, "/"))
		disposition += `; filename="` + quoteField(base) + `"`
		if media == "" {
			head, err := found.sniff()
			if err != nil {
				return err
			}
			media = http.DetectContentType(head)
		}
	} else {
		if list, ok := v.([]any); ok && f.Style != "" {
			sep := map[string]string{"spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}[f.Style]
			if sep == "" {
				sep = ","
			}
			s, err := joined(list, sep, "", false)
			if err != nil {
				return err
			}
			content = []byte(s)
		} else {
			s, err := atom(v)
			if err != nil {
				return err
			}
			content = []byte(s)
		}
		if _, plain := v.(map[string]any); plain && media == "" {
			media = "application/json"
		}
	}
	head.Set("Content-Disposition", disposition)
	if media != "" {
		head.Set("Content-Type", media)
	}
	p, err := w.CreatePart(head)
	if err != nil {
		return err
	}
	if sent != nil {
		withFile(*sent)
		return nil
	}
	_, err = p.Write(content)
	return err
}

// quoteField writes a name as browsers do.
func quoteField(s string) string {
	return strings.NewReplacer("\\", "\\\\", `"`, "%22", "\r", "%0D", "\n", "%0A").Replace(s)
}
