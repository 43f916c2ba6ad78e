package openapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/toolbox/openapi/internal/spec"
)

// frozen is a box as it is kept, so that a large document need not be read again. Its text is for
// this program alone: who reads it back has to know that nobody else wrote it.
type frozen struct {
	Title   string
	Faults  []Fault
	Hosts   []string
	Home    map[string]bool
	Schemes map[string]spec.Scheme
	Tools   []frozenTool
}

type frozenTool struct {
	Operation   *spec.Operation // with the schemas of the tool
	Report      Operation
	Title, Text string
}

// frozenForm is changed whenever what is kept means something else.
const frozenForm = "openapi 2\n"

// Freeze writes the box down for [Thaw]. It is good for the same document and Config only.
func (b *Box) Freeze() ([]byte, error) {
	f := frozen{Title: b.title, Faults: b.faults, Hosts: b.hosts, Home: b.home, Schemes: b.schemes}
	for i := range b.tools {
		f.Tools = append(f.Tools, frozenTool{b.operations[i], b.ops[i], b.tools[i].Title, b.tools[i].Description})
	}
	buf := bytes.NewBufferString(frozenForm)
	if err := gob.NewEncoder(buf).Encode(f); err != nil {
		return nil, fmt.Errorf("keeping the operations of %s: %w", b.cfg.Name, err)
	}
	return buf.Bytes(), nil
}

// Thaw makes a box of what Freeze wrote, with the Config that it was written with.
func Thaw(cfg Config, needs Needs, text []byte) (*Box, error) {
	rest, ok := bytes.CutPrefix(text, []byte(frozenForm))
	if !ok {
		return nil, errors.New("the operations were kept by another version")
	}
	var f frozen
	if err := gob.NewDecoder(bytes.NewReader(rest)).Decode(&f); err != nil {
		return nil, fmt.Errorf("what was kept of the operations of %s cannot be read: %w", cfg.Name, err)
	}
	b := &Box{cfg: cfg, needs: needs, title: f.Title, faults: f.Faults, hosts: f.Hosts, home: f.Home, schemes: f.Schemes}
	if err := b.prepare(); err != nil {
		return nil, err
	}
	for _, kept := range f.Tools {
		o := kept.Operation
		var err error
		if o == nil {
			return nil, errors.New("an operation was kept without its contents")
		}
		if o.Template, err = spec.ParseTemplate(o.Path); err != nil {
			return nil, err
		}
		t := b.newTool(o, kept.Report.Tool)
		def := t.definition()
		def.Title, def.Description = kept.Title, kept.Text
		b.tools, b.ops, b.operations = append(b.tools, def), append(b.ops, kept.Report), append(b.operations, o)
	}
	return b, nil
}

// sum is a fingerprint of an operation: what a model is told of it, and what is sent where.
func (b *Box) sum(s toolcrib.Spec, o *spec.Operation) string {
	all := b.scratch[:0]
	put := func(parts ...string) {
		for _, p := range parts {
			all = append(binary.LittleEndian.AppendUint64(all, uint64(len(p))), p...)
		}
	}
	put(s.Name, s.Title, s.Description)
	for _, schema := range [][]byte{s.Input, s.Output} {
		all = append(binary.LittleEndian.AppendUint64(all, uint64(len(schema))), schema...)
	}
	put(o.Method, o.Path, o.Base, o.Accept)
	for _, p := range o.Params {
		put(p.Name, p.In, p.Style, fmt.Sprint(p.Explode, p.AllowReserved), p.Media)
	}
	if o.Body != nil {
		put(o.Body.Media, fmt.Sprint(o.Body.Kind, o.Body.Flat))
	}
	put(securityText(o), b.credentialText(o))
	b.scratch = all
	sum := sha256.Sum256(all)
	return hex.EncodeToString(sum[:16])
}

// securityText says which schemes an operation wants.
func securityText(o *spec.Operation) string {
	var sets []string
	for _, r := range o.Security {
		var set []string
		for name, scopes := range r {
			set = append(set, strings.TrimSpace(name+" "+strings.Join(scopes, ",")))
		}
		slices.Sort(set)
		sets = append(sets, strings.Join(set, " and "))
	}
	return strings.Join(sets, " or ")
}

// credentialText says what the document says about the credentials of an operation: how they are
// sent, where tokens for them come from, and whether they are for its host at all. It counts among
// what was approved: else a document could change later where a client's secret is sent.
func (b *Box) credentialText(o *spec.Operation) string {
	var lines []string
	for _, r := range o.Security {
		for name := range r {
			s := b.schemes[name]
			words := keepFull(s.Type, s.Scheme, s.In, s.Name)
			for _, at := range []struct{ what, address string }{{"token", s.TokenURL}, {"login", s.Authorize}, {"code", s.CodeToken}, {"refresh", s.Refresh}, {"discovery", s.Discovery}} {
				if at.address != "" {
					words = append(words, at.what+"="+at.address)
				}
			}
			lines = append(lines, name+": "+strings.Join(words, " "))
		}
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	if !b.home[hostOf(o.Base)] {
		lines = append(lines, "none are sent to this host")
	}
	return strings.Join(lines, "; ")
}

// Definition is what the document says of a tool, for a person to look at; nil: there is none.
func (b *Box) Definition(tool string) json.RawMessage {
	at := slices.IndexFunc(b.ops, func(o Operation) bool { return o.Tool == tool })
	if at < 0 {
		return nil
	}
	t, o := b.tools[at], b.operations[at]
	text, err := json.Marshal(struct {
		Name        string          `json:"name"`
		Title       string          `json:"title,omitempty"`
		Description string          `json:"description,omitempty"`
		Request     string          `json:"request"`
		Security    string          `json:"security,omitempty"`
		Credentials string          `json:"credentials,omitempty"`
		Input       json.RawMessage `json:"inputSchema,omitempty"`
		Output      json.RawMessage `json:"outputSchema,omitempty"`
	}{t.Name, t.Title, t.Description, o.Method + " " + o.Base + o.Path, securityText(o), b.credentialText(o), t.Input, t.Output})
	if err != nil {
		return nil
	}
	return text
}
