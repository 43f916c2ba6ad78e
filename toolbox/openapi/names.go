package openapi

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/toolcrib/toolcrib/toolbox/openapi/internal/spec"
)

const maxName = 64

// namer gives every operation a name of its own. A name depends on the operation and on the
// document, and not on the order of operations nor on which of them are wanted.
type namer struct {
	seen  map[string]int // by name in lower case: some systems ignore it
	taken map[string]bool
}

func newNamer() *namer { return &namer{seen: map[string]int{}, taken: map[string]bool{}} }

// count notes the name that an operation would like to have.
func (n *namer) count(o *spec.Operation) { n.seen[strings.ToLower(wish(o))]++ }

// of is the name of an operation.
func (n *namer) of(o *spec.Operation) string {
	name := wish(o)
	sum := sha256.Sum256([]byte(o.Method + " " + o.Path))
	digits := hex.EncodeToString(sum[:])
	if len(name) > maxName || n.seen[strings.ToLower(name)] > 1 {
		name = suffixed(name, digits[:8])
	}
	for size := 12; n.taken[strings.ToLower(name)] && size <= 40; size += 4 {
		name = suffixed(wish(o), digits[:size])
	}
	n.taken[strings.ToLower(name)] = true
	return name
}

func suffixed(name, suffix string) string {
	return strings.TrimRight(name[:min(len(name), maxName-1-len(suffix))], "_-") + "_" + suffix
}

// wish is the name without a suffix; it may be too long.
func wish(o *spec.Operation) string {
	if name := sanitised(o.ID); name != "" {
		return name
	}
	if name := sanitised(o.Path); name != "" {
		return strings.ToLower(o.Method) + "_" + name
	}
	if o.Path == "/" {
		return strings.ToLower(o.Method) + "_root"
	}
	return strings.ToLower(o.Method) + "_operation"
}

// sanitised keeps what every model API takes in a name.
func sanitised(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range s {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			if gap && b.Len() > 0 {
				b.WriteByte('_')
			}
			gap = false
			b.WriteRune(r)
			continue
		}
		gap = true
	}
	return strings.Trim(b.String(), "_-")
}
