package shell

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
)

// hints say what to do about a command that ended because of where it ran.
func (b *Box) hints(exit toolcrib.Exit, asked int, printed ...string) (notes []string) {
	if exit.Cancelled {
		notes = append(notes, "it was cancelled by the person or program that asked for it, and ended before it was done: ask before you run it again")
	}
	if exit.TimedOut {
		notes = append(notes, b.moreTime(asked))
	}
	if exit.Code != 0 && b.onLayers() && slices.ContainsFunc(printed, crossed) {
		notes = append(notes, "this command worked on a layer (sandbox.layers), where a directory that was there before cannot be renamed by the system call: mv copies it instead; for git mv, use mv and then git add -A with both names")
	}
	if exit.Code != 0 && b.onLayers() && slices.ContainsFunc(printed, strangers) {
		notes = append(notes, "this command worked on a layer (sandbox.layers), where nobody but root can change a file of another owner or group, or make something in a directory of one: ask the person to give it their own group (chgrp)")
	}
	return notes
}

// crossed: these are the words for EXDEV.
func crossed(text string) bool {
	return strings.Contains(text, "ross-device link") || strings.Contains(text, "EXDEV")
}

// strangers: these are the words for EOVERFLOW, which the kernel has for files whose owner
// or group has no number in the sandbox.
func strangers(text string) bool {
	return strings.Contains(text, "alue too large for defined data type") || strings.Contains(text, "EOVERFLOW")
}

// moreTime says how a command gets more time than it had.
func (b *Box) moreTime(asked int) string {
	most := int(b.cfg.MaxTimeout / time.Second)
	if asked < most {
		return fmt.Sprintf("it was ended after %d s: the argument timeout of run_command gives it up to %d s; start_command runs it in the background for as long as toolboxes.shell.job_time allows", asked, most)
	}
	return fmt.Sprintf("it was ended after %d s, the most that toolboxes.shell.max_timeout allows: raise that setting, or use start_command, which has toolboxes.shell.job_time", most)
}
