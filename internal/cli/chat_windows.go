package cli

import (
	"os"
	"syscall"
	"time"
)

// paintable makes the console understand sequences.
func paintable(out *os.File) (undo func(), err error) {
	const sequences = 0x4
	set := syscall.NewLazyDLL("kernel32.dll").NewProc("SetConsoleMode")
	var was uint32
	console := syscall.Handle(out.Fd())
	if err := syscall.GetConsoleMode(console, &was); err != nil {
		return nil, err
	}
	if ok, _, err := set.Call(uintptr(console), uintptr(was|sequences)); ok == 0 {
		return nil, err
	}
	return func() { _, _, _ = set.Call(uintptr(console), uintptr(was)) }, nil
}

// watchSize looks at the size, since no signal tells of it here.
func watchSize(out *os.File) (resized <-chan struct{}, stop func()) {
	told, done := make(chan struct{}, 1), make(chan struct{})
	go func() {
		w, h := terminalSize(out)
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			if nw, nh := terminalSize(out); nw != w || nh != h {
				w, h = nw, nh
				select {
				case told <- struct{}{}:
				default:
				}
			}
		}
	}()
	return told, func() { close(done) }
}
