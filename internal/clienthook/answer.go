package clienthook

import (
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// Word is what a client is told.
type Word int

// The words, strictest first.
const (
	No    Word = iota // it must not be done
	Query             // the client asks the person itself
	Yes               // it may be done without a question
	Pass              // nothing is said: the client goes by its own rules
)

// maxReason bounds what a client is told.
const maxReason = 4000

// Answer is what a program says on standard output and standard error, and its
// exit status. A no is always a status of 2 with a reason on standard error, which
// all clients understand.
func Answer(client string, word Word, reason string) (stdout, stderr string, status int) {
	reason = text.Clip(strings.TrimSpace(text.Show(reason)), maxReason)
	switch word {
	case Pass:
	case Yes:
		if client == Claude {
			return decision("allow", "allowed by the rules of Toolcrib"), "", 0
		}
	case Query:
		switch client {
		case Claude:
			return decision("ask", reason), "", 0
		case Gemini:
			out, _ := json.Marshal(map[string]string{"decision": "ask", "systemMessage": reason})
			return string(out) + "\n", "", 0
		}
		return "", blocked(reason), 2 // a client that cannot ask must not go on
	default:
		return "", blocked(reason), 2
	}
	if client == Gemini { // it takes plain words for a message to the person
		return "{}\n", "", 0
	}
	return "", "", 0
}

func blocked(reason string) string {
	if reason == "" {
		reason = "it gave no reason"
	}
	return "Toolcrib does not allow this: " + reason + "\n"
}

func decision(word, reason string) string {
	out, _ := json.Marshal(map[string]any{"hookSpecificOutput": map[string]string{
		"hookEventName": "PreToolUse", "permissionDecision": word, "permissionDecisionReason": "Toolcrib: " + reason,
	}})
	return string(out) + "\n"
}
