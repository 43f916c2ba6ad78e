package sensitive

import "strings"

// maxCopies is how often a copy may have been copied: prod.env.bak~ is one of one.
const maxCopies = 3

// original gives the name without what editors and people add to the names of
// copies: .prod.env.swp and prod.env~ are as secret as prod.env. vim puts a dot
// before names that have none, so that then both are meant.
func original(name string) (stem string, dotted, found bool) {
	if in, ok := strings.CutPrefix(name, "#"); ok { // emacs, while a file is changed
		in, ok = strings.CutSuffix(in, "#")
		return in, false, ok
	}
	for _, mark := range []string{"___jb_tmp___", "___jb_old___"} { // JetBrains, while it is saved
		if stem, ok := strings.CutSuffix(name, mark); ok {
			return stem, false, true
		}
	}
	stem, ext, _ := cutLast(name)
	if strings.HasPrefix(ext, "set-aside-") || ext == "held-by-toolcrib" { // we ourselves
		return stem, false, true
	}
	switch ext := strings.ToLower(ext); {
	case len(ext) == 3 && ext[:2] == "sw" && 'a' <= ext[2] && ext[2] <= 'p', ext == "un~": // vim, while a file is open
		return stem, true, true
	case ext == "bak", ext == "backup", ext == "orig", ext == "save", ext == "old", ext == "tmp", ext == "copy":
		return stem, false, true
	case len(ext) > 1 && ext[0] == '~' && ext[len(ext)-1] == '~': // emacs with numbers
		return stem, false, true
	}
	stem, found = strings.CutSuffix(name, "~")
	return stem, false, found
}

// copied judges what an entry is a copy of.
func copied(name string, judge func(original string) bool) bool {
	for range maxCopies {
		stem, dotted, found := original(name)
		if !found || stem == "" {
			return false
		}
		if judge(stem) || dotted && stem[0] == '.' && judge(stem[1:]) {
			return true
		}
		name = stem
	}
	return false
}
