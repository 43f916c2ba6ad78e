//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// paintable makes a terminal understand sequences, which it does here.
func paintable(*os.File) (undo func(), err error) { return func() {}, nil }

// watchSize tells that the terminal has another size.
func watchSize(*os.File) (resized <-chan struct{}, stop func()) {
	changed, told, done := make(chan os.Signal, 1), make(chan struct{}, 1), make(chan struct{})
	signal.Notify(changed, syscall.SIGWINCH)
	go func() {
		for {
			select {
			case <-changed:
				select {
				case told <- struct{}{}:
				default:
				}
			case <-done:
				return
			}
		}
	}()
	return told, func() {
		signal.Stop(changed)
		close(done)
	}
}
