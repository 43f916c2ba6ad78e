package cli

import (
	"slices"
	"strings"
)

// tryHint says what whoever wrote a tool may have forgotten to declare. A process that
// stays has no notes of the sandbox with its calls, and a refusal names no secrets, since
// models read it. Empty: nothing is known.
func tryHint(t tried) string {
	if strings.Contains(t.Error, "a secret that this tool needs") {
		return "'toolcrib tools check " + t.Tool + "' names its secrets, and 'toolcrib secret list' those that are set"
	}
	if t.Process == nil || t.Result == nil || !t.Result.Failed {
		return ""
	}
	said := t.Result.String() + t.Process.Log
	unfound := []string{"Name or service not known", "Temporary failure in name resolution", "getaddrinfo", "ENOTFOUND", "EAI_AGAIN"}
	if slices.ContainsFunc(unfound, func(words string) bool { return strings.Contains(said, words) }) {
		return "it looked for a host that it may not reach: its header has to declare network among its effects, and the host under hosts"
	}
	return ""
}
