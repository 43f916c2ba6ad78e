//go:build !windows

package vault

import (
	"io/fs"
	"os"
	"syscall"
)

const (
	// hasRights: files have an owner and a mode that say who reads them.
	hasRights = true
	noFollow  = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
)

func owner(info fs.FileInfo) (who uint32, ours bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return st.Uid, int(st.Uid) == os.Geteuid()
}

func links(info fs.FileInfo) uint64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return uint64(st.Nlink) //nolint:unconvert // it has another type on other systems
}
