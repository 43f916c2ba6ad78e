package mcphub

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/pinned"
)

// definition is a tool as its server defines it.
type definition struct {
	Name        string
	Title       string
	Description string
	Input       json.RawMessage
	Output      json.RawMessage
	Annotations json.RawMessage

	raw    json.RawMessage // all of it
	sum    string          // the fingerprint of all of it, before anything was hidden
	old    string          // the one that pins had before there was a key; empty: not known
	at     int             // in the list
	unseen string          // what a person does not see of it; empty: nothing

	confirmed *confirmed // what a person says about it; nil: nothing
}

// members are those of a definition that the protocol names.
func members() []string {
	return []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons", "execution", "_meta"}
}

// define reads a definition. Two readers must not see two things in one text:
// members are taken by their exact names, one that is there twice or only looks
// like a known one is refused, and the fingerprint is of everything that is said.
func define(text json.RawMessage) (definition, error) {
	d := definition{raw: text}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return d, err
	}
	if all == nil {
		return d, errors.New("it is no object")
	}
	_ = json.Unmarshal(all["name"], &d.Name) // it is read again below; errors are told by it
	for key := range all {
		for _, known := range members() {
			if key != known && strings.EqualFold(key, known) {
				return d, fmt.Errorf("its member %q is written otherwise than %q", key, known)
			}
		}
	}
	for key, into := range map[string]*string{"name": &d.Name, "title": &d.Title, "description": &d.Description} {
		if value := all[key]; value != nil {
			if err := json.Unmarshal(value, into); err != nil {
				return d, fmt.Errorf("its %s: %w", key, err)
			}
		}
	}
	d.Input, d.Output, d.Annotations = all["inputSchema"], all["outputSchema"], all["annotations"]
	if !utf8.Valid(text) {
		return d, errors.New("it has letters that are none")
	}
	var err error
	if d.unseen, err = pinned.Unseen(text); err != nil {
		return d, err
	}
	plain, err := pinned.Canonical(text)
	d.sum = pinned.Sum(plain)
	return d, err
}

// read takes the definitions of tools apart. One that cannot be read is left
// out, and so is the second of a name.
func read(list []json.RawMessage, box string) (defs []definition, faults []toolcrib.LoadError) {
	seen := map[string]bool{}
	for i, text := range list {
		d, err := define(text)
		name := d.Name
		if name == "" || len(name) > 256 {
			name = fmt.Sprintf("number %d", i+1)
		}
		fault := func(err error) { faults = append(faults, toolcrib.LoadError{Box: box, Tool: name, Err: err}) }
		switch {
		case err != nil:
			fault(fmt.Errorf("its definition cannot be read: %w", err))
		case d.Name == "" || len(d.Name) > 256:
			fault(errors.New("it has no name, or an endless one"))
		case ownName(d.Name), d.Name == InstructionsName:
			fault(errors.New("its name is that of a tool which Toolcrib adds to a server"))
		case seen[d.Name]:
			fault(errors.New("the server has another tool of this name"))
		default:
			seen[d.Name], d.at = true, i
			defs = append(defs, d)
		}
	}
	return defs, faults
}
