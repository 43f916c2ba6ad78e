package namecheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/toolname"
)

// judge says what is wrong with a place of the settings that means no tool in
// use; false: nothing is.
func (w *whole) judge(m *policy.Mention) (Unmatched, bool) {
	if slices.ContainsFunc(w.specs, func(s toolcrib.Entry) bool { return m.Means(&s) }) {
		return Unmatched{}, false
	}
	unknown := func(why string) (Unmatched, bool) { return Unmatched{Where: m.Where, Unknown: true, Why: why}, true }
	box, name, pattern, ok := m.Tools.Named()
	if !ok {
		return w.judgeGroup(m)
	}
	if slices.Contains(w.clients, box) && !slices.Contains(w.boxes, box) {
		return Unmatched{}, false
	}
	word := m.Tools.String()
	if forms := w.forms(m, word); len(forms) > 0 {
		why := "since who supplies the tool chooses this name"
		if m.TwoWays() {
			why = "since this name can be read in two ways"
		}
		return Unmatched{Where: m.Where, Why: fmt.Sprintf("%s nothing, %s: write %s", m.Gives(), why, strings.Join(forms, " or "))}, true
	}
	for _, server := range w.unlisted {
		if box == server || strings.HasPrefix(strings.TrimPrefix(word, "mcp__"), server+"__") {
			return unknown(fmt.Sprintf("is about %s, whose tools are not known yet", server))
		}
	}
	switch near := w.near(m, word, box); {
	case near != "":
		return Unmatched{Where: m.Where, Why: "does not match any tool. Did you mean " + near + "?"}, true
	case box != "" && !slices.Contains(w.boxes, box):
		return unknown(fmt.Sprintf("does not match any tool here: there is no toolbox or server %s", box))
	case box == "" && pattern:
		return unknown("does not match any tool that is known now")
	case box == "" && len(w.unlisted) > 0:
		return unknown(fmt.Sprintf("does not match any tool that is known now; what %s offers is not known yet", strings.Join(w.unlisted, ", ")))
	case box != "" && name == "*":
		return unknown(fmt.Sprintf("does not match any tool that is known now: %s offers none", box))
	}
	return Unmatched{Where: m.Where, Why: "does not match any tool; 'toolcrib tools' lists them"}, true
}

// forms are what to write where a place gives nothing by a name that tools go by: the
// names of these very tools that it would mean.
func (w *whole) forms(m *policy.Mention, word string) (out []string) {
	if m.Gives() == "" || toolname.IsPattern(word) {
		return nil
	}
	if rest, ok := toolname.FromClient(word); ok {
		word = rest
	}
	for _, ours := range []bool{true, false} { // a server may have called a tool like one of ours
		for i := range w.specs {
			if slices.Contains(w.bare, w.specs[i].Box) != ours {
				continue
			}
			if typed := policy.TypedName(&w.specs[i], w.bare); slices.Contains(w.specs[i].Names(), word) && typed != word && !slices.Contains(out, typed) && len(out) < 3 {
				out = append(out, typed)
			}
		}
	}
	return out
}

// near is the name that was most likely meant. For a place that gives something it is
// one that it would mean, and no tool of another host on the bus than the one it names:
// a host calls itself as it likes, and a name that looks like a trusted one is soon taken.
func (w *whole) near(m *policy.Mention, word, box string) string {
	plain := strings.TrimRight(word, "*")
	names, whose := w.names, map[string]*toolcrib.Entry{}
	if m.Gives() != "" {
		names = nil
		for i := range w.specs {
			s := &w.specs[i]
			if host, _, _ := strings.Cut(s.Native, "__"); s.Box == busBox && !strings.HasPrefix(strings.TrimPrefix(plain, busBox+"/"), host+"__") {
				continue
			}
			for _, name := range append([]string{s.Name}, s.Names()...) {
				names = append(names, name)
				if whose[name] == nil || s.Name == name && s.Box != busBox { // what it means before what is called so
					whose[name] = s
				}
			}
		}
	}
	if near := text.Nearest(plain, names); near != "" && near != plain {
		if s := whose[near]; s != nil {
			called := *s
			called.Name = near
			return policy.TypedName(&called, w.bare)
		}
		return near
	}
	if box == "" || slices.Contains(w.boxes, box) {
		return ""
	}
	if near := text.Nearest(box, w.boxes); near != "" {
		return strings.Replace(word, box, near, 1)
	}
	return ""
}

func (w *whole) judgeGroup(m *policy.Mention) (Unmatched, bool) {
	group := m.Tools.Group()
	switch group {
	case "", "mcp", "api", "skill": // they come and go
		return Unmatched{}, false
	}
	var groups []string
	for i := range w.specs {
		groups = append(groups, w.specs[i].Group)
	}
	if slices.Contains(groups, group) {
		return Unmatched{}, false
	}
	why := "does not match any tool: there is no group " + group
	if near := text.Nearest(group, groups); near != "" {
		why += ". Did you mean group:" + near + "?"
	}
	return Unmatched{Where: m.Where, Why: why}, true
}

func (w *whole) judgeServer(s serverMention) (Unmatched, bool) {
	u := Unmatched{Where: fmt.Sprintf("mcp_servers.%s.%s: %s", s.server, s.key, s.name)}
	offers, listed := w.offers[s.server]
	if !listed {
		u.Unknown, u.Why = true, fmt.Sprintf("is about %s, whose tools are not known yet", s.server)
		return u, true
	}
	var names []string
	for _, offer := range offers {
		t := toolname.Tool{Box: s.server, Native: offer}
		if slices.ContainsFunc(w.tools.ServerNames(s.server, []string{s.name}), t.Called) {
			return u, false
		}
		names = append(names, t.Names()...)
	}
	if toolname.IsPattern(s.name) {
		u.Unknown, u.Why = true, "does not match any tool that is known now"
		return u, true
	}
	u.Why = "does not match any tool of " + s.server
	if near := text.Nearest(s.name, names); near != "" {
		u.Why += ". Did you mean " + near + "?"
	}
	return u, true
}
