//go:build linux || darwin

package diskspace

import (
	"errors"
	"syscall"
)

func free(dir string) (uint64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, err
	}
	if st.Blocks == 0 { // a network or a program stands behind it, and does not say how much fits
		return 0, errors.ErrUnsupported
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil //nolint:gosec,unconvert // neither is negative; the types differ from system to system
}
