package reach

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// namedPlace is an argument of a tool that names files or a directory, which the tool reaches by
// its handle on files.
type namedPlace struct {
	name  string
	write bool // it is written, not only read
	link  bool // a link at its end is meant itself
}

// namedPlaces is the one list of the arguments of our tools that name files. A test holds it
// against every contract. What a tool has another one do is judged when that one is called.
func namedPlaces(spec *toolcrib.Entry) []namedPlace {
	effects := spec.Effects.All()
	changes := effects&(toolcrib.Writes|toolcrib.Destroys) != 0
	switch spec.Box {
	case "files":
		return []namedPlace{{name: "path", write: changes, link: effects&toolcrib.Destroys != 0}}
	case "shell":
		return []namedPlace{{name: "working_dir"}}
	case "lsp":
		return []namedPlace{{name: "file"}} // which other files a new name changes shows when it runs
	case "code":
		return []namedPlace{{name: "files"}, {name: "path", write: changes}}
	case mcphub.MetaName:
		return []namedPlace{{name: "source_path"}}
	}
	return nil
}

// pathsIn are the paths of an argument: one text, or a list. Empty is left out, as the tools
// take it.
func pathsIn(raw json.RawMessage) []string {
	var one string
	if json.Unmarshal(raw, &one) == nil && one != "" {
		return []string{one}
	}
	var list []string
	if json.Unmarshal(raw, &list) != nil {
		return nil // the contract was checked before: it is not there
	}
	return list
}
