package setup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// Variables are variables of this process that the servers of clients get from their
// clients, and through Toolcrib only if hub.pass_env has the word for them.
type Variables struct {
	Word     string
	Names    []string
	Password bool // one of them has a password in it
}

// lookVariables proposes proxies, certificates and registries that servers do not get yet.
func (s *Setup) lookVariables(_ context.Context, b *book) (plan, error) {
	return s.lookPassed(b, false)
}

// lookPasswords proposes those with a password in them: every server would see it, so
// only a person can agree.
func (s *Setup) lookPasswords(_ context.Context, b *book) (plan, error) {
	return s.lookPassed(b, true)
}

func (s *Setup) lookPassed(b *book, password bool) (plan, error) {
	there, err := s.Servers()
	if err != nil {
		return plan{}, err
	}
	programs := len(s.soon)
	for _, server := range there {
		if server.Command != "" && !server.Disabled {
			programs++
		}
	}
	all, err := s.Unpassed()
	list := slices.DeleteFunc(all, func(v Variables) bool { return v.Password != password })
	if err != nil || programs == 0 || len(list) == 0 {
		return plan{}, err
	}
	p := plan{yes: !password, ask: "Pass them to all servers that Toolcrib starts?"}
	p.found = append(p.found, "These variables are set here. Servers may need them to reach the network, and get them from Toolcrib only if hub.pass_env names them.")
	if password {
		p.found[0] += " They contain a password that every server could read. Toolcrib hides it in the output of servers."
	}
	for _, v := range list {
		p.would = append(p.would, fmt.Sprintf("%s: %s", v.Word, strings.Join(v.Names, ", ")))
	}
	p.do = func(context.Context) (done, warn []string, err error) {
		var edits []edit
		var words []string
		for _, v := range list {
			edits = append(edits, edit{Kind: editRule, Path: passEnv(), Text: v.Word})
			words = append(words, v.Word)
		}
		_, err = b.change(s.anywhere(), s.Settings, edits, func(content []byte) ([]byte, error) {
			return addWords(content, words)
		})
		if err != nil {
			return nil, nil, err
		}
		return []string{fmt.Sprintf("Servers get the variables of %s (hub.pass_env).", strings.Join(words, ", "))}, nil, nil
	}
	return p, nil
}

// addWords adds words to the list. A new one is written on one line: 'toolcrib config set'
// can change that later.
func addWords(content []byte, words []string) ([]byte, error) {
	_, there, err := config.Entry(content, passEnv()[0], passEnv()[1])
	if err != nil {
		return nil, err
	}
	if !there {
		return config.SetValue[settings.Config](content, strings.Join(passEnv(), "."), "["+strings.Join(words, ", ")+"]")
	}
	for _, word := range words {
		if content, _, err = config.AddItem(content, passEnv(), word); err != nil {
			return nil, err
		}
	}
	return content, nil
}

// passEnv is the setting that names the variables.
func passEnv() []string { return []string{"hub", "pass_env"} }
