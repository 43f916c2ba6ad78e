//go:build unix

package config

import (
	"io/fs"
	"syscall"
)

// ownerOf gives the user and the group a file belongs to.
func ownerOf(info fs.FileInfo) (uid, gid int, known bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(stat.Uid), int(stat.Gid), true
}

// linksOf gives how many names a file has.
func linksOf(info fs.FileInfo) (links int, known bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Nlink), true
}
