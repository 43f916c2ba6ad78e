package config

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

const envPrefix = "TOOLCRIB_"

// envPatches decodes the environment. A variable with our prefix that no setting has is reported as a warning only: it
// may be meant for another version, or for a program started by this one.
func envPatches(root *field, environ, reserved []string, ps *problems) ([]*patch, []Warning) {
	values := map[string]string{}
	for _, entry := range environ {
		// Windows has entries such as =C:=C:\ that are no variables, and does not tell upper from lower case.
		name, value, ok := strings.Cut(entry, "=")
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name)
		}
		if ok && name != "" {
			values[name] = value
		}
	}

	var patches []*patch
	known := map[string]bool{"TOOLCRIB_HOME": true}
	for _, name := range reserved {
		known[name] = true
	}
	root.walk(func(f *field) {
		// What a reserved variable holds is somebody else's, and may be a key: it is not even looked at.
		if f.env == "" || f.env == "TOOLCRIB_HOME" || slices.Contains(reserved, f.env) {
			return
		}
		known[f.env] = true
		value, ok := values[f.env]
		if !ok {
			return
		}
		if p := envPatch(root, f, value, ps); p != nil {
			patches = append(patches, p)
		}
	})
	return patches, unknownVariables(values, known)
}

func envPatch(root, f *field, value string, ps *problems) *patch {
	p, err := keyPatch(root, f.key, value, Origin{Source: SourceEnv, Name: f.env})
	if err != nil {
		hint := ""
		if value == "" {
			hint = "; unset the variable if it is not meant to say anything"
		}
		ps.add(mark{}, f.key, "environment variable %s: %s%s", f.env, oneLine(err), hint)
		return nil
	}
	return p
}

func unknownVariables(values map[string]string, known map[string]bool) []Warning {
	var unknown, short []string
	for name := range known {
		// The prefix is common to all and says nothing.
		if rest, ok := strings.CutPrefix(name, envPrefix); ok {
			short = append(short, rest)
		}
	}
	slices.Sort(short)
	for name := range values {
		if strings.HasPrefix(name, envPrefix) && !known[name] {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	var warnings []Warning
	for _, name := range unknown {
		hint := ""
		if near := text.Nearest(strings.TrimPrefix(name, envPrefix), short); near != "" {
			hint = "; did you mean " + envPrefix + near + "?"
		}
		warnings = append(warnings, Warning{
			Message: fmt.Sprintf("environment variable %s sets nothing%s", clip(name), hint),
		})
	}
	return warnings
}
