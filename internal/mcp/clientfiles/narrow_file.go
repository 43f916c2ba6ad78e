package clientfiles

import (
	"regexp"
	"slices"
	"strings"
)

// fileLists applies what a file says beside its servers about which of them, and
// which of their tools, are switched on. It comes after the servers are read.
func (r *reader) fileLists() {
	switch r.client.name {
	case ClaudeCode:
		r.claudeLists()
	case Gemini:
		r.geminiLists()
	case OpenCode:
		r.openCodeTools()
	case Amp:
		r.ampLists()
	}
}

// bounded reports whether lists for all servers are short enough to be gone
// through for each of them. If not, all of them are switched off.
func (r *reader) bounded(lists ...value) bool {
	for _, v := range lists {
		if len(v.list)+len(v.fields) > maxNames {
			r.each(func(s *Server) {
				s.switchOff("a list of tools in the file is too long to be read: it is switched off here")
			})
			return false
		}
	}
	return true
}

func (r *reader) each(do func(s *Server)) {
	for i := range r.servers {
		do(&r.servers[i])
	}
}

func (s *Server) switchOff(why string) {
	s.Disabled = true
	s.Notes = append(s.Notes, why)
}

// withoutTools adds to the tools that are switched off.
func (s *Server) withoutTools(names ...string) {
	for _, name := range names {
		if name != "" && !slices.Contains(s.DisabledTools, name) {
			s.DisabledTools = append(s.DisabledTools, name)
		}
	}
}

// textsOf gives the texts of a list; nil if it is none.
func textsOf(v value) (list []string) {
	for _, w := range v.list {
		if w.kind == kindText {
			list = append(list, w.text)
		}
	}
	return list
}

// claudeLists switches off what a person has switched off for this project.
func (r *reader) claudeLists() {
	off := namesUnder(r.root, r.codec.Project, "disabledMcpServers")
	r.each(func(s *Server) {
		if slices.Contains(off, s.Name) && (s.Project == "" || s.Project == r.codec.Project) {
			s.switchOff("it is switched off in Claude Code for this project")
		}
	})
}

// geminiLists applies the lists by which Gemini switches servers and tools on
// and off.
func (r *reader) geminiLists() {
	allowed, limited := r.root.at([]string{"mcp", "allowed"})
	excluded, _ := r.root.at([]string{"mcp", "excluded"})
	tools, _ := r.root.at([]string{"tools", "exclude"})
	old, _ := r.root.get("excludeTools")
	if !r.bounded(allowed, excluded, tools, old) {
		return
	}
	r.each(func(s *Server) {
		if slices.Contains(textsOf(excluded), s.Name) || limited && allowed.kind == kindList && !slices.Contains(textsOf(allowed), s.Name) {
			s.switchOff("it is switched off by the list mcp.allowed or mcp.excluded of the client")
		}
		for _, name := range slices.Concat(textsOf(tools), textsOf(old)) {
			s.withoutTools(switchedOffTools(s.Name, name)...)
		}
	})
}

// openCodeTools applies the table by which opencode hides tools, whose names are
// those of the server and the tool with _ between them.
func (r *reader) openCodeTools() {
	tools, _ := r.root.get("tools")
	if !r.bounded(tools) {
		return
	}
	for _, f := range tools.fields {
		if f.value.kind != kindBool || f.value.text == "true" {
			continue
		}
		r.each(func(s *Server) {
			switch tool, ok := strings.CutPrefix(f.name, openCodeName(s.Name)+"_"); {
			case ok && tool != "*":
				s.withoutTools(tool)
			case ok, f.name == "*", f.name == openCodeName(s.Name)+"*":
				s.switchOff("its tools are switched off by the table tools of the client")
			}
		})
	}
}

// openCodeName is how opencode writes the name of a server in those of its tools.
func openCodeName(name string) string {
	return strings.Map(func(c rune) rune {
		if c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return c
		}
		return '_'
	}, name)
}

// ampLists applies the lists by which Amp switches tools on and off. Its rules
// about servers go by patterns of commands and addresses, which are not read
// here: where one of them rejects, nothing is switched on.
func (r *reader) ampLists() {
	disable, _ := r.root.get("amp.tools.disable")
	enable, limited := r.root.get("amp.tools.enable")
	rules, _ := r.root.get("amp.mcpPermissions")
	rejects := slices.ContainsFunc(rules.list, func(v value) bool { action, _ := v.get("action"); return action.text != "allow" })
	if !r.bounded(disable, enable, rules) {
		return
	}
	r.each(func(s *Server) {
		for _, name := range textsOf(disable) {
			s.withoutTools(switchedOffTools(s.Name, name)...)
		}
		if limited && len(textsOf(enable)) > 0 {
			s.onlyTools(textsOf(enable))
		}
		if rejects {
			s.switchOff("amp.mcpPermissions rejects servers; which, is not read here, so it is switched off: switch it on if Amp starts it")
		}
	})
}

// onlyTools narrows a server to the tools of a list that is for all servers.
func (s *Server) onlyTools(list []string) {
	var names []string
	for _, name := range list {
		names = append(names, toolsFor(s.Name, name)...)
	}
	if slices.Contains(names, "*") {
		return
	}
	if len(s.EnabledTools) > 0 {
		names = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(s.EnabledTools, name) })
	}
	if s.EnabledTools = names; len(names) == 0 {
		s.switchOff("the client's list of tools has none of it: the server is switched off here")
	}
}

// toolsFor gives the tools of a server that a name in a list for all servers
// means: mcp__server__tool is one server's, builtin:tool is none's, and a plain
// name or a pattern is every server's.
func toolsFor(server, name string) (list []string) {
	for _, name := range braces(name) {
		if tool, ok := toolFor(server, name); ok {
			list = append(list, tool)
		}
	}
	return list
}

func toolFor(server, name string) (string, bool) {
	if strings.HasPrefix(name, "builtin:") {
		return "", false
	}
	for _, form := range [...]string{server, strings.NewReplacer("-", "_", " ", "_").Replace(server)} {
		if name == "mcp__"+form {
			return "*", true
		}
		for _, prefix := range [...]string{"mcp__" + form + "__", "mcp_" + form + "_", form + "__"} {
			if tool, ok := strings.CutPrefix(name, prefix); ok && tool != "" {
				return tool, true
			}
		}
	}
	if strings.HasPrefix(name, "mcp__") && !strings.ContainsAny(name, "*?[") {
		return "", false // another server's
	}
	return name, true
}

// braces writes out a{b,c}d as abd and acd, since patterns here have no braces.
// A second pair of them is left, and matches nothing.
func braces(name string) (list []string) {
	before, rest, open := strings.Cut(name, "{")
	inner, after, shut := strings.Cut(rest, "}")
	if !open || !shut {
		return []string{name}
	}
	for part := range strings.SplitSeq(inner, ",") {
		list = append(list, before+part+after)
	}
	return list
}

var bracePairs = regexp.MustCompile(`\{[^}]*\}`)

// switchedOffTools is toolsFor for a list of tools that are off. What cannot be
// written out switches off more, never less.
func switchedOffTools(server, name string) (list []string) {
	for _, tool := range toolsFor(server, name) {
		list = append(list, bracePairs.ReplaceAllString(tool, "*"))
	}
	return list
}
