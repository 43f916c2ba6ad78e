package terms

import (
	"io/fs"
	"syscall"
)

// changeTime is when a file, or what is known of it, was last changed.
func changeTime(info fs.FileInfo) int64 {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return stat.Ctim.Nano()
}
