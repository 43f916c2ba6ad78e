package release

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The files of a release that have no version in their names.
const (
	SumsFile      = "checksums.txt"
	SignatureFile = SumsFile + ".minisig"
	SSHFile       = SumsFile + ".sshsig"
)

// Program is what the program is called.
const Program = "toolcrib"

// Sums are the SHA-256 checksums of the files of one release, by their names.
type Sums map[string]string

// ParseSums reads checksums.txt, as sha256sum writes it. It is strict: a name is
// one plain file name and stands once.
func ParseSums(text []byte) (Sums, error) {
	sums := Sums{}
	for line := range strings.Lines(string(text)) {
		line, whole := strings.CutSuffix(line, "\n")
		sum, name, ok := strings.Cut(line, "  ")
		raw, err := hex.DecodeString(sum)
		if !whole || !ok || err != nil || len(raw) != 32 || strings.ToLower(sum) != sum || !plainName(name) {
			return nil, fmt.Errorf("%s: line %d is not a checksum and a file name", SumsFile, len(sums)+1)
		}
		if _, twice := sums[name]; twice {
			return nil, fmt.Errorf("%s: %s stands in it twice", SumsFile, name)
		}
		sums[name] = sum
	}
	if len(sums) == 0 {
		return nil, fmt.Errorf("%s is empty", SumsFile)
	}
	return sums, nil
}

// Text is what ParseSums reads, in the order of the names.
func (s Sums) Text() []byte {
	var out []byte
	for _, name := range slices.Sorted(maps.Keys(s)) {
		out = fmt.Appendf(out, "%s  %s\n", s[name], name)
	}
	return out
}

// Archive finds the archive for a system, and the version that its name says.
// There is exactly one: a list with two would leave the choice to whoever sent it.
func (s Sums) Archive(goos, goarch string) (name string, v Version, err error) {
	for file := range s {
		rest, ours := strings.CutPrefix(file, Program+"_")
		text, fits := strings.CutSuffix(rest, "_"+goos+"_"+goarch+suffix(goos))
		if !ours || !fits {
			continue
		}
		if name != "" {
			return "", Version{}, fmt.Errorf("%s has more than one archive for %s/%s", SumsFile, goos, goarch)
		}
		if v, err = ParseVersion("v" + text); err != nil {
			return "", Version{}, fmt.Errorf("%s: %s: %w", SumsFile, file, err)
		}
		name = file
	}
	if name == "" {
		return "", Version{}, errors.New("this release has no archive for " + goos + "/" + goarch)
	}
	return name, v, nil
}

// Name is what everything in a release for one system begins with.
func Name(v Version, goos, goarch string) string {
	return Program + "_" + strings.TrimPrefix(v.String(), "v") + "_" + goos + "_" + goarch
}

// ArchiveName is what the archive of a release for one system is called.
func ArchiveName(v Version, goos, goarch string) string { return Name(v, goos, goarch) + suffix(goos) }

// BinaryName is what the program is called on a system.
func BinaryName(goos string) string {
	if goos == "windows" {
		return Program + ".exe"
	}
	return Program
}

func suffix(goos string) string {
	if goos == "windows" {
		return ".zip"
	}
	return ".tar.gz"
}

// plainName: letters, digits and a few signs, so that a name can be joined to a
// directory or an address and stays one name there.
func plainName(name string) bool {
	if name == "" || len(name) > 200 || name[0] == '.' || name[0] == '-' {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._+-~", r)
	})
}
