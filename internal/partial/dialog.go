package partial

import (
	"maps"
	"strings"
)

// The answers to the question about a conflict.
const (
	Theirs   = "keep what is there now"
	Commands = "take what the command wrote"
	Neither  = "drop everything the command changed"
)

const conflictText = `While the command ran, somebody else changed what it changed too. What was there before both is not known. Which version counts? You may also name the paths, one to a line, for which you take what the command wrote.
From what is there now to what the command wrote:
`

// Why says why a person has to be asked.
func Why(conflicts []string, reasons string) string {
	if len(conflicts) == 0 {
		return reasons
	}
	return strings.TrimSuffix("somebody else changed this while the command ran: "+First(conflicts, 10)+"; "+reasons, "; ")
}

// Dialog has a person decide what of a change set is applied.
type Dialog struct {
	Set       Set
	Refused   map[string]bool // by a guard
	Conflicts []string        // paths that somebody else changed while the command ran
	Asked     bool            // a person is asked also without a conflict
	Dirs      []string        // what a person's relative paths may lie in

	Show      func(accept func(path string) bool) string
	Overwrite func(path string)
	// Ask asks with a text and options, or about what is shown in preview. It gives what the
	// person wrote, and the paths that they take; why: nothing may be applied.
	Ask func(text, preview string, options []string) (message string, paths []string, why string)
}

// Settle asks, and gives what is applied. An answer that cannot be taken is asked for
// again, at most tries times.
func (d *Dialog) Settle(tries int) (taken map[string]bool, why string) {
	refused := maps.Clone(d.Refused)
	if len(d.Conflicts) > 0 {
		if why := d.versions(refused, tries); why != "" {
			return nil, why
		}
	}
	taken = d.Set.Without(refused)
	if !d.Asked {
		return taken, ""
	}
	note := ""
	for range tries {
		_, paths, why := d.Ask("", note+d.Show(func(path string) bool { return taken[path] }), nil)
		if why != "" {
			return nil, why
		}
		if paths == nil {
			return taken, ""
		}
		part, err := d.Set.Only(d.Set.Named(paths, d.Dirs), refused)
		if err == nil {
			return part, ""
		}
		note = "Your answer could not be taken: " + err.Error() + "\n"
	}
	return nil, "a person wanted a part of it that there is not"
}

// versions asks which version of what somebody else changed counts. What was there before
// the command began is not known any more: the live file was its lower half.
func (d *Dialog) versions(refused map[string]bool, tries int) (why string) {
	is := map[string]bool{}
	for _, path := range d.Conflicts {
		is[path] = true
	}
	shown := d.Show(func(path string) bool { return is[path] })
	note := ""
	for range tries {
		answer, _, why := d.Ask(note+conflictText+shown, "", []string{Theirs, Commands, Neither})
		if why != "" {
			return why
		}
		if strings.TrimSpace(answer) == Neither {
			break
		}
		commands, err := d.commands(answer)
		if err != nil {
			note = "Your answer could not be taken: " + err.Error() + "\n"
			continue
		}
		for path := range is {
			if commands[path] {
				d.Overwrite(path)
			} else {
				refused[path] = true
			}
		}
		return ""
	}
	return "somebody else changed what the command changed, and a person dropped its changes"
}

// commands reads which paths of a conflict are to be as the command wrote them.
func (d *Dialog) commands(answer string) (map[string]bool, error) {
	var conflicts Set
	for _, path := range d.Conflicts {
		conflicts = append(conflicts, Change{Path: path, Was: Other, Is: Other})
	}
	var typed []string
	switch answer = strings.TrimSpace(answer); answer {
	case Theirs:
		return nil, nil
	case Commands:
		typed = d.Conflicts
	default:
		for line := range strings.Lines(answer) {
			if line = strings.TrimSpace(line); line != "" {
				typed = append(typed, line)
			}
		}
	}
	return conflicts.Only(conflicts.Named(typed, d.Dirs), nil)
}
