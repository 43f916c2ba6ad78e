package shellguard

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// writesObeyed finds the obeyed places that a line names and may write. In a
// sandbox they are read-only, so that there is nothing to ask: only where none
// bounds what a command writes does the line itself have to be gone by.
func (s *Guard) writesObeyed(l *Line, dir string) []string {
	if s.Bounded || s.Obeyed == nil {
		return nil
	}
	dirs := []string{dir}
	for i := range l.Programs {
		dirs = append(dirs, l.Programs[i].Dirs...)
	}
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	var found []sensitive.Place
	look := func(text string) {
		if _, value, ok := strings.Cut(text, "="); ok { // of=FILE, --output=FILE
			text = value
		}
		for _, d := range dirs {
			full := text
			if !path.IsAbs(full) {
				full = path.Join(d, full)
			}
			if place, ok := s.Obeyed(full); ok && !slices.ContainsFunc(found, func(o sensitive.Place) bool { return o.Pattern == place.Pattern }) {
				found = append(found, place)
			}
		}
	}
	for i := range l.Redirects {
		if r := &l.Redirects[i]; strings.Contains(r.Op, ">") {
			look(r.Target)
		}
	}
	for i := range l.Programs {
		p := &l.Programs[i]
		if p.Class == ReadOnly {
			continue
		}
		for _, a := range p.Args {
			look(a.Text)
		}
		for _, text := range p.putInto() {
			look(text)
		}
	}
	return obeyedReasons(found)
}

// obeyedReasons names the most dangerous first, and counts what there is no room for:
// whoever writes the line decides how many there are.
func obeyedReasons(found []sensitive.Place) (out []string) {
	slices.SortStableFunc(found, func(a, b sensitive.Place) int { return int(b.Danger) - int(a.Danger) })
	for i, place := range found {
		if i == maxReasons {
			return append(out, fmt.Sprintf("%d more files that other programs obey later are named in the line", len(found)-i))
		}
		out = append(out, Quote(place.Pattern)+": "+place.By+" later, and no sandbox here keeps a command from writing it")
	}
	return out
}

// putInto are the places that a program fills in a directory: "cp x/.npmrc ." writes
// ./.npmrc.
func (p *Program) putInto() (list []string) {
	if !isOneOf(path.Base(p.Name), "cp mv ln install rsync") {
		return nil
	}
	var operands, into []string
	for i, a := range p.Args {
		option, value, assigns := strings.Cut(a.Text, "=")
		switch {
		case assigns && strings.HasPrefix(option, "--t"): // --target-directory
			into = append(into, value)
		case strings.HasPrefix(a.Text, "-t") && len(a.Text) > 2:
			into = append(into, a.Text[2:])
		case strings.HasPrefix(a.Text, "-"):
		default:
			if before := wordBefore(p.Args, i); strings.HasPrefix(before, "-") && strings.HasSuffix(before, "t") || strings.HasPrefix(before, "--t") {
				into = append(into, a.Text)
			}
			operands = append(operands, a.Text)
		}
	}
	if len(operands) > 0 {
		into = append(into, operands[len(operands)-1])
		if path.Base(p.Name) == "ln" {
			into = append(into, ".") // where one operand is linked to
		}
	}
	for _, dir := range into {
		for _, o := range operands {
			list = append(list, path.Join(dir, path.Base(o)))
		}
		if !strings.HasSuffix(dir, "/") && (path.Base(p.Name) != "cp" || slices.ContainsFunc(p.Args, copiesTrees)) { // it may become that directory: cp -r x .cargo
			list = append(list, obeyedBelow(dir)...)
		}
	}
	return list
}

// copiesTrees: an option of cp by which it copies directories.
func copiesTrees(a Arg) bool {
	if strings.HasPrefix(a.Text, "--") {
		return strings.HasPrefix(a.Text, "--r") || strings.HasPrefix(a.Text, "--a")
	}
	return strings.HasPrefix(a.Text, "-") && strings.ContainsAny(a.Text, "rRa")
}

// obeyedBelow gives what is obeyed in a directory for the directory's own name.
func obeyedBelow(dir string) (list []string) {
	for _, place := range sensitive.Obeyed() {
		if first, rest, ok := strings.Cut(place.Pattern, "/"); ok && first == strings.ToLower(path.Base(dir)) {
			list = append(list, path.Join(dir, strings.ReplaceAll(rest, "*", "x")))
		}
	}
	return list
}
