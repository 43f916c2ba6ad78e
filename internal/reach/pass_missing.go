package reach

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// Unpassed is a word of hub.pass_env whose variables are set here, and which servers do
// not get.
type Unpassed struct {
	Word     string
	Names    []string // of the variables
	Password bool     // one of them has a password in it
}

// proposedWords are the words that servers may need to start: the ones that clients give
// their servers, and that say where the network is. A display is none of them.
func proposedWords() []string { return []string{"proxy", "ca", "registry"} }

// Unpassed gives the words that are not passed, without variables that a server is given
// by its own settings.
func (p Pass) Unpassed(env func(string) (string, bool), given map[string]string) (out []Unpassed) {
	passed := p.Names(env)
	for _, word := range proposedWords() {
		u := Unpassed{Word: word, Password: len(Pass{word}.Passwords(env)) > 0}
		for _, name := range (Pass{word}).Names(env) {
			if _, own := given[name]; !own && !slices.Contains(passed, name) {
				u.Names = append(u.Names, name)
			}
		}
		if len(u.Names) > 0 {
			out = append(out, u)
		}
	}
	return out
}

// Missing says which variables of ours a server does not get that it may need to start,
// and the command that passes them. Empty: there are none.
func (l *Launcher) Missing(s mcphub.Server) string {
	var names, words []string
	for _, u := range l.Pass.Unpassed(l.Env, s.Env) {
		names, words = append(names, u.Names...), append(words, u.Word)
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("set here and not passed to servers: %s; 'toolcrib config set hub.pass_env \"[%s]\"' passes them", strings.Join(names, ", "), strings.Join(append(slices.Clone(l.Pass), words...), ", "))
}
