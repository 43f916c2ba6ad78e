package toolname

import (
	"crypto/sha256"
	"encoding/hex"
)

// Max is the longest name that every model API accepts.
const Max = 64

// Valid reports whether every model API accepts a name.
func Valid(name string) bool {
	if name == "" || len(name) > Max {
		return false
	}
	for i := range len(name) {
		switch b := name[i]; {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', b == '_', b == '-':
		default:
			return false
		}
	}
	return true
}

// InBox is <box>__<wanted>, cut to what every model API accepts.
func InBox(box, native, wanted string) string {
	if name := box + separator + wanted; len(name) <= Max {
		return name
	}
	return Last(box, native, wanted)
}

// Last is the name only this tool can come to: it ends in a hash of where the tool
// comes from.
func Last(box, native, wanted string) string {
	sum := sha256.Sum256([]byte(box + "\x00" + native + "\x00" + wanted))
	suffix := "_" + hex.EncodeToString(sum[:6])
	name := box + separator + wanted
	return name[:min(len(name), Max-len(suffix))] + suffix
}

// Wish is a name that a tool wants.
type Wish struct {
	Box, Native, Wanted string
	Name                string // what it is called so far, and in the end
	Fixed               bool   // it is part of a dialect, and stays
}

// Settle settles collisions: every tool that wants a taken name becomes
// box__tool, all of them, so that no order of loading decides who keeps it.
// Names that collide even then end in a hash; one that merely bears such a name has
// to give way.
func Settle(wishes []Wish) {
	rename := func(to func(box, native, wanted string) string) (changed bool) {
		count := map[string]int{}
		for _, w := range wishes {
			count[w.Name]++
		}
		for i := range wishes {
			w := &wishes[i]
			if name := to(w.Box, w.Native, w.Wanted); count[w.Name] > 1 && !w.Fixed && w.Name != name {
				w.Name, changed = name, true
			}
		}
		return changed
	}
	rename(InBox)
	for rename(Last) {
		// Each round gives at least one tool its last name, so this ends.
	}
}
