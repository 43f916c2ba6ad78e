//go:build !windows

package setup

import (
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether a file belongs to this account.
func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
