//go:build unix

package container

import (
	"os/exec"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// watcher waits for a word of ours. If we end without one, however we end, it
// removes the container and the file with its variables. The engine may not have
// made the container by then, so it is removed again a little later.
const watcher = `read -r word
rm -f -- "$3"
[ "$word" = ended ] && exit 0
for wait in 0 1 2 4 8; do sleep "$wait"; "$1" rm --force --volumes "$2" >/dev/null 2>&1; done
`

// watchEnd has a container end with us, also if we are killed: engines keep one
// whose client is gone. The function that it gives must be called when the
// container has ended.
func (s *Sandbox) watchEnd(c spec) (ended func(), err error) {
	watch := exec.Command("/bin/sh", "-c", watcher, "sh", s.engine, c.name, c.envFile)
	watch.SysProcAttr = apart()
	ours, err := watch.StdinPipe()
	if err == nil {
		err = watch.Start()
	}
	if err != nil {
		return nil, sandbox.Unavailable("the process that removes a container if this one is killed could not be started", err)
	}
	return func() {
		// Whatever fails here has the watcher remove what is gone.
		_, _ = ours.Write([]byte("ended\n"))
		_ = ours.Close()
		_ = watch.Wait()
	}, nil
}
