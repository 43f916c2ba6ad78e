package setup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
)

// rule is one rule of a client, as ours.
type rule struct {
	decision, text, file string
}

// ruleFiles are where clients keep what they may do unasked, and what not.
func (s *Setup) ruleFiles() (files []string) {
	env := s.env()
	or := func(variable, dir string) string {
		if v := env(variable); v != "" {
			return v
		}
		return filepath.Join(s.Home, dir)
	}
	in := func(dir, ending string) {
		entries, err := plainfile.ReadDir(dir)
		if err != nil {
			return
		}
		for _, e := range entries {
			if filepath.Ext(e.Name()) == ending {
				files = append(files, filepath.Join(dir, e.Name()))
			}
		}
	}
	files = append(files, filepath.Join(or("CLAUDE_CONFIG_DIR", ".claude"), "settings.json"))
	in(filepath.Join(or("CODEX_HOME", ".codex"), "rules"), ".rules")
	in(filepath.Join(s.Home, ".gemini", "policies"), ".toml")
	for _, name := range []string{"opencode.json", "opencode.jsonc"} {
		files = append(files, filepath.Join(or("XDG_CONFIG_HOME", ".config"), "opencode", name))
	}
	return slices.DeleteFunc(files, func(file string) bool {
		_, err := os.Stat(file)
		return err != nil
	})
}

// clientRules reads the rules of all clients that are not in the settings yet.
func (s *Setup) clientRules() (rules []rule, warn []string, err error) {
	have, err := fileText(s.Settings)
	if err != nil {
		return nil, nil, err
	}
	for _, file := range s.ruleFiles() {
		content, err := fileText(file)
		if err != nil {
			warn = append(warn, fmt.Sprintf("%s is not read: %v", file, err))
			continue
		}
		got, err := settings.RulesOf("", filepath.Base(file))(content)
		if err != nil {
			warn = append(warn, fmt.Sprintf("%s is not read: %v", file, err))
			continue
		}
		for _, of := range []struct {
			decision string
			list     []string
		}{{"deny", got.Permissions.Deny}, {"ask", got.Permissions.Ask}, {"allow", got.Permissions.Allow}} {
			for _, r := range of.list {
				_, there, err := config.HasItem(have, []string{"permissions", of.decision}, r)
				if err != nil {
					return nil, warn, err
				}
				if !there && !slices.ContainsFunc(rules, func(o rule) bool { return o.decision == of.decision && o.text == r }) {
					rules = append(rules, rule{of.decision, r, file})
				}
			}
		}
		left := slices.ContainsFunc(got.Left, func(l policy.Left) bool { return !l.Aside })
		if left || len(got.Permissions.Rules) > 0 {
			warn = append(warn, "not everything there can be taken over; what is left: toolcrib policy import "+text.ShellWord(file))
		}
	}
	return rules, warn, nil
}

// lookRules proposes what tightens.
func (s *Setup) lookRules(_ context.Context, b *book) (plan, error) {
	return s.lookDecisions(b, true, "deny", "ask")
}

// lookAllow proposes what widens, which nobody takes over unasked.
func (s *Setup) lookAllow(_ context.Context, b *book) (plan, error) {
	return s.lookDecisions(b, false, "allow")
}

func (s *Setup) lookDecisions(b *book, yes bool, decisions ...string) (plan, error) {
	all, warn, err := s.clientRules()
	if err != nil {
		return plan{}, err
	}
	list := slices.DeleteFunc(all, func(r rule) bool { return !slices.Contains(decisions, r.decision) })
	p := plan{yes: yes}
	if yes { // it is said once
		p.warn = warn
	}
	if len(list) == 0 {
		return p, nil
	}
	p.found = append(p.found, fmt.Sprintf("%s in the permissions of your clients.", counted(len(list), "rule")))
	for _, r := range list {
		p.would = append(p.would, fmt.Sprintf("%s: %s", r.decision, text.ShowLine(r.text)))
	}
	p.ask = fmt.Sprintf("Write %s to your settings?", map[bool]string{false: "it", true: "them"}[len(list) > 1])
	p.do = func(context.Context) (done, warn []string, err error) {
		var edits []edit
		for _, r := range list {
			edits = append(edits, edit{Kind: editRule, Path: []string{"permissions", r.decision}, Text: r.text})
		}
		_, err = b.change(s.anywhere(), s.Settings, edits, func(content []byte) ([]byte, error) {
			for _, r := range list {
				next, _, err := config.AddItem(content, []string{"permissions", r.decision}, r.text)
				if err != nil {
					return nil, err
				}
				content = next
			}
			return content, nil
		})
		if err != nil {
			return nil, nil, err
		}
		return []string{fmt.Sprintf("%s in %s.", counted(len(list), "rule"), s.Settings)}, nil, nil
	}
	return p, nil
}

// lookService offers to have Toolcrib's server started at log-in.
func (s *Setup) lookService(_ context.Context, b *book) (plan, error) {
	if s.Service.What == "" || s.Service.There {
		return plan{}, nil
	}
	return plan{
		found: []string{"Your clients start Toolcrib by themselves. A server that is always there is for other machines, the web and voice assistants."},
		would: []string{s.Service.What},
		ask:   "Have it started at every log-in?",
		do: func(ctx context.Context) (done, warn []string, err error) {
			b.Service = true
			if err := b.save(); err != nil {
				return nil, nil, err
			}
			b.reached("service")
			if warn, err = s.Service.Install(ctx); err != nil {
				return nil, warn, err
			}
			return []string{"'toolcrib service status' says how it is."}, warn, nil
		},
	}, nil
}
