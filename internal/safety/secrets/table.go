package secrets

import (
	_ "embed" // the two tables
	"fmt"
	"strings"
)

//go:embed forms.txt
var formTable string

//go:embed providers.txt
var providerTable string

// provider is a name that keys of some forms stand beside.
type provider struct {
	name   string
	rule   string
	common bool // it does not tell enough without a word such as key
	forms  []*form
}

// readForms reads the table of forms.
func readForms(table string) ([]*form, error) {
	var all []*form
	sets := classes()
	for line := range strings.Lines(table) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		rule, text, ok := strings.Cut(line, " ")
		if !ok {
			return nil, fmt.Errorf("forms of keys: %q has no form", line)
		}
		text, fold := strings.CutPrefix(text, "!")
		for _, one := range choices(text) {
			f, err := parseForm(rule, one, sets)
			if err != nil {
				return nil, err
			}
			if f.anchor < 0 || len(f.pieces[f.anchor].text) < 2 {
				return nil, fmt.Errorf("form %s: %q has nothing that it begins with", rule, one)
			}
			f.fold = fold
			all = append(all, f)
		}
	}
	return all, nil
}

// readProviders reads the table of providers.
func readProviders(table string) ([]*provider, error) {
	var all []*provider
	byName := map[string]*provider{}
	sets := classes()
	var f *form
	for line := range strings.Lines(table) {
		if line[0] == '#' || strings.TrimSpace(line) == "" {
			continue
		}
		names := strings.Fields(line)
		if line[0] != ' ' {
			var err error
			if f, err = parseForm("provider-key", names[0], sets); err != nil {
				return nil, err
			}
			f.anchor = -1
			names = names[1:]
		}
		if f == nil {
			return nil, fmt.Errorf("providers: %q belongs to no form", line)
		}
		for _, name := range names {
			name, common := strings.CutSuffix(name, "?")
			p := byName[name]
			if p == nil {
				p = &provider{name: name, rule: name + "-key"}
				byName[name] = p
				all = append(all, p)
			}
			p.common = p.common || common
			p.forms = append(p.forms, f)
		}
	}
	return all, nil
}
