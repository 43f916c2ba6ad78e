package mcphub

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// claims are what a server says about a tool by its annotations. Nil: nothing.
type claims struct {
	ReadOnly    *bool `json:"readOnlyHint"`
	Destructive *bool `json:"destructiveHint"`
	Idempotent  *bool `json:"idempotentHint"`
	OpenWorld   *bool `json:"openWorldHint"`
}

func (d definition) claims() (c claims) {
	if json.Unmarshal(d.Annotations, &c) != nil {
		return claims{} // what cannot be read says nothing
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
	doubt   string // they contradict each other
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

// verbOf finds the word of a tool's name that says what it does, and what that is.
// The first one counts, since later ones are often nouns (get_comment, list_run), but
// for words that mean one thing only: get_and_delete deletes, and so does list_delete.
func verbOf(name string) (verb string, does toolcrib.Effects) {
	table := verbs()
	for _, word := range nameWords(name) {
		e, known := table[word]
		if known && (verb == "" || e > does && slices.Contains(plainVerbs(), word)) {
			verb, does = word, e
		}
	}
	return verb, does
}

func plainVerbs() []string {
	return []string{"delete", "remove", "destroy", "purge", "erase", "wipe", "truncate", "overwrite", "execute", "exec", "uninstall", "revoke", "create", "update", "send", "write", "replace"}
}

// verbs are what people call what a tool does. A verb that means several things
// counts as the worst of them.
func verbs() map[string]toolcrib.Effects {
	all := map[string]toolcrib.Effects{}
	for e, list := range map[toolcrib.Effects]string{
		toolcrib.Reads: "get list search read find fetch show view describe count check lookup browse inspect status info retrieve resolve scan diff query compare " +
			"stat stats summarize analyze validate verify preview suggest recommend monitor whoami ping help explain",
		toolcrib.Writes: "create update add set put edit write insert append upsert modify change rename move copy upload save store assign comment post publish reply " +
			"send submit enable disable merge commit push fork invite share subscribe close open reopen toggle mark label tag schedule book register import sync restore " +
			"transition link apply patch make generate start stop restart pause resume approve reject accept forward draft duplicate pin unpin react respond " +
			"fill click type press drag hover navigate upgrade scale deploy download extract compress checkout stage login logout",
		toolcrib.Writes | toolcrib.Destroys: "delete remove drop destroy purge erase wipe truncate clear terminate uninstall revoke cancel reset overwrite flush prune evict " +
			"unlink trash rollback rebase discard cleanup replace archive detach unsubscribe",
		toolcrib.Writes | toolcrib.Destroys | toolcrib.Runs: "run exec execute eval evaluate shell command terminal bash spawn invoke install kill script",
	} {
		for word := range strings.FieldsSeq(list) {
			all[word] = e
		}
	}
	return all
}

// propertyNames are the names of a tool's arguments, in order.
func propertyNames(input json.RawMessage) []string {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(input, &schema) != nil {
		return nil
	}
	names := make([]string, 0, len(schema.Properties))
	for name := range schema.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
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
