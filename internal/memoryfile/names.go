package memoryfile

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// everyone is the folder of what is for all agents of a person. No name of an
// agent becomes it.
const everyone = "_"

// maxFolder is how long the name of a folder may be; longer ones end in a hash.
const maxFolder = 100

// folderOf is where the memory of a caller lies, with slashes: two elements, each
// of which is one name of a folder on every system.
func folderOf(c toolcrib.Caller, scope string) string {
	user := folderName(c.Subject)
	if c.Organisation != "" {
		user += "@" + folderName(c.Organisation) // no name has an @ of its own here
	}
	if scope == "user" || c.Agent == "" {
		return user + "/" + everyone
	}
	return user + "/" + folderName(c.Agent)
}

// folderName writes a name so that it is one folder and nothing else. Small
// letters, digits, - and _ stay; every other byte is written as %XX, capitals
// too, since some systems take A and a for one name.
func folderName(name string) string {
	if name == "" {
		return everyone
	}
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_' && name != everyone,
			c == '.' && i > 0 && i < len(name)-1:
			b.WriteByte(c)
		default:
			b.WriteString("%" + strings.ToUpper(hex.EncodeToString([]byte{c})))
		}
	}
	out := b.String()
	if reserved(out) { // a device of Windows, with whatever ending
		out = "%" + strings.ToUpper(hex.EncodeToString([]byte{out[0]})) + out[1:]
	}
	if len(out) > maxFolder {
		sum := sha256.Sum256([]byte(name))
		out = strings.TrimRight(out[:maxFolder-17], "%.") + "~" + hex.EncodeToString(sum[:8]) // no name has a ~ of its own
	}
	return out
}

func reserved(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	if len(stem) == 4 && (stem[:3] == "com" || stem[:3] == "lpt") {
		return stem[3] >= '0' && stem[3] <= '9'
	}
	return slices.Contains([]string{"con", "prn", "aux", "nul"}, stem)
}
