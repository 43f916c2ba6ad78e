//go:build unix

package container

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// watcher waits for a word of ours. If we end without one, however we end, it
// removes the container and the file with its variables. The engine may not have
// made the container by then, or not answer, so it is tried again a little later,
// until the engine says which one it has removed: for one that is not there many
// engines say nothing and succeed.
const watcher = `read -r word
rm -f -- "$3"
[ "$word" = ended ] && exit 0
for wait in 0 1 2 4 8; do
sleep "$wait"
removed=$("$1" rm --force --volumes "$2" 2>/dev/null) && [ -n "$removed" ] && exit 0
done
`

// watchEnd has a container end with us, also if we are killed: engines keep one
// whose client is gone. The function that it gives must be called in the end, with
// whether the container is gone. If it is not, the watcher goes on trying.
func (s *Sandbox) watchEnd(c spec) (ended func(gone bool), err error) {
	if s.shellMissing() {
		return func(bool) {}, nil
	}
	watch := exec.Command(s.shell, "-c", watcher, "sh", s.engine, c.name, c.envFile)
	watch.SysProcAttr = apart()
	ours, err := watch.StdinPipe()
	if err == nil {
		err = watch.Start()
	}
	if err != nil {
		return nil, sandbox.Unavailable("the process that removes a container if this one is killed could not be started", err)
	}
	return func(gone bool) {
		if !gone {
			_ = ours.Close()
			go func() { _ = watch.Wait() }()
			return
		}
		// Whatever fails here has the watcher remove what is gone.
		_, _ = ours.Write([]byte("ended\n"))
		_ = ours.Close()
		_ = watch.Wait()
	}, nil
}

// shellMissing: an image that holds little more than Toolcrib has none. What a
// killed Toolcrib leaves is then removed by the next one that is opened.
func (s *Sandbox) shellMissing() bool {
	_, err := os.Stat(s.shell)
	return errors.Is(err, fs.ErrNotExist)
}

// unwatched says so, once.
func (s *Sandbox) unwatched() []string {
	if !s.shellMissing() || s.told.Swap(true) {
		return nil
	}
	return []string{"there is no " + s.shell + " where Toolcrib runs: if Toolcrib is killed, its containers run on until the next start in which a container is used"}
}
