package clientfiles

import (
	"slices"
	"strings"
)

// Narrowed gives what two entries for the same server both allow: a tool that
// one of them hides is hidden, and a server that one of them switches off is
// off. The keys are those in which the other is narrower. How it is started and
// reached is left as s has it.
func (s Server) Narrowed(by Server) (out Server, keys []string) {
	out = s
	narrower := func(key string, is bool) {
		if is {
			keys = append(keys, key)
		}
	}
	for _, tool := range by.DisabledTools {
		if !slices.Contains(out.DisabledTools, tool) {
			out.DisabledTools = append(slices.Clip(out.DisabledTools), tool)
		}
	}
	narrower("disabled_tools", len(out.DisabledTools) > len(s.DisabledTools))
	none := false
	out.EnabledTools, none = common(s.EnabledTools, by.EnabledTools)
	narrower("enabled_tools", none || !slices.Equal(out.EnabledTools, s.EnabledTools))
	out.Disabled = s.Disabled || by.Disabled || none
	out.Agents, none = common(s.Agents, by.Agents)
	narrower("assign_to_agents", none || !slices.Equal(out.Agents, s.Agents))
	out.Disabled = out.Disabled || none
	narrower("disabled", by.Disabled && !s.Disabled)
	if out.OAuth.IsZero() {
		out.OAuth = by.OAuth
	} else if scopes, none := common(s.OAuth.Scopes, by.OAuth.Scopes); !none {
		out.OAuth.Scopes = scopes
	}
	out.OAuth.Off = s.OAuth.Off || by.OAuth.Off
	narrower("oauth", out.OAuth.Off && !s.OAuth.Off || !slices.Equal(out.OAuth.Scopes, s.OAuth.Scopes))
	if by.Timeout > 0 && (s.Timeout == 0 || by.Timeout < s.Timeout) {
		out.Timeout = by.Timeout
		narrower("timeout", true)
	}
	return out, keys
}

// common gives what two lists both have, where an empty one stands for all.
// None: both name something, and nothing in common.
func common(a, b []string) (list []string, none bool) {
	switch {
	case len(b) == 0:
		return a, false
	case len(a) == 0:
		return b, false
	}
	for _, name := range a {
		if slices.Contains(b, name) {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		return a, true
	}
	return list, false
}

// Also notes that a server stands in another file too, which is narrower in
// these keys.
func (s *Server) Also(client, file string, keys []string) {
	note := "it stands in " + file + " (" + Title(client) + ") too, and is taken once"
	if len(keys) > 0 {
		note += ", with what that file narrows: " + strings.Join(keys, ", ")
	}
	s.Notes = append(slices.Clip(s.Notes), note)
}
