package gitchange

import (
	"regexp"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/gitobject"
)

// place is what a name in a Git directory stands for. The zero value is everything
// that is not listed here: settings, hooks, attributes, modules, work trees,
// alternates, what is left of a rebase. Git and other programs obey that.
type place uint8

const (
	others place = iota
	folder       // of what follows
	object       // a loose one
	pack         // or its index
	ref
	packedRefs
	head
	pseudo  // a file with the name of a commit, such as ORIG_HEAD
	index   // what will be committed
	message // a text that a person gets to see
	log     // what a ref was before
)

// placeOf tells what a name stands for. Git's spelling counts: on a file system that
// takes other ones for the same, they are others.
func placeOf(name string) place {
	switch name {
	case "HEAD":
		return head
	case "index":
		return index
	case "packed-refs":
		return packedRefs
	case "ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "AUTO_MERGE":
		return pseudo
	case "FETCH_HEAD", "COMMIT_EDITMSG", "MERGE_MSG", "SQUASH_MSG", "TAG_EDITMSG", "NOTES_EDITMSG", "MERGE_MODE":
		return message
	case "objects", "objects/pack", "logs":
		return folder
	case "logs/HEAD":
		return log
	}
	switch rest, logged := strings.CutPrefix(name, "logs/"); {
	case rest == "refs", slices.Contains(refKinds(), rest+"/"):
		return folder
	case isRef(rest) && logged:
		return log
	case isRef(name):
		return ref
	}
	if _, ok := gitobject.ParseLooseName(name); ok {
		return object
	}
	if looseFolder.MatchString(name) {
		return folder
	}
	if _, ok := packStem(name); ok {
		return pack
	}
	return others
}

var (
	looseFolder = regexp.MustCompile(`^objects/[0-9a-f]{2}$`)
	packName    = regexp.MustCompile(`^objects/pack/(pack-[0-9a-f]{40})\.(?:pack|idx)$`)
)

// Adds tells whether a name in a Git directory is that of objects, or of a directory that has
// nothing but objects: something new there changes nothing by itself.
func Adds(name string) bool {
	switch placeOf(name) {
	case object, pack:
		return true
	}
	return looseFolder.MatchString(name) || name == "objects/pack"
}

// packStem gives the name of the pack that a file belongs to.
func packStem(name string) (string, bool) {
	m := packName.FindStringSubmatch(name)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// refKinds are where refs lie that git goes by as people expect it. Those below
// refs/replace, for one, put other objects in the place of what was asked for.
func refKinds() []string {
	return []string{"refs/heads/", "refs/tags/", "refs/remotes/", "refs/notes/"}
}

// isRef tells whether a name is one that git gives to such a ref.
func isRef(name string) bool {
	if name == stash {
		return true
	}
	i := slices.IndexFunc(refKinds(), func(kind string) bool { return strings.HasPrefix(name, kind) && len(name) > len(kind) })
	return i >= 0 && properRef(name)
}

const stash = "refs/stash"

// properRef tells whether git would take a name for a ref: no part is empty, begins
// with a dot or ends with .lock, and none has what its own words are made of.
func properRef(name string) bool {
	if strings.ContainsAny(name, " ~^:?*[\\\x7f") || strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.HasSuffix(name, ".") || len(name) > maxRefName {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") || strings.ContainsFunc(part, func(r rune) bool { return r < ' ' }) {
			return false
		}
	}
	return true
}

const maxRefName = 1024
