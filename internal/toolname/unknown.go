package toolname

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// Unknown is a name in settings that means no tool.
type Unknown struct {
	Name, Why string
	Known     []string // what it could have been; nil: it is no name
}

// Unknown lists the names and patterns in settings that match no tool of these boxes. A
// pattern about a box without tools may mean some that are not known yet.
func (s *Settings) Unknown(boxes map[string][]string) (out []Unknown) {
	var all []string
	for box, tools := range boxes {
		for _, tool := range tools {
			all = append(all, tool, box+"/"+tool)
		}
	}
	slices.Sort(all)
	known := func(fits func(box, tool string) bool) bool {
		for box, tools := range boxes {
			if slices.ContainsFunc(tools, func(tool string) bool { return fits(box, tool) }) {
				return true
			}
		}
		return false
	}
	for _, p := range s.Disable {
		called := func(box, tool string) bool {
			t := s.Of(box, tool).Tool()
			return t.Called(p)
		}
		if _, err := path.Match(p, ""); err != nil {
			out = append(out, Unknown{Name: p, Why: "disable: " + err.Error()})
		} else if !known(called) && (!IsPattern(p) || !unlisted(boxes, p)) {
			out = append(out, Unknown{p, "disable names it, and it does not match any tool", all})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Rename)) {
		if !known(func(box, tool string) bool { return name == tool || name == box+"/"+tool }) {
			out = append(out, Unknown{name, "rename names it, and it does not match any tool", all})
		}
	}
	return out
}

// unlisted reports whether a pattern may be about a box whose tools are not known yet.
func unlisted(boxes map[string][]string, pattern string) bool {
	of, _, named := strings.Cut(pattern, "/")
	for box, tools := range boxes {
		if fits, _ := path.Match(of, box); len(tools) == 0 && (!named || fits) {
			return true
		}
	}
	return false
}
