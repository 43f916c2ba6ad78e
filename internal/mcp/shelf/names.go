package shelf

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp/server"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// What a server calls a prompt or a resource is what clients call it too, as long
// as no other server that they may use has the same. Then each of them has its
// server's name in front, as tools have, so that a name never means one server
// today and another tomorrow. The long name is always understood.

// kind is one kind of thing that servers offer besides tools.
type kind struct {
	word   string // for messages
	key    string // the member that names it
	reader string // the tool that reads it
	of     func(mcphub.Listing) []json.RawMessage
}

func promptKind() kind {
	return kind{"prompt", "name", mcphub.PromptTool, func(l mcphub.Listing) []json.RawMessage { return l.Prompts }}
}

func resourceKind() kind {
	return kind{"resource", "uri", mcphub.ReadTool, func(l mcphub.Listing) []json.RawMessage { return l.Resources }}
}

func templateKind() kind {
	return kind{"resource template", "uriTemplate", mcphub.ReadTool, func(l mcphub.Listing) []json.RawMessage { return l.Templates }}
}

// addressPrefix begins the addresses of resources with a server's name in front. No
// resource has such an address by itself.
const addressPrefix = "toolcrib:///"

// long is the name with that of the server in front.
func (k kind) long(box, name string) string {
	if k.key == "name" {
		return box + "__" + name
	}
	return addressPrefix + box + "/" + name
}

// split takes the long name of something of a known server apart. A name of a
// server has no __ and no / in it, but may end in _.
func (k kind) split(name string, known func(box string) bool) (box, own string, ok bool) {
	if k.key != "name" {
		rest, is := strings.CutPrefix(name, addressPrefix)
		box, own, ok = strings.Cut(rest, "/")
		return box, own, is && ok && own != "" && known(box)
	}
	box, own, ok = strings.Cut(name, "__")
	if ok && !known(box) && strings.HasPrefix(own, "_") {
		box, own = box+"_", own[1:]
	}
	return box, own, ok && own != "" && known(box)
}

// items gives what servers offer as clients see it. Taken are names of ours.
func (v view) items(k kind, taken func(name string) bool) []server.Item {
	all := v.list(k)
	owners := map[string]int{}
	for _, o := range all {
		owners[o.name]++
	}
	out := make([]server.Item, 0, len(all))
	for _, o := range all {
		item := server.Item{Definition: o.text, Name: o.name}
		templated := k.key == "uri" && slices.ContainsFunc(v.templated(o.name), func(box string) bool { return box != o.box })
		if owners[o.name] > 1 || taken(o.name) || templated || k.meansOther(all, o) {
			item.Name = k.long(o.box, o.name)
			item.Definition = renamed(o.text, k.key, item.Name)
		}
		out = append(out, item)
	}
	return out
}

// templated are the servers one of whose templates an address fits. It may be theirs,
// although another server lists it.
func (v view) templated(uri string) []string {
	return slices.DeleteFunc(slices.Clone(v.boxes), func(box string) bool {
		return mcphub.Listing{Templates: v.lists[box].Templates}.Reads(uri) == 0
	})
}

// meansOther reports whether a name would be taken for the long name of something
// else.
func (k kind) meansOther(all []offered, o offered) bool {
	from := func(box string) bool { return slices.ContainsFunc(all, func(o offered) bool { return o.box == box }) }
	box, own, ok := k.split(o.name, from)
	return ok && (k.key != "name" || slices.ContainsFunc(all, func(o offered) bool { return o.box == box && o.name == own }))
}

// renamed is a definition with another name; the rest of it stays.
func renamed(text json.RawMessage, key, name string) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(text, &all) != nil || all == nil {
		return text
	}
	value, err := json.Marshal(name)
	if err != nil {
		return text
	}
	all[key] = value
	out, err := json.Marshal(all)
	if err != nil {
		return text
	}
	return out
}

// find gives the server that has a thing, and what that server calls it; an empty
// box: nobody has it. Sure: no list that is not known yet is needed to say so.
func (v view) find(k kind, name string) (box, own string, sure bool, _ error) {
	listed := v.list(k)
	long, rest, split := k.split(name, func(box string) bool { return slices.Contains(v.boxes, box) })
	if split && (k.key != "name" || slices.ContainsFunc(listed, func(o offered) bool { return o.box == long && o.name == rest })) {
		return long, rest, true, nil
	}
	var owners []string
	for _, o := range listed {
		if o.name == name {
			owners = append(owners, o.box)
		}
	}
	if k.key == "uri" { // a template may have it, too
		owners = append(owners, slices.DeleteFunc(v.templated(name), func(box string) bool { return slices.Contains(owners, box) })...)
	}
	switch {
	case len(owners) > 1:
		var names []string
		for _, o := range owners {
			names = append(names, k.long(o, name))
		}
		return "", "", false, &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: fmt.Sprintf("several servers have this %s: ask for one of %s", k.word, strings.Join(names, ", "))}
	case len(owners) == 1:
		return owners[0], name, true, nil
	case split:
		return long, rest, false, nil
	case len(v.boxes) == 1: // it will say itself that it does not have it
		return v.boxes[0], name, true, nil
	}
	return "", "", false, nil
}

// referred is what a reference in a request for completions names.
func referred(ref json.RawMessage) (kind, string) {
	if name := member(ref, "name"); name != "" {
		return promptKind(), name
	}
	return resourceKind(), member(ref, "uri") // an address, or the template of one
}

// completes finds who completes an argument, and gives the reference as that server
// knows it. Sure is that of find.
func (v view) completes(ref json.RawMessage) (box string, own json.RawMessage, sure bool, _ error) {
	k, name := referred(ref)
	key := k.key
	if key == "uri" && slices.ContainsFunc(v.list(templateKind()), func(o offered) bool { return o.name == name }) {
		k = templateKind()
	}
	box, theirs, sure, err := v.find(k, name)
	if err != nil || box == "" || theirs == name {
		return box, ref, sure, err
	}
	return box, renamed(ref, key, theirs), sure, nil
}
