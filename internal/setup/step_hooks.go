package setup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
)

// lookHooks finds the clients whose own tools can be judged and are not.
func (s *Setup) lookHooks(_ context.Context, b *book) (plan, error) {
	p := plan{yes: true}
	type open struct {
		client, file string
		hooks        []clientfiles.Hook
	}
	var list []open
	var titles []string
	have := 0
	for _, client := range Hookable() {
		if !s.Present(client) {
			continue
		}
		titles = append(titles, clientfiles.Title(client))
		file := s.HookFile(client, "")
		hooks, err := s.Hooks(client, s.Entry)
		if err != nil {
			return plan{}, err
		}
		content, err := fileText(file)
		if err == nil {
			_, err = s.where(file)
		}
		var after []byte
		if err == nil {
			after, err = clientfiles.AddHooks(client, content, hooks)
		}
		switch {
		case err != nil:
			p.warn = append(p.warn, fmt.Sprintf("%s: the own tools of %s stay unjudged: %v", file, clientfiles.Title(client), err))
		case string(after) == string(content):
			have++
		default:
			list = append(list, open{client, file, hooks})
			p.would = append(p.would, fmt.Sprintf("%s: %s", clientfiles.Title(client), file))
		}
	}
	if len(titles) > 0 {
		found := "These run commands and edit files with tools of their own: " + strings.Join(titles, ", ") + "."
		if have > 0 {
			found += fmt.Sprintf(" %d of %d ask Toolcrib first already.", have, len(titles))
		}
		p.found = append(p.found, found)
	}
	if others := s.unhooked(); len(others) > 0 {
		p.warn = append(p.warn, "no hooks are known for "+strings.Join(others, ", ")+": what they do with tools of their own goes round Toolcrib")
	}
	p.ask = fmt.Sprintf("Have %s ask Toolcrib before each command and edit?", counted(len(list), "client"))
	p.do = func(context.Context) (done, warn []string, err error) {
		var names []string
		for _, o := range list {
			_, err := b.change(s.Machine, o.file, []edit{{Kind: editHooks, Client: o.client}}, func(content []byte) ([]byte, error) {
				return clientfiles.AddHooks(o.client, content, o.hooks)
			})
			if err != nil {
				warn = append(warn, fmt.Sprintf("%s: %v", clientfiles.Title(o.client), err))
				continue
			}
			names = append(names, clientfiles.Title(o.client))
			if o.client == clientfiles.Codex {
				warn = append(warn, "Codex asks you at its next start whether you trust the new hooks; say yes, or they do nothing")
			}
		}
		if len(names) > 0 {
			done = append(done, strings.Join(names, ", ")+": commands that only read run unasked; for the others you are asked, or a rule says so.")
		}
		return done, warn, nil
	}
	return p, nil
}

// unhooked are the clients on this machine that have no hooks.
func (s *Setup) unhooked() (titles []string) {
	for _, client := range Connectable() {
		if s.Present(client) && !slices.Contains(Hookable(), client) && client != clientfiles.ClaudeDesktop && client != clientfiles.LMStudio {
			titles = append(titles, clientfiles.Title(client))
		}
	}
	return titles
}
