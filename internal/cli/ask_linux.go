package cli

import (
	"os"
	"syscall"
	"unsafe"
)

// columns is how wide a terminal is; 0: it does not say.
func columns(f *os.File) int {
	var size struct{ rows, columns, x, y uint16 }
	const tiocgwinsz = 0x5413
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), tiocgwinsz, uintptr(unsafe.Pointer(&size))); errno != 0 {
		return 0
	}
	return int(size.columns)
}
