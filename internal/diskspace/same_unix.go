//go:build linux || darwin

package diskspace

import "syscall"

// Same reports whether two directories lie on one disk.
func Same(a, b string) bool {
	var one, two syscall.Stat_t
	return syscall.Stat(a, &one) == nil && syscall.Stat(b, &two) == nil && one.Dev == two.Dev
}
