package schema

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// Schema is a compiled JSON Schema. It is safe for use by several goroutines at once.
type Schema struct {
	doc        *Doc
	root       *rule
	closedRoot *rule    // root, closed against undeclared properties; nil when it must stay open
	bad        []uint32 // the defaults that their own schema refuses
	unsure     bool     // of somebody else's: which arguments there are is not known for certain
}

// SchemaError says what is wrong with a schema and where.
type SchemaError struct {
	Pointer string // JSON pointer of the bad part; empty for the whole schema
	Message string
}

func (e *SchemaError) Error() string {
	if e.Pointer == "" {
		return "schema: " + e.Message
	}
	return "schema at " + text.ClipMiddle(e.Pointer, maxPath) + ": " + e.Message
}

// The drafts of JSON Schema, as numbers that can be compared.
const (
	draft4    = 4
	draft6    = 6
	draft7    = 7
	draft2019 = 2019
	draft2020 = 2020
)

// draftOf names the draft that a $schema address stands for, 0 if it is none of the known ones.
func draftOf(address string) int {
	address = strings.TrimSuffix(address, "#")
	if rest, ok := strings.CutPrefix(address, "http://"); ok {
		address = rest
	} else {
		address = strings.TrimPrefix(address, "https://")
	}
	switch address {
	case "json-schema.org/draft/2020-12/schema", "json-schema.org/schema":
		return draft2020
	case "json-schema.org/draft/2019-09/schema":
		return draft2019
	case "json-schema.org/draft-07/schema":
		return draft7
	case "json-schema.org/draft-06/schema":
		return draft6
	case "json-schema.org/draft-04/schema":
		return draft4
	}
	return 0
}

// Compile reads a JSON Schema. Without $schema it is taken as draft 2020-12. A schema that breaks the rules of its draft, a
// $ref that leads out of the text, and a schema that unfolds without measure are errors; nothing is ever loaded. The error
// is a *[SchemaError]. The text may be changed afterwards. A default that its own schema refuses is left out, see
// [Schema.BadDefaults].
//
// The keyword format is an annotation, in every draft.
func Compile(source []byte) (*Schema, error) {
	d, err := Parse(source, Limits{Bytes: maxSchema})
	if err != nil {
		return nil, &SchemaError{Message: "not a JSON text: " + err.Error()}
	}
	defer d.Release()
	s := &Schema{doc: d.keep()}
	b := &builder{s: s, d: s.doc, rules: make([]*rule, len(d.nodes))}
	if err := b.compile(); err != nil {
		return nil, err
	}
	return s, nil
}

// builder makes the rules of one schema.
type builder struct {
	s *Schema
	d *Doc
	place
	resources
	rules     []*rule         // by the node they were made from; those of a scope are in it
	all       []*rule         // those that matter, once the references are resolved
	refs      bool            // there is some reference
	from      map[*rule]place // where the references stand that do not stand at home
	checkOnly bool            // the text is a value: it is only looked at whether it is a schema
	foreign   bool            // what cannot be checked is left out
	left      []*SchemaError  // what was

	copies   int   // how many rules were made in scopes
	hops     int   // how many elements references have passed over
	patterns int   // the weight of all patterns so far
	steps    int   // how much judging of defaults is left
	filled   int   // bytes of defaults so far
	failed   error // the first error while defaults were filled in
}

func (b *builder) compile() error {
	draft := draft2020
	if v, ok := b.d.Root().Member("$schema"); ok && v.Kind() == String {
		if draft = draftOf(string(v.Str())); draft == 0 {
			err := b.fail(v.i, "%s is another document; a schema must not refer to other documents", quoteValue(b.d, v.i))
			if !b.leave(err) {
				return err
			}
			draft = draft2020
		}
	}
	root, err := b.scan(draft)
	if err != nil {
		return err
	}
	if err := b.resolve(root); err != nil {
		return err
	}
	b.s.root = root
	b.loosen()
	if err := b.finishDefaults(); err != nil {
		return err
	}
	b.s.closedRoot = b.closeRoot()
	return nil
}

// closeRoot makes the root that [Options.Closed] uses: one that refuses undeclared properties. There is none when the
// schema declares no properties at all, or says in some other way which others it takes.
func (b *builder) closeRoot() *rule {
	root := b.d.Root()
	if _, ok := root.Member("properties"); !ok || b.s.root.obj == nil || b.s.root.obj.partial {
		return nil
	}
	for key := range root.Members() {
		switch string(key) {
		case "additionalProperties", "patternProperties", "unevaluatedProperties", "propertyNames",
			"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "dependencies":
			return nil
		}
	}
	shut := *b.s.root
	obj := *shut.object()
	obj.closed = true
	shut.obj = &obj
	return &shut
}

// fail makes the error for the part of the schema at node i.
func (b *builder) fail(i uint32, format string, args ...any) error {
	return &SchemaError{Pointer: b.d.pointer(i), Message: text.Clip(fmt.Sprintf(format, args...), maxMessage)}
}

// steps gives the way from the root to node i. It is wanted only for errors, so it is searched anew instead of being kept.
func (d *Doc) steps(i uint32) []pathStep {
	var way []pathStep
	at := uint32(0)
	for at < i {
		step, value := pathStep{}, at+1
		if d.nodes[at].kind == Object {
			step.key, value = d.str(value), value+1
		}
		for i >= d.nodes[value].next {
			value = d.nodes[value].next
			step.index++
			if step.key != nil {
				step.key, value = d.str(value), value+1
			}
		}
		way = append(way, step)
		at = value // for a key, this is the value behind it: the loop ends
	}
	return way
}

// pointer gives the JSON pointer of node i.
func (d *Doc) pointer(i uint32) string {
	var p strings.Builder
	for _, s := range d.steps(i) {
		p.WriteByte('/')
		if s.key == nil {
			p.WriteString(strconv.Itoa(s.index))
		} else {
			p.WriteString(strings.ReplaceAll(strings.ReplaceAll(string(s.key), "~", "~0"), "/", "~1"))
		}
	}
	return p.String()
}
