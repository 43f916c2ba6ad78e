package shellguard

import (
	"path"
	"slices"
	"strings"
)

// withoutHidden leaves out the files whose leading dot only a wildcard would match: to
// sh and bash, "*" does not mean .env.
func withoutHidden(pattern string, files []string) []string {
	if strings.Contains(pattern, "..") || strings.Contains(pattern, "…") {
		return files // elements that may stand for others
	}
	want := strings.Split(path.Clean(pattern), "/")
	return slices.DeleteFunc(slices.Clone(files), func(file string) bool {
		elems := strings.Split(path.Clean(file), "/")
		if len(elems) != len(want) {
			return false
		}
		for i, e := range elems {
			if strings.HasPrefix(e, ".") && !strings.HasPrefix(want[i], ".") {
				return true
			}
		}
		return false
	})
}

// matchesHidden: the patterns of the line may mean hidden files too. A client's shell
// has the options of its user, and a line can set them.
func (l *Line) matchesHidden(opt *Options) bool {
	if opt.UserShell {
		return true
	}
	text := strings.ToLower(strings.NewReplacer("'", "", `"`, "", `\`, "").Replace(l.Text))
	return strings.Contains(text, "glob") || strings.Contains(text, "shopt")
}
