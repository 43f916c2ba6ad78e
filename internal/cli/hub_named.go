package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/market"
	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/setup"
	"github.com/toolcrib/toolcrib/internal/text"
)

// namedServer is how a server of a registry is taken.
type namedServer struct {
	as           string // what it is called here; empty: the last part of its name
	values       []string
	env, headers []string
	yes          bool
	place        map[string]any // where it runs
}

// flags are those that every command has which takes a server by its name.
func (n *namedServer) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&n.as, "as", "", "of a server of a registry: what it is called here")
	cmd.Flags().StringArrayVar(&n.values, "value", nil, "of a server of a registry: what it asks for, NAME=VALUE, NAME=secret:SECRET or NAME=env:VARIABLE; secrets go to the vault")
	cmd.Flags().BoolVarP(&n.yes, "yes", "y", false, "take what is shown without being asked")
}

// hubAddNamed adds a server that a registry knows. The command that will run is shown
// whole, and a person says yes to it.
func (c *command) hubAddNamed(ctx context.Context, r *market.Result, take namedServer) error {
	switch {
	case r.Kind != market.Server:
		return usagef("%s is no server but a %s: 'toolcrib market install' takes it", r.Name, r.Kind)
	case r.Server == nil && r.Source != "":
		return usagef("%s comes as a bundle: 'toolcrib market install %s' takes it", r.Name, text.ShellWord(r.Name))
	case r.Server == nil:
		return failed{fmt.Errorf("%s cannot be used here: %s", r.Name, strings.Join(r.Notes, "; "))}
	case r.Server.SSE:
		return failed{fmt.Errorf("%s speaks only the older transport (SSE), which is not supported", r.Name)}
	}
	name := take.as
	if name == "" {
		name = setup.Naming{Check: app.CheckServerName}.NameFor(r.Name[strings.LastIndexByte(r.Name, '/')+1:])
	}
	s := r.Server
	server := clientfiles.Server{Name: name, Command: s.Command, Args: slices.Clone(s.Args), URL: s.URL, Env: maps.Clone(s.Env), Headers: maps.Clone(s.Headers)}
	given, err := pairsOf("value", take.values)
	if err != nil {
		return err
	}
	env, err := pairsOf("env", take.env)
	if err != nil {
		return err
	}
	headers, err := pairsOf("header", take.headers)
	if err != nil {
		return err
	}
	for _, more := range []map[string]string{env, headers} { // what asks for a variable is named by it
		for key, value := range more {
			if asked := slices.ContainsFunc(r.Asks, func(a market.Ask) bool { return a.Name == key }); asked {
				given[key] = value
			}
		}
	}
	fillServer(&server, defaultsOf(r.Asks, given))
	if err := noReferences(server); err != nil {
		return failed{fmt.Errorf("%s: %w", r.Name, err)}
	}
	said := clientfiles.Server{Env: maps.Clone(server.Env), Headers: maps.Clone(server.Headers)} // by the registry, and nothing of the person's
	answers, secrets, err := c.answers(ctx, name, r.Asks, given)
	if err != nil {
		return err
	}
	fillServer(&server, answers)
	server.Env, server.Headers = joined(server.Env, env, answers), joined(server.Headers, headers, answers)
	w := c.beside()
	showResult(w, r)
	fmt.Fprintf(w, "It would be added as %s", name)
	if server.Command != "" {
		fmt.Fprintf(w, " and run: %s", quotedAll(append([]string{server.Command}, server.Args...)))
	} else {
		fmt.Fprintf(w, " and reached at %s", quoted(server.URL))
	}
	fmt.Fprintln(w)
	showPairs(w, "with", said.Env)
	showPairs(w, "with header", said.Headers)
	for _, f := range secrets {
		fmt.Fprintf(w, "%s goes to the vault, as %s.\n", f.Where, f.Name)
	}
	if !take.yes {
		if ok, err := c.confirm("Add it?"); err != nil || !ok {
			return err
		}
	}
	undo, err := c.keepSecrets(ctx, secrets)
	if err != nil {
		return err
	}
	before := c.hasServer(name)
	if err := c.hubAdd(ctx, server, take.place); err != nil {
		if !before && c.hasServer(name) { // it is added, and does not work yet
			return err
		}
		return errors.Join(err, undo())
	}
	return nil
}

func (c *command) hasServer(name string) bool {
	loaded, _, err := c.load()
	if err != nil {
		return false
	}
	_, there := loaded.Value.MCPServers[name]
	return there
}

// joined adds what a person wrote, unless it was the answer to a question.
func joined(to, more, answers map[string]string) map[string]string {
	for key, value := range more {
		if _, answered := answers[key]; answered {
			continue
		}
		if to == nil {
			to = map[string]string{}
		}
		to[key] = value
	}
	return to
}

// defaultsOf is what a registry says itself, of what nobody gave and nobody has to give.
func defaultsOf(asks []market.Ask, given map[string]string) map[string]string {
	out := map[string]string{}
	for _, a := range asks {
		if _, ok := given[a.Name]; !ok && (!a.Required || a.Default != "") {
			out[a.Name] = a.Default
		}
	}
	return out
}

// noReferences refuses a server whose own texts would stand for a secret or a variable of
// the person's once they are in the settings. What is still asked for is the person's.
func noReferences(s clientfiles.Server) error {
	texts := slices.Concat([]string{s.Command, s.URL}, s.Args, slices.Collect(maps.Values(s.Env)), slices.Collect(maps.Values(s.Headers)))
	for _, text := range texts {
		if strings.Contains(strings.ReplaceAll(text, "${ask:", ""), "${") {
			return errors.New("its texts would refer to a secret or a variable of yours; nothing was added")
		}
	}
	return nil
}

// answers is what a person gives for what a server asks for: on the command line, or typed.
// Secrets become references to the vault.
func (c *command) answers(ctx context.Context, server string, asks []market.Ask, given map[string]string) (answers map[string]string, secrets []clientfiles.Found, err error) {
	answers = map[string]string{}
	for _, a := range asks {
		value, ok := given[a.Name]
		switch {
		case ok:
		case a.Required && a.Default == "":
			if value, err = c.typed(ctx, a); err != nil {
				return nil, nil, err
			}
		default:
			continue
		}
		if name, kept := strings.CutPrefix(value, "secret:"); kept { // the vault has it already
			value = "${secret:" + name + "}"
		}
		if variable, named := strings.CutPrefix(value, "env:"); named {
			if value, _ = c.lookupEnv(variable); value == "" {
				return nil, nil, usagef("--value %s: that variable is not set", a.Name)
			}
		}
		if value != "" && a.Secret && !strings.HasPrefix(value, "${secret:") {
			name := strings.ToLower(server + "-" + a.Name)
			secrets = append(secrets, clientfiles.Found{Name: name, Value: value, Where: a.Name})
			value = "${secret:" + name + "}"
		}
		answers[a.Name] = value
	}
	return answers, secrets, nil
}

// typed asks a person, who sees no secret while it is typed.
func (c *command) typed(ctx context.Context, a market.Ask) (string, error) {
	in, ok := c.in.(*os.File)
	if !ok || !isTerminal(in) {
		return "", usagef("it needs %s: give it with --value %s=VALUE", a.Name, a.Name)
	}
	value, err := c.hidden(ctx, in, c.err, fmt.Sprintf("Value of %s, which is not shown: ", a.Name))
	if err == nil && value == "" {
		err = usagef("it needs %s", a.Name)
	}
	return value, err
}

// fillServer puts answers in place of questions. What was left open and nobody needs goes.
func fillServer(s *clientfiles.Server, answers map[string]string) {
	var pairs []string
	for name, value := range answers {
		pairs = append(pairs, "${ask:"+name+"}", value)
	}
	fill := strings.NewReplacer(pairs...)
	open := func(text string) bool {
		for name, value := range answers {
			if value == "" && strings.Contains(text, "${ask:"+name+"}") {
				return true
			}
		}
		return false
	}
	var args []string
	for _, arg := range s.Args {
		if open(arg) {
			if n := len(args); n > 0 && strings.HasPrefix(args[n-1], "--") { // its option
				args = args[:n-1]
			}
			continue
		}
		args = append(args, fill.Replace(arg))
	}
	s.Args = args
	for _, pairs := range []map[string]string{s.Env, s.Headers} {
		for key, value := range pairs {
			if open(value) {
				delete(pairs, key)
				continue
			}
			pairs[key] = fill.Replace(value)
		}
	}
	s.URL = fill.Replace(s.URL)
}
