package clientfiles

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// text is one text of a server, and where it stands.
type text struct {
	where string
	text  string
	lines bool // it may be more than one line
}

// texts lists every text of a server that comes from a file.
func (s Server) texts() []text {
	list := []text{{where: "command", text: s.Command}, {where: "cwd", text: s.Cwd}, {where: "url", text: s.URL}}
	for i, a := range s.Args {
		list = append(list, text{fmt.Sprintf("args[%d]", i), a, true})
	}
	for _, k := range sortedKeys(s.Env) {
		list = append(list, text{"the name of a variable", k, false}, text{"env." + show(k), s.Env[k], true})
	}
	for _, k := range sortedKeys(s.Headers) {
		list = append(list, text{"the name of a header", k, false}, text{"headers." + show(k), s.Headers[k], false})
	}
	list = append(list, text{where: "oauth.client_id", text: s.OAuth.ClientID}, text{"oauth.client_secret", s.OAuth.ClientSecret, true},
		text{where: "oauth.issuer", text: s.OAuth.Issuer}, text{where: "oauth.redirect_url", text: s.OAuth.RedirectURL})
	for _, names := range [...][]string{s.EnabledTools, s.DisabledTools, s.Agents} {
		for _, n := range names {
			list = append(list, text{"the name of a tool or an agent", n, false})
		}
	}
	return list
}

// checkTexts refuses what steers a terminal, and what some readers of our own
// file would take for the end of a line. Arguments and values of variables may
// be scripts and keys of several lines, and nothing more than that.
func (s Server) checkTexts() error {
	for _, t := range s.texts() {
		if strings.ContainsFunc(t.text, func(r rune) bool {
			return (unicode.IsControl(r) || r == '\u2028' || r == '\u2029') && !(t.lines && (r == '\n' || r == '\t'))
		}) {
			return fmt.Errorf("%s has a character that cannot stand there", t.where)
		}
	}
	return nil
}

// SecretNames lists the secrets that a server refers to.
func SecretNames(s Server) []string {
	var names []string
	for _, t := range s.texts() {
		for _, p := range references(t.text) {
			name, ok := refSecret(p.text)
			if p.ref && ok && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
