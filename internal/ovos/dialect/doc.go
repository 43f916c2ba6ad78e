// Package dialect lets callers of other systems use our tools by the names
// and shapes they know: OpenVoiceOS, AgenticX and OWL. An adapter is thin: it
// changes form, never meaning, and every rule written for the native tool
// holds for it because the crib judges and records the native side.
//
// Frontends import this package to show contracts and errors in a dialect;
// internal/app puts the adapters into the catalog.
package dialect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
)

// The dialects, as callers name them. Native is ours and is the empty
// Caller.Dialect.
const (
	Native   = "native"
	OVOS     = "ovos"
	AgenticX = "agenticx"
	OWL      = "owl"
)

// Names lists the dialects.
func Names() []string { return []string{Native, OVOS, AgenticX, OWL} }

// Parse turns a name as people write it into a Caller.Dialect.
func Parse(name string) (string, error) {
	switch name {
	case "", Native:
		return "", nil
	case OVOS, AgenticX, OWL:
		return name, nil
	}
	return "", fmt.Errorf("unknown dialect %q: want one of %s", name, strings.Join(Names(), ", "))
}

// Lenient reports whether callers of a dialect expect coercion and ignored
// extra arguments. OpenVoiceOS and AgenticX validate with pydantic in its lax
// mode; OWL calls a function of Python, which takes neither.
func Lenient(dialect string) bool { return dialect == OVOS || dialect == AgenticX }

// Options is what the adapters have to know of the native side to say things
// in the words of a dialect. They grant nothing.
type Options struct {
	// Root is the absolute path of the directory that relative names begin in:
	// other systems name files in their errors by absolute paths.
	Root string
	// MaxTimeout is the longest a command may run. Zero: 120 s, as in the box.
	MaxTimeout time.Duration
	// ReadOnly says that no directory is granted for writing, which is a part
	// of OpenVoiceOS's contract of write_file.
	ReadOnly bool
	// Home is the person's home directory, which OWL's rules are about. Empty:
	// they leave /tmp only.
	Home string

	tmp string // in place of /tmp, in tests
}

// Adapters lists every adapter of every dialect.
func Adapters(opt Options) []toolcrib.Adapter {
	opt.MaxTimeout = cmp.Or(opt.MaxTimeout, 120*time.Second)
	return noticed(slices.Concat(ovosAdapters(opt), agenticxAdapters(opt), owlAdapters(opt)))
}

// Tools gives every name that a dialect has for a tool, with the tool (box/native).
// It costs far less than the adapters, whose schemas are written anew each time.
func Tools(yield func(name, tool string) bool) {
	for _, t := range ovosTools(Options{}) {
		if !yield(t.name, t.box+"/"+t.native) {
			return
		}
	}
	for _, t := range agenticxTools(Options{}) {
		if !yield(t.name, t.box+"/"+t.native) {
			return
		}
	}
	for _, t := range owlTools(Options{}) {
		if !yield(t.name, t.box+"/"+t.native) {
			return
		}
	}
}

// Contract is a tool's contract in the form the dialect sends over its wire.
func Contract(dialect string, s toolcrib.Entry) any {
	switch dialect {
	case OVOS:
		return OVOSContract(s, OVOSBox(s.Box))
	case AgenticX, OWL:
		return functionContract(s)
	}
	return s
}

// ErrorText is a refusal in the words a dialect's callers look for. What they
// would not be told follows after a colon.
func ErrorText(dialect string, e *toolcrib.Error, box string) string {
	switch dialect {
	case OVOS:
		return OVOSError(e, OVOSBox(box))
	case AgenticX:
		return agenticxError(e)
	case OWL:
		return owlError(e)
	}
	return e.Message
}
