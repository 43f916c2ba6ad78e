package named

import (
	"bytes"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
)

// npx goes by what the packages of a project say that they are called, and by npm's
// list of what is installed. These read such files, of which whoever writes them
// decides every byte.

// maxManifest is the longest package.json that is read as what it says. In a longer one
// every mention of a name counts.
const maxManifest = 256 << 10

// Claims gives the names that npx looks for and that a package.json says it has, with who
// would run them: its own, those of its programs, and those that it gives to packages
// that lie elsewhere. What we cannot read may be read otherwise by npm, so that every
// mention counts there.
func (t Taken) Claims(manifest []byte) map[string]string {
	out := map[string]string{}
	if !t.mentioned(manifest) {
		return out
	}
	fields, ok := jsonObject(manifest)
	if !ok || len(manifest) > maxManifest {
		t.addMentioned(manifest, out)
	}
	claim := func(name string) {
		name = strings.TrimSpace(name)
		if by := t.Packages[name]; by != "" {
			out[name] = by
		} else if by := t.Bins[name]; by != "" {
			out[name] = by
		}
	}
	claim(jsonText(fields["name"]))
	for _, raw := range fields { // npm asks for packageName, too
		if name := jsonText(raw); t.Packages[name] != "" {
			claim(name)
		}
	}
	for _, key := range []string{"dependencies", "devDependencies", "optionalDependencies"} {
		needs, _ := jsonObject(fields[key])
		for name, raw := range needs {
			if t.Packages[name] != "" && strings.ContainsAny(jsonText(raw), `:/\`) { // elsewhere than in the registry, or another one
				claim(name)
			}
		}
	}
	programs(fields, claim)
	return out
}

// programs gives the names of a package's programs, which npm takes in three forms.
func programs(fields map[string]json.RawMessage, claim func(name string)) {
	bins, _ := jsonObject(fields["bin"])
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
	if jsonText(fields["bin"]) != "" {
		claim(path.Base(jsonText(fields["name"])))
	}
}

// Locked gives the names that npx looks for and that npm's list of what is installed
// gives to a package. Where no name stands, npm takes that of the directory. A list that
// begins as one and cannot be read may say anything; of a part of one every mention counts.
func (t Taken) Locked(list []byte) map[string]string {
	out := map[string]string{}
	fields, ok := jsonObject(list)
	packages, listed := jsonObject(fields["packages"])
	switch whole := bytes.HasPrefix(bytes.TrimSpace(withoutMark(list)), []byte("{")) && len(list) < maxList; {
	case len(bytes.TrimSpace(list)) == 0: // npm does without it
	case !ok && !whole:
		t.addMentioned(list, out)
	case !ok, !listed && len(fields["packages"]) > 0:
		maps.Copy(out, t.Packages)
	}
	for at, raw := range packages {
		entry, _ := jsonObject(raw)
		name := strings.TrimSpace(jsonText(entry["name"]))
		if name == "" {
			name = folderName(path.Clean(at))
		}
		if by := t.Packages[name]; by != "" {
			out[name] = by
		}
	}
	return out
}

// maxList is how long a list may be to be taken for a whole one: a longer one is looked at in
// parts of this size and more.
const maxList = 1 << 20

// mentioned: a text has one of the names, or an escape that may stand for a letter.
func (t Taken) mentioned(text []byte) bool {
	if bytes.IndexByte(text, '\\') >= 0 {
		return true
	}
	for _, list := range []map[string]string{t.Packages, t.Bins} {
		for name := range list {
			if bytes.Contains(text, []byte(path.Base(name))) {
				return true
			}
		}
	}
	return false
}

// addMentioned adds the names that stand anywhere in a text, or may.
func (t Taken) addMentioned(text []byte, out map[string]string) {
	escaped := bytes.Contains(text, []byte(`\u`))
	for _, list := range []map[string]string{t.Bins, t.Packages} {
		for name, by := range list {
			if escaped || !slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return !bytes.Contains(text, []byte(part)) }) {
				out[name] = by
			}
		}
	}
}

// PartsOf gives the patterns by which a package.json names other packages as its parts.
func PartsOf(manifest []byte) (patterns []string) {
	if len(bytes.TrimSpace(manifest)) == 0 {
		return nil
	}
	fields, ok := jsonObject(manifest)
	if !ok {
		return []string{"**"} // npm may read it otherwise
	}
	raw := fields["workspaces"]
	if inner, ok := jsonObject(raw); ok {
		raw = inner["packages"]
	}
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list) // npm takes no other form
	for _, raw := range list {
		if text := strings.TrimLeft(jsonText(raw), "!"); text != "" {
			patterns = append(patterns, text)
		}
	}
	return patterns
}

// ProgramDir gives the directory of which a package.json says that every file in it is
// a program of the package, relative to it; empty if it names none.
func ProgramDir(manifest []byte) string {
	fields, _ := jsonObject(manifest)
	inner, _ := jsonObject(fields["directories"])
	if dir := jsonText(inner["bin"]); dir != "" {
		return path.Join(".", path.Join("/", slashed(dir)))
	}
	return ""
}

// slashed is how npm reads a path in a package.
func slashed(text string) string { return strings.NewReplacer(`\`, "/", ":", "/").Replace(text) }

// folderName is the name of a package in a directory, with its scope.
func folderName(at string) string {
	if scope := path.Base(path.Dir(at)); strings.HasPrefix(scope, "@") {
		return scope + "/" + path.Base(at)
	}
	return path.Base(at)
}

// jsonObject reads JSON with names as they are: those of Go's structs are found in any
// case.
func jsonObject(text []byte) (map[string]json.RawMessage, bool) {
	var fields map[string]json.RawMessage
	err := json.Unmarshal(withoutMark(text), &fields)
	return fields, err == nil
}

func withoutMark(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\ufeff")) }

func jsonText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}
