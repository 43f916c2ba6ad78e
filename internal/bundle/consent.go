package bundle

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// Consent is what a person says yes to: what a package adds to a machine, and at an
// update what is different. Each is a sentence, with commands in full.
type Consent struct {
	Adds    []string `json:"adds,omitempty"`
	Changes []string `json:"changes,omitempty"`
	Removes []string `json:"removes,omitempty"`
	// Runs says that something new or changed is started, or sent somewhere: then an
	// earlier yes does not count.
	Runs bool `json:"runs,omitempty"`
}

// Empty: there is nothing to say yes to.
func (c Consent) Empty() bool { return len(c.Adds)+len(c.Changes)+len(c.Removes) == 0 }

// Difference says what a package brings that another one did not, under the names that
// people write. Before nil: everything.
func Difference(before, now *Package) Consent {
	var c Consent
	old := &Package{}
	if before != nil {
		old = before
	}
	compare(&c, "skill", old.Skills, now.Skills, func(s Skill) (string, string) { return s.Name, sayTools(s.AllowedTools) })
	runs := compare(&c, "server", old.Servers, now.Servers, func(s Server) (string, string) { return PartName(now.Name, s.Name), sayServer(s) })
	compare(&c, "agent", old.Agents, now.Agents, func(a Agent) (string, string) { return PartName(now.Name, a.Name), sayTools(a.Tools) })
	compare(&c, "memory template", old.Memory, now.Memory, func(m Memory) (string, string) { return m.Name, "" })
	compare(&c, "asks for", old.Asks, now.Asks, func(a Ask) (string, string) { return a.Name, sayAsk(a) })
	compare(&c, "part that is not run here,", old.Inert, now.Inert, func(i Inert) (string, string) { return i.Kind + " (" + i.Path + ")", "" })
	c.Runs = runs
	return c
}

// compare tells what differs between two lists, by name and by what is said of each. It
// reports whether something came or changed.
func compare[P any](c *Consent, kind string, before, now []P, say func(P) (name, more string)) (news bool) {
	was := map[string]string{}
	for _, p := range before {
		name, more := say(p)
		was[name] = more
	}
	sentence := func(name, more string) string {
		if more != "" {
			return fmt.Sprintf("%s %s: %s", kind, text.ShowLine(name), more)
		}
		return fmt.Sprintf("%s %s", kind, text.ShowLine(name))
	}
	there := map[string]bool{}
	for _, p := range now {
		name, more := say(p)
		there[name] = true
		switch old, known := was[name]; {
		case !known:
			c.Adds, news = append(c.Adds, sentence(name, more)), true
		case old != more:
			c.Changes, news = append(c.Changes, sentence(name, more)+"; before: "+cmp.Or(old, "nothing of the kind")), true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if !there[name] {
			c.Removes = append(c.Removes, sentence(name, ""))
		}
	}
	return news
}

func sayTools(tools []string) string {
	if len(tools) == 0 {
		return ""
	}
	return "expects the tools " + text.ShowLine(strings.Join(tools, ", ")) + ", which it does not allow"
}

// sayServer tells what is started or spoken to, in full: what is cut off is where the
// bad part stands.
func sayServer(s Server) string {
	var said []string
	if s.Command != "" {
		words := []string{quoted(s.Command)}
		for _, a := range s.Args {
			words = append(words, quoted(a))
		}
		said = append(said, "starts "+strings.Join(words, " "))
	} else {
		host := s.URL
		if u, err := url.Parse(s.URL); err == nil {
			host = u.Host
		}
		said = append(said, "speaks to "+exact(host)+" ("+exact(s.URL)+")")
	}
	if s.Dir != "" {
		said = append(said, "in "+exact(s.Dir))
	}
	for _, key := range slices.Sorted(maps.Keys(s.Env)) {
		said = append(said, "with "+key+"="+quoted(s.Env[key]))
	}
	for _, key := range slices.Sorted(maps.Keys(s.Headers)) {
		said = append(said, "with the header "+key+"="+quoted(s.Headers[key]))
	}
	if s.Fetches != "" {
		what := "fetches " + exact(s.Fetches) + " when it starts"
		if s.Floating {
			what += ", which may be another thing tomorrow"
		}
		said = append(said, what)
	}
	return strings.Join(said, ", ")
}

// quoted is a word as it can be told from its neighbours, and from one that looks like it.
func quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return strings.ContainsRune(" \t\"'`|;&<>\\,", r) || text.Invisible(r) || text.Blank(r)
	}) {
		return text.ShowExact(word)
	}
	return "'" + strings.ReplaceAll(exact(word), "'", `'\''`) + "'"
}

// exact is a text with all that cannot be seen written out.
func exact(s string) string { return text.CountBlanks(text.ShowLine(text.ShowExact(s))) }

func sayAsk(a Ask) string {
	var said []string
	if a.Secret {
		said = append(said, "a secret, kept in the vault")
	}
	if a.Required {
		said = append(said, "needed")
	}
	if a.Many {
		said = append(said, "one or several with commas between")
	}
	if a.Description != "" {
		said = append(said, text.ShowLine(a.Description))
	}
	if a.Default != "" {
		said = append(said, "else "+quoted(a.Default))
	}
	return strings.Join(said, ", ")
}
