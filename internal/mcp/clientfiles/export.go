package clientfiles

import (
	"fmt"
	"strings"
)

// Export writes servers as a file of a client. The texts say what that client
// cannot hold and was therefore left out or changed; secrets are never written,
// only where they have to be put. The file has every server that the texts do
// not name as left out.
func Export(client string, servers []Server) ([]byte, []string, error) {
	cl, ok := clientOf(client)
	if !ok {
		return nil, nil, unknownClient(client)
	}
	cl = cl.forText(nil)
	x := &encoder{client: cl}
	table := value{kind: kindTable}
	for _, s := range servers {
		if table.index(s.Name) >= 0 {
			return nil, nil, fmt.Errorf("exporting to %s: two servers are called %s", cl.title, show(s.Name))
		}
		if v, ok := x.server(s); ok {
			table.put(s.Name, v)
		}
	}
	switch cl.format {
	case formatTOML:
		var b strings.Builder
		for i, f := range table.fields {
			if i > 0 {
				b.WriteString("\n")
			}
			b.WriteString(tomlTableText([]string{"mcp_servers", f.name}, f.value, "\n") + "\n")
		}
		return []byte(b.String()), x.lost, nil
	case formatYAML:
		root := value{kind: kindTable}
		root.put(cl.paths[0][0], table)
		return []byte(strings.Join(yamlLines(root, "", "  "), "\n") + "\n"), x.lost, nil
	case formatJSON:
	}
	root := newRoot(cl)
	if ids := x.inputs; len(ids) > 0 {
		root.put("inputs", inputs(ids))
	}
	root.put(cl.paths[0][0], table)
	return []byte(style{unit: "  ", eol: "\n"}.json(root, "") + "\n"), x.lost, nil
}

func unknownClient(name string) error {
	return fmt.Errorf("the client %s is not known; known are %s", show(name), strings.Join(Clients(), ", "))
}

// newRoot gives what a new file needs beside its servers.
func newRoot(cl client) value {
	root := value{kind: kindTable}
	if cl.name == AgentPlugins {
		root.put("$schema", textValue(pluginSchema))
	}
	return root
}

// inputs makes VS Code ask for each secret once, hidden while it is typed.
func inputs(ids []string) value {
	list := value{kind: kindList}
	seen := map[string]bool{}
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		v := value{kind: kindTable}
		v.put("type", textValue("promptString"))
		v.put("id", textValue(id))
		v.put("description", textValue(id))
		v.put("password", boolValue(true))
		list.list = append(list.list, v)
	}
	return list
}
