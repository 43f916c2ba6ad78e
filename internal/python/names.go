package python

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
)

// nameMost is how long the name of a server may be.
const nameMost = 48

// boxName makes a name that a server can have of an id that others chose. What had to
// be changed, but for the dots of a module, ends in a hash, so that two seldom meet; if
// they do, the second one is told.
func boxName(id string) string {
	var b strings.Builder
	for _, r := range id {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-':
			b.WriteRune(r)
		case r == '_' && !strings.HasSuffix(b.String(), "_"):
			b.WriteRune(r)
		case r == '.' || r == ' ' || r == '/' || r == ':':
			b.WriteByte('-')
		}
	}
	name := strings.Trim(b.String(), "_-")
	if name == id && len(name) <= nameMost && name != "" {
		return name
	}
	sum := sha256.Sum256([]byte(id))
	name = strings.Trim(name[:min(len(name), nameMost-9)], "_-")
	if name == "" {
		name = "box"
	}
	if plainModule := strings.ReplaceAll(id, ".", "-"); name == plainModule { // acme.tools is known by acme-tools
		return name
	}
	return name + "-" + hex.EncodeToString(sum[:4])
}

// boxOfFile is what the box of a file is called.
func boxOfFile(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

// moduleName: the names of a package and its parts, with dots between.
func moduleName(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		for i, r := range part {
			letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
			if !letter && (i == 0 || r < '0' || r > '9') {
				return false
			}
		}
		if part == "" {
			return false
		}
	}
	return len(s) <= 256
}
