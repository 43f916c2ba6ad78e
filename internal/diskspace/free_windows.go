package diskspace

import (
	"syscall"
	"unsafe"
)

func free(dir string) (uint64, error) {
	name, err := syscall.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var here uint64
	ask := syscall.NewLazyDLL("kernel32.dll").NewProc("GetDiskFreeSpaceExW")
	if ok, _, err := ask.Call(uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&here)), 0, 0); ok == 0 {
		return 0, err
	}
	return here, nil
}
