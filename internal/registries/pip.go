package registries

import (
	"maps"
	"slices"
	"strings"
)

// pip reads what pip config would say outside of every virtual environment.
func (r *reading) pip() {
	var paths []string
	switch file := r.variable("PIP_CONFIG_FILE"); file {
	case "/dev/null":
	default:
		paths = []string{"/etc/xdg/pip/pip.conf", "/etc/pip.conf", r.home(".pip", "pip.conf"), r.configDir("pip", "pip.conf"), file}
	}
	set := map[string]string{}
	for _, path := range paths { // the last one counts
		readINI(r.file(path), set)
	}
	for key, names := range map[string][]string{
		"index-url": {"PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL"}, "extra-index-url": {"PIP_EXTRA_INDEX_URL", "UV_EXTRA_INDEX_URL"}, "find-links": {"PIP_FIND_LINKS"},
	} {
		for _, name := range names {
			if value := r.variable(name); value != "" {
				set[key] = value
				break
			}
		}
	}
	index := ""
	if set["index-url"] != "" {
		index = r.configured(set["index-url"])
	}
	switch {
	case index == "":
		r.wellKnown(known("pip")...)
	default:
		r.env["PIP_INDEX_URL"], r.env["UV_DEFAULT_INDEX"] = index, index
		if strings.Contains(index, "//pypi.org/") {
			r.configured("https://files.pythonhosted.org") // where that one has its files
		}
	}
	lists := map[string]string{"extra-index-url": "PIP_EXTRA_INDEX_URL", "find-links": "PIP_FIND_LINKS"}
	for _, key := range slices.Sorted(maps.Keys(lists)) {
		name := lists[key]
		var all []string
		for address := range strings.FieldsSeq(set[key]) {
			if strings.Contains(address, "://") {
				if address = r.configured(address); address != "" {
					all = append(all, address)
				}
			}
		}
		if len(all) > 0 {
			r.env[name] = strings.Join(all, " ")
		}
	}
	if set["proxy"] != "" || r.variable("PIP_PROXY") != "" {
		r.note("pip goes by a proxy of its own, which is not used here: programs reach hosts from this machine directly")
	}
}

// readINI reads the sections of a pip.conf that are about installing. A value may go
// on in further lines that begin with a blank.
func readINI(text string, set map[string]string) {
	section, key := "", ""
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimSpace(line)
		switch {
		case bare == "" || bare[0] == '#' || bare[0] == ';':
		case bare[0] == '[':
			section, key = strings.Trim(bare, "[]"), ""
		case (line[0] == ' ' || line[0] == '\t') && key != "":
			set[key] = strings.TrimSpace(set[key] + " " + bare)
		case section == "global" || section == "install" || section == "download" || section == "wheel":
			name, value, ok := strings.Cut(bare, "=")
			if !ok {
				name, value, ok = strings.Cut(bare, ":")
			}
			if key = ""; ok {
				key = strings.ReplaceAll(strings.TrimSpace(strings.ToLower(name)), "_", "-")
				set[key] = strings.TrimSpace(value)
			}
		default:
			key = ""
		}
	}
}
