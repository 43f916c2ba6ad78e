package suggest

import (
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// places is what the approved files of each tool have in common.
type places struct {
	common map[string]string          // by tool and first directory: the directory that all of them lie in
	names  map[string]map[string]bool // the different files of it
}

func (s *search) placesOf() *places {
	p := &places{common: map[string]string{}, names: map[string]map[string]bool{}}
	for _, one := range s.approved {
		n := namedBy(&one.review)
		if one.review.Spec.Box != "files" || n.Path == "" {
			continue
		}
		file := s.relative(n.Path)
		key := s.ruleName(&one.review.Spec) + " " + topOf(file)
		dir := path.Dir(file)
		if was, ok := p.common[key]; ok {
			dir = shared(was, dir)
		}
		p.common[key] = dir
		if p.names[key] == nil {
			p.names[key] = map[string]bool{}
		}
		p.names[key][file] = true
	}
	return p
}

// topOf is the directory that a file is counted with: the first one of the project, or
// its own one elsewhere.
func topOf(file string) string {
	if path.IsAbs(file) {
		return path.Dir(file)
	}
	top, _, below := strings.Cut(file, "/")
	if !below {
		return ""
	}
	return top
}

// shared is the directory that both lie in.
func shared(a, b string) string {
	var out []string
	bs := strings.Split(b, "/")
	for i, elem := range strings.Split(a, "/") {
		if i >= len(bs) || bs[i] != elem {
			break
		}
		out = append(out, elem)
	}
	return strings.Join(out, "/")
}

// ways are rules for a file: for the directory that all of the tool's files lie in, for
// its own one, and for itself.
func (p *places) ways(tool string, effects toolcrib.Effects, file string) []way {
	if strings.ContainsAny(file, "*?[]{}()\\\"'\n\t") || strings.HasPrefix(file, "..") || file == "." || file == "/" {
		return nil
	}
	var out []way
	add := func(spec string) {
		w := way{tool + "(" + spec + ")"}
		if !slices.ContainsFunc(out, func(v way) bool { return v.key() == w.key() }) {
			out = append(out, w)
		}
	}
	key := tool + " " + topOf(file)
	if len(p.names[key]) > 1 && effects&toolcrib.Destroys == 0 { // what is removed is named one by one
		for _, dir := range []string{p.common[key], path.Dir(file)} {
			if wideEnough(dir) {
				add(dotted(dir) + "/**")
			}
		}
	}
	add(dotted(file))
	return out
}

// wideEnough: a directory that a rule may mean as a whole: not the project, no hidden
// one (programs go by what lies there), and elsewhere none near the top.
func wideEnough(dir string) bool {
	if dir == "." || dir == "" {
		return false
	}
	elems := strings.Split(strings.TrimPrefix(dir, "/"), "/")
	if slices.ContainsFunc(elems, func(e string) bool { return e == "" || strings.HasPrefix(e, ".") }) {
		return false
	}
	return !path.IsAbs(dir) || len(elems) > 3
}

// dotted writes a path as rules do.
func dotted(file string) string {
	if path.IsAbs(file) {
		return file
	}
	return "./" + file
}
