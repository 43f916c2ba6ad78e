package bundle

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/text"
)

// The bounds of names and paths.
const (
	maxName = 64
	maxPath = 512
)

// CheckName refuses a name that cannot be that of a folder on every system, or that
// looks like another one. Packages, servers, agents and templates all become names of
// files or of tools.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("a name is missing")
	case len(name) > maxName:
		return fmt.Errorf("the name %q is longer than %d letters", text.ShowLine(text.ClipRunes(name, 40)), maxName)
	}
	for i := range len(name) {
		c := name[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !plain && (c != '-' && c != '_' && c != '.' || i == 0 || i == len(name)-1) {
			return fmt.Errorf("the name %q has other signs than letters, digits and - _ . between them", text.ShowLine(name))
		}
	}
	if strings.Contains(name, "..") || reservedName(name) {
		return fmt.Errorf("the name %q cannot be that of a folder", text.ShowLine(name))
	}
	return nil
}

// reservedName: Windows means a device by it, whatever follows a dot.
func reservedName(name string) bool {
	base, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch base {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	if len(base) == 4 && (strings.HasPrefix(base, "com") || strings.HasPrefix(base, "lpt")) {
		return base[3] >= '0' && base[3] <= '9'
	}
	return false
}

// CheckPath gives a path in a package in its plain form, with slashes and without a
// leading "./". A path that leads out, or that means something else on another system,
// is refused.
func CheckPath(name string) (string, error) {
	refuse := func(why string) (string, error) {
		return "", fmt.Errorf("the path %q %s", text.ShowLine(text.ClipRunes(name, 80)), why)
	}
	clean := path.Clean(name)
	switch {
	case name == "":
		return refuse("is empty")
	case len(name) > maxPath:
		return refuse("is too long")
	case !utf8.ValidString(name):
		return refuse("is not UTF-8")
	case strings.ContainsAny(name, "\\:*?\"<>|") || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || text.Invisible(r) }):
		return refuse("has signs that not every system takes")
	case path.IsAbs(name) || clean == ".." || strings.HasPrefix(clean, "../"):
		return refuse("leads out of the package")
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "..":
			return refuse("goes up a folder")
		case part == "." || part == "":
		case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") || strings.HasPrefix(part, " "):
			return refuse("has a part that ends in a dot or begins or ends in a space")
		case reservedName(part):
			return refuse("has a part that is a device on Windows")
		}
	}
	return clean, nil
}

// PartName is what a server or an agent of a package is called beside those of others, and
// what people write in rules and after --agent. Dots are no part of the name of a server.
func PartName(packageName, part string) string {
	called := packageName + "-" + part
	if packageName == part {
		called = part
	}
	called = strings.ReplaceAll(called, ".", "-")
	for strings.Contains(called, "__") {
		called = strings.ReplaceAll(called, "__", "_")
	}
	return called
}
