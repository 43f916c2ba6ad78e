package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
)

// name gives every server a name that is free, and takes its secrets out under
// that name. The same server in two files is taken once, with what both allow.
func (c *command) name(list []taken, there map[string]settings.MCPServer) ([]taken, error) {
	looks, err := app.LooksSecret()
	if err != nil {
		return nil, err
	}
	what := func(command string, args []string, url string) string {
		return serverText(settings.ServerEntry(clientfiles.Server{Command: command, Args: args, URL: url}))
	}
	var out []taken
	used := map[string]string{}
	for name, s := range there {
		used[name] = what(s.Command, s.Args, s.URL)
	}
	for _, t := range list {
		base, original := nameFor(t.server.Name), t.server
		t.name = base
		for n := 2; ; n++ {
			original.Name = t.name
			t.server, t.secrets = clientfiles.Secrets(original, looks)
			is := what(t.server.Command, t.server.Args, t.server.URL)
			was, taken := used[t.name]
			if !taken {
				used[t.name] = is
				out = append(out, t)
				break
			}
			if was == is {
				c.again(t, out, there)
				break
			}
			t.name = fmt.Sprintf("%s-%d", base, n)
		}
	}
	return out, nil
}

// nameFor makes a name that a server may have here of one that it has elsewhere.
func nameFor(name string) string {
	base := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, name)
	for strings.Contains(base, "__") {
		base = strings.ReplaceAll(base, "__", "_")
	}
	base = base[:min(len(base), 40)]
	if app.CheckServerName(base) != nil { // a toolbox of ours has it
		base += "-mcp"
	}
	return base
}

func serverText(value map[string]any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

// again says that a server is here already, or narrows the one of the same
// import that it is.
func (c *command) again(t taken, list []taken, there map[string]settings.MCPServer) {
	if have, ok := there[t.name]; ok {
		_, keys := clientfiles.Server{EnabledTools: have.EnabledTools, DisabledTools: have.DisabledTools, Agents: have.Agents, Disabled: have.Disabled, Timeout: have.Timeout}.Narrowed(t.server)
		narrower := ""
		if len(keys) > 0 {
			narrower = "; it is narrower there, yours stays as it is: " + strings.Join(keys, ", ")
		}
		fmt.Fprintf(c.out, "%s (from %s, %s) is here already%s\n", t.name, clientfiles.Title(t.server.Source), text.ShowLine(t.file), narrower)
		return
	}
	i := slices.IndexFunc(list, func(have taken) bool { return have.name == t.name })
	if i < 0 || t.project && !list[i].project { // a project has no say in what is yours
		fmt.Fprintf(c.out, "%s (from %s, %s) is one of yours already\n", t.name, clientfiles.Title(t.server.Source), text.ShowLine(t.file))
		return
	}
	narrowed, keys := list[i].server.Narrowed(t.server)
	narrowed.Also(t.server.Source, t.file, keys)
	list[i].server = narrowed
}

// leaveProject takes out what the project's own files name: without a person
// who looks, a clone could choose what runs here.
func (c *command) leaveProject(list []taken) []taken {
	return slices.DeleteFunc(list, func(t taken) bool {
		if t.project {
			c.leftOut("%s: the project's own file names it (%s); 'toolcrib hub import FILE' takes it over", t.name, t.file)
		}
		return t.project
	})
}

// choose shows the servers and asks about them: first about those of the
// person's own files, then about those that the project brings along.
func (c *command) choose(list []taken, unasked bool, confirm func(string) (bool, error)) (chosen []taken, err error) {
	for _, project := range [...]bool{false, true} {
		part := slices.DeleteFunc(slices.Clone(list), func(t taken) bool { return t.project != project })
		if len(part) == 0 {
			continue
		}
		if project {
			fmt.Fprintln(c.out, "\nThe files of this project name servers too. Whoever can write to the project chose these programs:")
		}
		keys := 0
		for _, t := range part {
			c.preview(t)
			keys += len(t.secrets)
		}
		ok := unasked
		if !unasked {
			ok, err = confirm(fmt.Sprintf("Write %s to the configuration and %s to the vault?", counted(len(part), "server"), counted(keys, "secret")))
			if err != nil && toolcrib.CodeOf(err) != toolcrib.CodeDenied {
				return nil, err
			}
		}
		if ok {
			chosen = append(chosen, part...)
		}
	}
	if len(chosen) > 0 {
		err = nil // a no to one part is no answer to the other
	}
	return chosen, err
}

// counted writes a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
