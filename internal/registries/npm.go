package registries

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// npm reads what npm config would say outside of every project. Only the variables
// that a person sets count (NPM_CONFIG_REGISTRY): those in small letters npm itself
// hands to what it starts, with the settings of the project it was started in.
func (r *reading) npm() {
	user := r.variable("NPM_CONFIG_USERCONFIG")
	if user == "" {
		user = r.home(".npmrc")
	}
	global := []string{r.variable("NPM_CONFIG_GLOBALCONFIG")}
	if global[0] == "" {
		global = []string{"/etc/npmrc", "/usr/etc/npmrc", "/usr/local/etc/npmrc"}
		if prefix := r.variable("NPM_CONFIG_PREFIX"); prefix != "" {
			global = append(global, filepath.Join(prefix, "etc", "npmrc"))
		}
	}
	set := map[string]string{}
	for _, path := range append(global, user) { // the last one counts
		for _, line := range lines(r.file(path)) {
			if key, value, ok := strings.Cut(line, "="); ok {
				set[strings.TrimSpace(key)] = r.expand(value)
			}
		}
	}
	registry := r.variable("NPM_CONFIG_REGISTRY")
	if registry == "" {
		registry = set["registry"]
	}
	if registry != "" {
		registry = r.configured(registry)
	}
	if registry != "" {
		r.env["NPM_CONFIG_REGISTRY"] = registry
	} else {
		r.wellKnown(known("npm")...)
	}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		if strings.HasPrefix(key, "@") && strings.HasSuffix(key, ":registry") && r.configured(set[key]) != "" {
			r.note("your npmrc has a registry for %s; programs see no file in your home, and no variable names it, so the project's .npmrc has to", strings.TrimSuffix(key, ":registry"))
		}
	}
	for _, key := range []string{"proxy", "https-proxy"} {
		if value := set[key]; value != "" && value != "null" {
			r.note("npm goes by a proxy of its own (%s), which is not used here: programs reach hosts from this machine directly", key)
		}
	}
}

// lines are the lines of a file of settings that say something.
func lines(text string) (out []string) {
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' && line[0] != ';' {
			out = append(out, line)
		}
	}
	return out
}

// expand puts variables into a value of an npmrc.
func (r *reading) expand(value string) string {
	value = strings.Trim(strings.TrimSpace(value), `"'`)
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(value, "${")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			return b.String() + "${" + rest
		}
		b.WriteString(r.variable(strings.TrimSuffix(name, "?")))
		value = after
	}
}
