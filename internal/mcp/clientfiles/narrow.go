package clientfiles

import (
	"slices"
	"strings"
)

// narrowing reads what makes a server less than all it could be: switched off,
// fewer tools, fewer agents, less time. People copy entries from one client's
// file into another's, so the spellings of all clients count in every file. A
// key that the client itself would pass over can only narrow here, never widen.
func (r *reader) narrowing(e *entry, s *Server) {
	s.Timeout = r.timeout(e)
	s.Disabled = s.Disabled || e.switchedOff()
	r.enabledTools(e, s)
	for _, key := range keysOf(r.client.disabledTools, "disabledTools", "disabled_tools", "excludeTools", "exclude_tools", "excludedTools",
		"excluded_tools", "blockedTools", "blocked_tools", "deniedTools", "denied_tools", "disabledMcpTools") {
		if list, ok := e.names(key, key == r.client.disabledTools); ok {
			s.DisabledTools = append(s.DisabledTools, list...)
		}
	}
	for _, key := range [...]string{"assign_to_agents", "assignToAgents"} {
		list, ok := e.names(key, true)
		if !ok || len(list) == 0 { // none means all, as in AgenticX
			continue
		}
		if len(s.Agents) > 0 {
			e.drop(key, "another list of agents is given")
			continue
		}
		s.Agents = list
	}
}

// keysOf puts a client's own key before the usual ones.
func keysOf(own string, usual ...string) []string {
	if own == "" || slices.Contains(usual, own) {
		return usual
	}
	return append([]string{own}, usual...)
}

// switchedOff reports whether any key says that the server is off. What is
// neither true nor false counts as off, since it may have been meant so.
func (e *entry) switchedOff() (off bool) {
	for _, k := range [...]struct {
		key string
		on  string // the value with which it is on
	}{
		{"enabled", "true"}, {"enable", "true"}, {"active", "true"}, {"isActive", "true"}, {"is_active", "true"},
		{"disabled", "false"}, {"disable", "false"}, {"isDisabled", "false"}, {"is_disabled", "false"},
	} {
		v, ok := e.take(k.key)
		switch {
		case !ok:
		case v.kind != kindBool:
			e.note("%s is %s, not true or false: the server is switched off here", k.key, v.kind)
			off = true
		default:
			off = off || v.text != k.on
		}
	}
	return off
}

// enabledTools reads the lists of tools that are offered. Each of them narrows
// what those before it leave. A list that leaves nothing switches the server
// off, since an empty list means all tools in Toolcrib's settings.
func (r *reader) enabledTools(e *entry, s *Server) {
	c := r.client
	limited := false
	for _, key := range keysOf(c.enabledTools, "enabledTools", "enabled_tools", "includeTools", "include_tools", "includedTools",
		"allowedTools", "allowed_tools", "availableTools", "available_tools", "tools") {
		own := key == c.enabledTools
		if v, _ := e.get(key); key == "tools" && !own && v.kind == kindTable {
			e.toolTable(v, s)
			continue
		}
		list, ok := e.names(key, own)
		switch {
		case !ok:
			continue
		case len(list) == 0 && (own && c.emptyAll || key == "enabled_tools" && !own):
			continue
		case slices.Contains(list, "*") && (c.patterns || !own):
			continue
		}
		if own && !c.patterns {
			list = e.plainNames(key, list)
		}
		if limited {
			list = slices.DeleteFunc(list, func(name string) bool { return !slices.Contains(s.EnabledTools, name) })
		}
		s.EnabledTools, limited = list, true
	}
	if limited && len(s.EnabledTools) == 0 {
		e.note("its lists of tools leave none: the server is switched off here")
		s.EnabledTools, s.Disabled = nil, true
	}
}

// plainNames leaves out what is a plain name to the client and would be a
// pattern here, and so mean more tools.
func (e *entry) plainNames(key string, list []string) []string {
	return slices.DeleteFunc(list, func(name string) bool {
		pattern := strings.ContainsAny(name, "*?[") || strings.HasPrefix(name, "mcp__")
		if pattern {
			e.note("a name in %s was left out: it has a *, ? or [ or begins with mcp__, and would mean more tools here than there", show(key))
		}
		return pattern
	})
}

// toolTable reads settings by the name of the tool: {"delete": false} and
// {"delete": {"enabled": false}} switch it off. The rest of such a table is
// about approvals, which are never taken over.
func (e *entry) toolTable(v value, s *Server) {
	if len(v.fields) > maxNames {
		e.fail("tools has more than %d names", maxNames)
		return
	}
	for _, f := range v.fields {
		on, said := f.value, f.value.kind == kindBool
		if f.value.kind == kindTable {
			inner := &entry{value: f.value, used: map[string]bool{}, made: map[string]bool{}}
			on, said = boolValue(!inner.switchedOff()), true
		}
		if said && on.text == "false" {
			s.DisabledTools = append(s.DisabledTools, f.name)
		}
	}
	e.drop("tools", "tools that it switches off stay off; approvals are given in Toolcrib, not taken over")
}

// names gives a list of names: a list of texts, or one text with commas. Where
// the key is not the client's own, another form means something else.
func (e *entry) names(key string, own bool) ([]string, bool) {
	v, ok := e.get(key)
	if key == "" || !ok || v.kind == kindNull {
		return nil, false
	}
	if len(v.list) > maxNames || v.kind == kindText && strings.Count(v.text, ",") > maxNames {
		e.fail("%s has more than %d names", show(key), maxNames)
		return nil, false
	}
	texts := v.kind == kindText || v.kind == kindList && !slices.ContainsFunc(v.list, func(w value) bool { return w.kind != kindText })
	switch {
	case !own && !texts:
		e.drop(key, "it is not a list of names, so that it is not known what it says")
		return nil, false
	case v.kind == kindText:
		e.used[key] = true
		list := strings.Split(v.text, ",")
		for i := range list {
			list[i] = strings.TrimSpace(list[i])
		}
		return slices.DeleteFunc(list, func(name string) bool { return name == "" }), true
	}
	return e.texts(key), true
}
