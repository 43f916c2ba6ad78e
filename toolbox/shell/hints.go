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
	if exit.Code != 0 && exit.Sandbox == "linux" && slices.ContainsFunc(printed, traced) {
		notes = append(notes, "programs here cannot trace each other, which debuggers and sanitizers need: sandbox.debug: true in the configuration allows it; without it, leaks are not looked for with ASAN_OPTIONS=detect_leaks=0")
	}
	if exit.Code != 0 && b.cfg.Layers && slices.ContainsFunc(printed, crossed) {
		notes = append(notes, "this command worked on a layer (sandbox.layers), where a directory that was there before cannot be renamed by the system call: mv copies it instead; for git mv, use mv and then git add -A with both names")
	}
	return notes
}

// crossed: these are the words for EXDEV.
func crossed(text string) bool {
	return strings.Contains(text, "ross-device link") || strings.Contains(text, "EXDEV")
}

// moreTime says how a command gets more time than it had.
func (b *Box) moreTime(asked int) string {
	most := int(b.cfg.MaxTimeout / time.Second)
	if asked < most {
		return fmt.Sprintf("it was ended after %d s: the argument timeout of run_command gives it up to %d s; start_command runs it in the background for as long as toolboxes.shell.job_time allows", asked, most)
	}
	return fmt.Sprintf("it was ended after %d s, the most that toolboxes.shell.max_timeout allows: raise that setting, or use start_command, which has toolboxes.shell.job_time", most)
}

// traced: these are the words of gdb, strace, delve and the sanitizers where they may
// not trace, or not turn off address space randomization.
func traced(text string) bool {
	for _, words := range []string{
		"ptrace: Operation not permitted", "ptrace(PTRACE_TRACEME", "PTRACE_TRACEME: Operation not permitted", "Could not trace the inferior",
		"LeakSanitizer does not work under ptrace", "LeakSanitizer has encountered a fatal error", "could not launch process: fork/exec", "could not attach to pid",
		"unexpected memory mapping", "failed to set personality",
	} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}
