package dialect

import (
	"errors"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/spoken"
)

// Callers of OpenVoiceOS say aloud what they are answered. What its own hosts know
// too (arguments that do not fit, a tool that raised) is told in their words, with a
// sentence beside it. What only we refuse (rules, approval, the sandbox, budgets) is
// told by the sentence itself, where the contract of the tool has a place for it.

// These mark refusals where a tool of the original raises: of a skill that no model
// carries out, and of a pattern that no file has.
var (
	errNoModel    = errors.New("no model is set up to carry out skills")
	errBadPattern = errors.New("the pattern cannot be used")
)

// OVOSRefusal is what a person is told of a refused call. Ours says that the
// original has no words for it, so that the sentence is the whole answer.
func OVOSRefusal(e *toolcrib.Error) (s spoken.Sentence, ours bool) {
	key := refusalKey(e)
	if errors.Is(e, errBadPattern) {
		key = spoken.Invalid
	}
	switch key {
	case spoken.Invalid, spoken.NotFound, spoken.Internal, spoken.NoModel:
		return spoken.Sentence{Key: key}, false
	}
	return spoken.Sentence{Key: key}, true
}

func refusalKey(e *toolcrib.Error) spoken.Key {
	switch e.Code {
	case toolcrib.CodeInvalid:
		return spoken.Invalid
	case toolcrib.CodeNotFound:
		return spoken.NotFound
	case toolcrib.CodeConflict:
		return spoken.Conflict
	case toolcrib.CodeTimeout:
		if strings.HasPrefix(e.Message, "a person ") {
			return spoken.NoAnswer
		}
		return spoken.TimedOut
	case toolcrib.CodeCancelled:
		return spoken.Cancelled
	case toolcrib.CodeDenied:
		return deniedKey(e)
	case toolcrib.CodeUnavailable:
		return unavailableKey(e)
	}
	switch {
	case strings.Contains(e.Message, "is over the limit of"):
		return spoken.TooLarge
	case strings.Contains(e.Message, "held back"):
		return spoken.HeldBack
	}
	return spoken.Internal
}

// deniedKey is why a call was denied: what a handle said, a person, or the guards.
func deniedKey(e *toolcrib.Error) spoken.Key {
	switch {
	case errors.Is(e, files.ErrOutside):
		return spoken.Outside
	case strings.HasPrefix(e.Message, "no directory was granted"):
		return spoken.NoDirectory
	case errors.Is(e, files.ErrProtected):
		return spoken.Protected
	case errors.Is(e, files.ErrReadOnly):
		return spoken.ReadOnly
	case errors.Is(e, httpclient.ErrNotListed), errors.Is(e, httpclient.ErrNotPublic), strings.HasPrefix(e.Message, "the host "):
		return spoken.HostNotGranted
	case strings.HasPrefix(e.Message, "a person said no"):
		return spoken.PersonRefused
	case strings.HasPrefix(e.Message, "the program ") && strings.HasSuffix(e.Message, " was not granted"):
		return spoken.NotGranted
	}
	// Guards tell their names before their reasons. Where several denied it, the one
	// that a person can do least about is told.
	for _, g := range []struct {
		guard, reason string
		key           spoken.Key
	}{
		{"rules", "", spoken.Denied}, {"mode", "", spoken.Denied}, {"secrets", "", spoken.Secret}, {"flow", "", spoken.Untrusted}, {"grant", "", spoken.Outside},
		{"shell", "running commands is switched off", spoken.ShellOff}, {"shell", "", spoken.NotListed},
		{"budget", "calls a minute", spoken.Rate}, {"budget", "", spoken.Budget}, {"loop", "", spoken.Loop},
	} {
		named := strings.HasPrefix(e.Message, g.guard+": ") || strings.Contains(e.Message, "; "+g.guard+": ")
		if named && strings.Contains(e.Message, g.reason) {
			return g.key
		}
	}
	return spoken.Denied
}

// unavailableKey is what was missing.
func unavailableKey(e *toolcrib.Error) spoken.Key {
	switch {
	case errors.Is(e, errNoModel):
		return spoken.NoModel
	case errors.Is(e, errOff):
		return spoken.SearchOff
	case strings.HasPrefix(e.Message, "a person "):
		if strings.Contains(e.Message, " stays open") { // it can still be given
			return spoken.PermissionNeeded
		}
		return spoken.NobodyToAsk
	case strings.Contains(e.Message, "sandbox"):
		return spoken.NoSandbox
	case strings.Contains(e.Message, "journal"):
		return spoken.NotRecorded
	case strings.Contains(e.Message, "too many calls"):
		return spoken.Busy
	}
	return spoken.Unavailable
}
