package clientfiles

import "slices"

// SwitchedOff lists the servers that other settings of a client switch off, by
// name: Claude Code keeps there which servers of a project's .mcp.json a person
// has refused, and Copilot CLI which ones are disabled. Project is the directory
// whose servers are meant.
func SwitchedOff(text []byte, project string) ([]string, error) {
	root, _, err := parseJSONC(text)
	if err != nil {
		return nil, err
	}
	return namesUnder(root, project, "disabledMcpServers", "disabledMcpjsonServers", "disabled_mcp_servers"), nil
}

// namesUnder gives the names in lists at the top of a file, and in those that it
// keeps for one project.
func namesUnder(root value, project string, keys ...string) (names []string) {
	places := []value{root}
	if of, ok := root.at([]string{"projects", project}); ok && project != "" {
		places = append(places, of)
	}
	for _, v := range places {
		for _, key := range keys {
			list, _ := v.get(key)
			names = append(names, textsOf(list)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
