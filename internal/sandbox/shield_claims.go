package sandbox

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"strings"

	"github.com/toolcrib/toolcrib/internal/named"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

const (
	maxLockfile = 32 << 20
	maxPatterns = 64  // of workspaces
	maxOfOne    = 100 // places of packages that npx looks for
)

// claims gives the names that npx looks for and that a package says it has: its
// own, and those of its programs. What we cannot read may say anything: npm reads
// files of every length.
func claims(manifest, dir string, t named.Taken) map[string]string {
	out := map[string]string{}
	text, err := plainfile.Read(manifest, maxManifest)
	switch {
	case errors.Is(err, fs.ErrNotExist), isNotDir(err):
		return nil
	case err != nil:
		maps.Copy(out, t.Bins)
		maps.Copy(out, t.Packages)
		return out
	}
	claim := func(name string) {
		name = strings.TrimSpace(name)
		if by := t.Packages[name]; by != "" {
			out[name] = by
		} else if by := t.Bins[name]; by != "" {
			out[name] = by
		}
	}
	fields, ok := object(text)
	if !ok { // npm may read it otherwise
		for _, list := range []map[string]string{t.Packages, t.Bins} {
			for name := range list {
				if strings.Contains(string(text), name) || strings.Contains(string(text), `\u`) {
					claim(name)
				}
			}
		}
		return out
	}
	claim(textOf(fields["name"]))
	for _, raw := range fields { // npm asks for packageName, too
		if name := textOf(raw); t.Packages[name] != "" {
			claim(name)
		}
	}
	binNames(fields, claim)
	if inner, _ := object(fields["directories"]); textOf(inner["bin"]) != "" {
		left := maxListed
		_ = filepath.WalkDir(filepath.Join(dir, filepath.FromSlash(path.Join("/", slashed(textOf(inner["bin"]))))), func(at string, _ fs.DirEntry, err error) error {
			if left--; err != nil || left < 0 {
				return fs.SkipAll
			}
			claim(filepath.Base(at))
			return nil
		})
	}
	return out
}

// binNames gives the names of a package's programs, which npm takes in three forms.
func binNames(fields map[string]json.RawMessage, claim func(name string)) {
	bins, _ := object(fields["bin"])
	for bin := range bins {
		claim(bin)
		claim(path.Base(slashed(bin)))
	}
	var list []string
	if json.Unmarshal(fields["bin"], &list) == nil {
		for _, bin := range list {
			claim(path.Base(slashed(bin)))
		}
	}
	if textOf(fields["bin"]) != "" {
		claim(path.Base(textOf(fields["name"])))
	}
}

// slashed is how npm reads a path in a package.
func slashed(text string) string { return strings.NewReplacer(`\`, "/", ":", "/").Replace(text) }

// lockedName gives a name that npx looks for and that npm's list of what is
// installed gives to a package which does not say so itself; empty if there is
// none. Where no name stands, npm takes that of the directory. A list that we
// cannot read may say anything; npm does without it.
func lockedName(dir string, t named.Taken) string {
	text, err := plainfile.Read(hiddenLock(dir), maxLockfile)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	fields, ok := object(text)
	packages, listed := object(fields["packages"])
	if err != nil || !ok || !listed && len(fields["packages"]) > 0 {
		for name := range t.Packages {
			return name
		}
	}
	left := maxOfOne
	for at, raw := range packages {
		entry, _ := object(raw)
		at = path.Clean(at)
		name := strings.TrimSpace(textOf(entry["name"]))
		if name == "" {
			name = folderName(at)
		}
		if t.Packages[name] == "" {
			continue
		}
		place := filepath.Join(dir, filepath.FromSlash(at))
		if left--; left < 0 || claims(filepath.Join(place, manifestName), place, t)[name] == "" {
			return name
		}
	}
	return ""
}

// hiddenLock is where npm keeps that list.
func hiddenLock(dir string) string { return filepath.Join(dir, modules, ".package-lock.json") }

// folderName is the name of a package in a directory, with its scope.
func folderName(at string) string {
	if scope := path.Base(path.Dir(at)); strings.HasPrefix(scope, "@") {
		return scope + "/" + path.Base(at)
	}
	return path.Base(at)
}

// workspacesOf gives the patterns by which a package names others as its parts.
func workspacesOf(manifest string) []string {
	text, err := plainfile.Read(manifest, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	fields, ok := object(text)
	if err != nil || !ok {
		return []string{"**"} // npm may read it otherwise
	}
	raw := fields["workspaces"]
	if inner, ok := object(raw); ok {
		raw = inner["packages"]
	}
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list) // npm takes no other form
	var patterns []string
	for _, raw := range list {
		if text := strings.TrimLeft(textOf(raw), "!"); text != "" {
			patterns = append(patterns, text)
		}
	}
	return patterns
}

// object reads JSON with names as they are: those of Go's structs are found in
// any case.
func object(text []byte) (map[string]json.RawMessage, bool) {
	var fields map[string]json.RawMessage
	err := json.Unmarshal([]byte(strings.TrimPrefix(string(text), "\ufeff")), &fields)
	return fields, err == nil
}

func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}
