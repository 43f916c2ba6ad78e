//go:build !unix

package config

import "io/fs"

// ownerOf is not known here: access is a matter of lists, not of one owner.
func ownerOf(fs.FileInfo) (uid, gid int, known bool) { return 0, 0, false }

// linksOf is not known here either.
func linksOf(fs.FileInfo) (links int, known bool) { return 0, false }
