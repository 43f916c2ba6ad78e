package mcphub

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib/internal/wording"
)

// listedTool is a tool of a server, kept back or not.
type listedTool struct {
	box *Box
	def definition
}

// offered is what all servers offer.
func (h *Hub) offered() []listedTool {
	var all []listedTool
	for _, b := range h.Boxes() {
		for _, d := range b.definitions() {
			all = append(all, listedTool{b, d})
		}
	}
	return all
}

// toolNames finds tools by how their names are written, and by how they look.
type toolNames struct {
	written map[string][]listedTool
	looks   map[string][]listedTool
	own     map[*Box][]string
}

func namesOf(all []listedTool) toolNames {
	n := toolNames{map[string][]listedTool{}, map[string][]listedTool{}, map[*Box][]string{}}
	for _, o := range all {
		n.written[o.def.Name] = append(n.written[o.def.Name], o)
		look := folded(o.def.Name)
		n.looks[look] = append(n.looks[look], o)
		n.own[o.box] = append(n.own[o.box], o.def.Name)
	}
	return n
}

// warnings says how a tool gets in the way of another server's. That two servers
// have a get_issue each is ordinary: they are called by the names of their servers.
// It counts where one of them is called by its bare name, or where the names only
// look the same.
func (n toolNames) warnings(o listedTool) (out []string) {
	own := func(x listedTool) bool { return x.box == o.box }
	for _, x := range n.looks[folded(o.def.Name)] {
		switch {
		case own(x):
		case spelling(x.def.Name) != spelling(o.def.Name):
			out = append(out, fmt.Sprintf("its name looks like %s, a tool of the server %s, and is written with other letters", x.def.Name, x.box.name))
		case o.box.server.Bare || x.box.server.Bare:
			out = append(out, fmt.Sprintf("the server %s has a tool of this name too (%s)", x.box.name, x.def.Name))
		}
	}
	var seen []string
	mine := func(tool string) bool { // also without the prefix that a server gives all its tools
		return slices.ContainsFunc(n.own[o.box], func(name string) bool {
			return spelling(name) == spelling(tool) || strings.HasSuffix(name, "_"+tool) || strings.HasSuffix(name, "-"+tool)
		})
	}
	for _, word := range strings.FieldsFunc(o.def.Description, func(r rune) bool { return r > unicode.MaxASCII || !wordByte(byte(r)) }) {
		if slices.Contains(seen, word) {
			continue
		}
		seen = append(seen, word)
		server, tool, qualified := strings.Cut(word, "__")
		if !qualified {
			tool = word
		}
		// A short name, or one that is a plain word, is there by chance.
		if len(tool) < 6 || !strings.ContainsAny(tool, "_-") && !qualified || n.written[tool] == nil || !qualified && mine(tool) {
			continue
		}
		for _, x := range n.written[tool] {
			if !own(x) && (!qualified || x.box.name == server) {
				out = append(out, fmt.Sprintf("it speaks of %s, a tool of the server %s", tool, x.box.name))
			}
		}
	}
	return out
}

// spelling makes names equal that are written alike: read_file, readFile, read-file.
func spelling(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// folded makes names equal that are read as the same.
func folded(name string) string {
	name = strings.Map(func(r rune) rune {
		switch r {
		case '0':
			return 'o'
		case '1', 'l', 'I', '|':
			return 'i'
		}
		return wording.Latin(unicode.ToLower(r))
	}, strings.NewReplacer("_", "", "-", "", ".", "").Replace(name))
	return strings.NewReplacer("rn", "m", "vv", "w", "l", "i").Replace(name)
}

func wordByte(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
