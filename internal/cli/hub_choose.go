package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/setup"
	"github.com/toolcrib/toolcrib/internal/text"
)

// naming says how servers of other clients are called here.
func (c *command) naming(there map[string]settings.MCPServer) (setup.Naming, error) {
	looks, err := app.LooksSecret()
	return setup.Naming{Looks: looks, Check: app.CheckServerName, There: there}, err
}

// name gives every server a name that is free, and says which are here already.
func (c *command) name(list []setup.Taken, there map[string]settings.MCPServer) ([]setup.Taken, error) {
	naming, err := c.naming(there)
	if err != nil {
		return nil, err
	}
	out, same := naming.Name(list)
	for _, s := range same {
		is := "is here already"
		if s.Yours {
			is = "is one of yours already"
		}
		if len(s.Narrower) > 0 {
			is += "; it is narrower there, yours stays as it is: " + strings.Join(s.Narrower, ", ")
		}
		fmt.Fprintf(c.out, "%s (from %s, %s) %s\n", s.Name, clientfiles.Title(s.Server.Source), text.ShowLine(s.File), is)
	}
	return out, nil
}

// leaveProject takes out what the project's own files name: without a person
// who looks, a clone could choose what runs here.
func (c *command) leaveProject(list []setup.Taken) []setup.Taken {
	return slices.DeleteFunc(list, func(t setup.Taken) bool {
		if t.Project {
			c.leftOut("%s: the project's own file names it (%s); 'toolcrib hub import FILE' takes it over", t.Name, t.File)
		}
		return t.Project
	})
}

// choose shows the servers and asks about them: first about those of the
// person's own files, then about those that the project brings along.
func (c *command) choose(list []setup.Taken, unasked bool, confirm func(string) (bool, error)) (chosen []setup.Taken, err error) {
	for _, project := range [...]bool{false, true} {
		part := slices.DeleteFunc(slices.Clone(list), func(t setup.Taken) bool { return t.Project != project })
		if len(part) == 0 {
			continue
		}
		if project {
			fmt.Fprintln(c.out, "\nThe files of this project name servers too. Whoever can write to the project chose these programs:")
		}
		keys := 0
		for _, t := range part {
			c.preview(t)
			keys += len(t.Secrets)
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
