package files

import (
	"io/fs"
	"os"
	"syscall"
)

// namesOf tells how many names an open file has, which its FileInfo does not know
// here.
func namesOf(file *os.File, _ fs.FileInfo) (names uint64, ok bool) {
	conn, err := file.SyscallConn()
	if err != nil {
		return 0, false
	}
	var d syscall.ByHandleFileInformation
	if err := conn.Control(func(fd uintptr) { err = syscall.GetFileInformationByHandle(syscall.Handle(fd), &d); ok = err == nil }); err != nil {
		return 0, false
	}
	return uint64(d.NumberOfLinks), ok && d.NumberOfLinks > 0
}
