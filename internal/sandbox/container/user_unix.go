//go:build unix

package container

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// apart keeps the engine's client from the signals of our terminal.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// mayWrite tells whether the user inside may write to a directory.
func (s *Sandbox) mayWrite(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	mode := info.Mode().Perm()
	if s.rootless == "mapped" { // inside we are a number that owns nothing here
		return mode&0o003 == 0o003
	}
	uid, gid, _ := strings.Cut(s.cfg.User, ":")
	switch {
	case strconv.FormatUint(uint64(st.Uid), 10) == uid:
		return mode&0o300 == 0o300
	case strconv.FormatUint(uint64(st.Gid), 10) == gid:
		return mode&0o030 == 0o030
	}
	return mode&0o003 == 0o003
}
