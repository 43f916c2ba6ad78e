package terms

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
)

// Box is what is known of a toolbox besides its tools.
type Box struct {
	Own  bool // it is part of the program
	Many bool // several suppliers share its name, so that "all of it" is nobody in particular
	// SetUp is a fingerprint of what is started or asked under its name: what was
	// allowed of one server is not allowed of another that took its name.
	SetUp string
}

// wider says in which further ways the answer to a question that is no command may be
// remembered. Only what the mode asks about is: it asks about all that changes
// anything, so that it is what people tire of. What a rule of theirs, another guard or a
// skill wants asked, they want asked for a reason of its own.
//
// Of our own toolboxes, what runs programs or destroys is asked about for each call.
func wider(q toolcrib.Question, box Box) (ways []desk.By, dir string) {
	for _, v := range q.Reasons {
		if v.Decision == toolcrib.Ask && !v.Note && v.Guard != "mode" {
			return nil, ""
		}
	}
	const editing = toolcrib.Reads | toolcrib.Writes
	ours := box.Own
	switch {
	case ours && q.Spec.Box == "files" && q.Effects.Within(editing):
		if dir = parent(q.Places); dir != "" {
			ways = append(ways, desk.ByDirectory)
		}
		ways = append(ways, desk.ByTool)
	case ours && !q.Effects.Within(editing|toolcrib.Network):
	case ours:
		ways = append(ways, desk.ByTool)
	case box.Many:
		ways = append(ways, desk.ByTool)
	default:
		ways = append(ways, desk.ByTool, desk.ByServer)
	}
	return ways, dir
}

// parent is the directory that all places lie in; empty: there is none but the root
// of the file system, which nobody means.
func parent(places []string) string {
	var common []string
	for i, place := range places {
		if !filepath.IsAbs(place) {
			return ""
		}
		dir := strings.Split(filepath.Dir(filepath.Clean(place)), string(filepath.Separator))
		if i == 0 {
			common = dir
			continue
		}
		same := 0
		for same < min(len(common), len(dir)) && common[same] == dir[same] {
			same++
		}
		common = slices.Clone(common[:same])
	}
	dir := strings.Join(common, string(filepath.Separator))
	if dir == "" || dir == filepath.VolumeName(dir) || filepath.Dir(dir) == dir {
		return ""
	}
	return dir
}
