package mcphub

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib"
)

// claims are what a server says about a tool by its annotations. Nil: nothing.
type claims struct {
	ReadOnly, Destructive, Idempotent, OpenWorld *bool
}

// claims reads them by their exact names, as clients do.
func (d definition) claims() (c claims) {
	var all map[string]json.RawMessage
	if json.Unmarshal(d.Annotations, &all) != nil {
		return claims{} // what cannot be read says nothing
	}
	for name, into := range map[string]**bool{"readOnlyHint": &c.ReadOnly, "destructiveHint": &c.Destructive, "idempotentHint": &c.Idempotent, "openWorldHint": &c.OpenWorld} {
		if value := all[name]; value != nil && json.Unmarshal(value, into) != nil {
			return claims{}
		}
	}
	return c
}

func yes(b *bool) bool { return b != nil && *b }
func no(b *bool) bool  { return b != nil && !*b }

// String says it in words; empty: nothing is said.
func (c claims) String() string {
	var words []string
	for _, w := range []struct {
		hint    *bool
		yes, no string
	}{
		{c.ReadOnly, "read-only", "changes things"}, {c.Destructive, "destructive", "destroys nothing"},
		{c.Idempotent, "idempotent", ""}, {c.OpenWorld, "reaches other machines", "stays on this machine"},
	} {
		switch {
		case yes(w.hint):
			words = append(words, w.yes)
		case no(w.hint) && w.no != "":
			words = append(words, w.no)
		}
	}
	return strings.Join(words, ", ")
}

// proposal is what a definition seems to be able to do: whatever any of
// annotations, name and arguments speaks for. What they do not tell is undeclared.
type proposal struct {
	effects toolcrib.Effects
	why     []string
	doubt   string // why a person has to look at it by itself: they contradict each other, or only the server speaks for it
}

func propose(d definition) proposal {
	var p proposal
	c := d.claims()
	add := func(e toolcrib.Effects, format string, args ...any) {
		if p.effects&e != e {
			p.effects |= e
			p.why = append(p.why, fmt.Sprintf(format, args...))
		}
	}
	verb, does := verbOf(d.Name)
	switch {
	case yes(c.ReadOnly):
		add(toolcrib.Reads, "it says that it is read-only")
	case yes(c.Destructive):
		add(toolcrib.Reads|toolcrib.Writes|toolcrib.Destroys, "it says that it is destructive")
	case no(c.ReadOnly):
		add(toolcrib.Reads|toolcrib.Writes, "it says that it changes things")
	}
	if verb != "" {
		p.effects |= toolcrib.Reads | does
		p.why = append(p.why, "its name says "+verb)
	}
	const changes = toolcrib.Writes | toolcrib.Destroys | toolcrib.Runs
	switch {
	case yes(c.ReadOnly) && does&changes != 0:
		p.doubt = fmt.Sprintf("it says that it is read-only, and its name says %s", verb)
	case yes(c.ReadOnly) && yes(c.Destructive):
		p.doubt = "it says that it is read-only, and that it is destructive"
		add(toolcrib.Writes|toolcrib.Destroys, "it says that it is destructive")
	case no(c.Destructive) && does&toolcrib.Destroys != 0:
		p.doubt = fmt.Sprintf("it says that it destroys nothing, and its name says %s", verb)
	case yes(c.ReadOnly) && verb == "":
		p.doubt = "only the server says that it is read-only: its name does not"
	}
	if at := strings.IndexFunc(d.Name, func(r rune) bool { return r > unicode.MaxASCII }); at >= 0 && p.doubt == "" {
		p.doubt = fmt.Sprintf("its name has letters that may look like others (%+q)", []rune(d.Name[at:])[0])
	}
	if p.effects == 0 {
		return p // nobody knows, and guessing would lower the guard
	}
	for _, name := range propertyNames(d.Input) {
		if e := argumentEffects(name); e != 0 {
			if p.doubt == "" && yes(c.ReadOnly) && e&changes != 0 {
				p.doubt = fmt.Sprintf("it says that it is read-only, and its argument %s takes whatever one likes", name)
			}
			add(e, "it takes %s", name)
		}
	}
	if !no(c.OpenWorld) {
		add(toolcrib.Network, "not said to stay on this machine")
	}
	return p
}

// propertyNames are the names of a tool's arguments, in order, also of those that
// are in a part of the schema.
func propertyNames(input json.RawMessage) []string {
	var schema any
	if json.Unmarshal(input, &schema) != nil {
		return nil
	}
	var names []string
	var walk func(part any)
	walk = func(part any) {
		switch part := part.(type) {
		case []any:
			for _, one := range part {
				walk(one)
			}
		case map[string]any:
			properties, _ := part["properties"].(map[string]any)
			names = slices.AppendSeq(names, maps.Keys(properties))
			for _, key := range []string{"allOf", "anyOf", "oneOf", "if", "then", "else"} {
				walk(part[key])
			}
		}
	}
	walk(schema)
	slices.Sort(names)
	return slices.Compact(names)
}

// argumentEffects is what an argument of this name lets a caller do.
func argumentEffects(name string) toolcrib.Effects {
	var all toolcrib.Effects
	for _, word := range nameWords(name) {
		switch word {
		case "command", "cmd", "script", "code", "shell":
			all |= toolcrib.Writes | toolcrib.Destroys | toolcrib.Runs
		case "sql", "statement", "statements":
			all |= toolcrib.Writes | toolcrib.Destroys
		case "url", "urls", "uri", "host", "hostname", "endpoint", "webhook":
			all |= toolcrib.Network
		case "password", "passphrase", "token", "secret", "apikey", "credentials":
			all |= toolcrib.UsesSecrets
		}
	}
	return all
}
