package config

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// OtherWriter says how a user other than the one of this process could have written a file, or put it where it is; "" if
// none could. Info is of the file as it was read. It asks for more than [FindProject] does: the file and every directory on
// the way to it belong to the user or to root, neither all users nor a group can write them, and the file has no second
// name. A group with the number of the owner counts as the owner alone, as most systems set it up. Lists of access are not
// looked at, and where they are all there is, a file counts as the user's own.
func OtherWriter(path string, info fs.FileInfo) string {
	if links, known := linksOf(info); known && links > 1 {
		return "it has another name elsewhere (a hard link)"
	}
	if text := writtenBy("it", info); text != "" {
		return text
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "its directory cannot be found"
	}
	for {
		info, err := os.Lstat(dir)
		if err != nil {
			return "its directory cannot be looked at"
		}
		if text := writtenBy(printable(dir), info); text != "" {
			return text
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// writtenBy says who else can write a file, or put files into a directory. In one such as /tmp everybody has their own.
func writtenBy(what string, info fs.FileInfo) string {
	uid, gid, known := ownerOf(info)
	if !known {
		return ""
	}
	shared := info.Mode().Perm()
	if info.IsDir() && info.Mode()&fs.ModeSticky != 0 {
		shared = 0
	}
	switch {
	case uid != 0 && uid != os.Geteuid():
		return fmt.Sprintf("%s belongs to user %d", what, uid)
	case shared&0o002 != 0:
		return what + " can be written by every user"
	case shared&0o020 != 0 && gid != uid:
		return fmt.Sprintf("%s can be written by group %d", what, gid)
	}
	return ""
}
