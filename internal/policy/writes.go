package policy

import (
	"encoding/json"
	"errors"

	"github.com/toolcrib/toolcrib"
)

// WriteFile is the tool that a redirection of a command line is held to.
func WriteFile() toolcrib.Entry {
	return toolcrib.Entry{Spec: toolcrib.Spec{Name: "write_file", Group: "fs", Effects: toolcrib.Reads | toolcrib.Writes}, Box: "files", Native: "write_file"}
}

// Writes is what [shellguard.Guard.Writes] wants, as far as mode and rules have a
// word: whether this caller may write the file with write_file unasked. What was
// granted and is protected is for the handles to say.
func (p *Policy) Writes(call toolcrib.Call, full string) error {
	input, err := json.Marshal(map[string]string{"path": full, "content": ""})
	if err != nil {
		return err
	}
	call.Tool, call.Input = "write_file", input
	r := toolcrib.Review{Call: call, Spec: WriteFile(), Input: input}
	fresh := *p
	fresh.cache, fresh.unread = nil, true // that of the command line is another one
	if v := fresh.judge(&r); v == nil || v.Decision != toolcrib.Allow {
		if v == nil || v.Reason == "" {
			return errors.New("nothing allows to write it")
		}
		return errors.New(v.Reason)
	}
	return nil
}

// Left is what the tools for files may touch in a call of this caller: all that there
// is, but what rules deny.
func (p *Policy) Left(call toolcrib.Call) toolcrib.Grant {
	r := toolcrib.Review{Call: call, Spec: WriteFile()}
	return *p.without(p.Rules.outOfReach(&r))
}
