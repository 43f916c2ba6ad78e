package ovosbox

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	maxName   = 64 // the longest name of a tool
	hashBytes = 8
)

// toolName is the name of a remote tool here: always <toolbox>__<tool>, so that
// a rule written for it means the same whichever other hosts are there. Where
// that would be no name, or the name of another, a hash of the two ends it.
func toolName(id, name string) string {
	whole := id + "__" + name
	plain := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, whole)
	if plain == whole && len(whole) <= maxName && oneSplit(id, name) {
		return whole
	}
	sum := sha256.Sum256([]byte(id + "\x00" + name))
	suffix := "_" + hex.EncodeToString(sum[:hashBytes])
	return plain[:min(len(plain), maxName-len(suffix))] + suffix
}

// oneSplit reports whether the two can be told apart once they are joined, and
// whether the result cannot be taken for one with a hash.
func oneSplit(id, name string) bool {
	if strings.Contains(id, "__") || strings.Contains(name, "__") || strings.HasSuffix(id, "_") || strings.HasPrefix(name, "_") {
		return false
	}
	whole := id + "__" + name
	end := whole[strings.LastIndexByte(whole, '_')+1:]
	_, err := hex.DecodeString(end)
	return len(end) != 2*hashBytes || err != nil
}
