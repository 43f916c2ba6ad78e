package worker

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/codemode"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == Word {
		be(Limits{Memory: 16 << 20}) // less than there is usually: what fills it takes its time
	}
	os.Exit(m.Run())
}

// processes starts workers that are processes, and knows when they are gone.
type processes struct {
	mu   sync.Mutex
	gone []chan struct{}
	cmds []*exec.Cmd
}

func (p *processes) start(ctx context.Context) (*codemode.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, os.Args[0], Word)
	cmd.Env = []string{"GOMEMLIMIT=160MiB", "GOTRACEBACK=none"}
	to, err := cmd.StdinPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	from, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, err
	}
	gone := make(chan struct{})
	p.mu.Lock()
	p.gone, p.cmds = append(p.gone, gone), append(p.cmds, cmd)
	p.mu.Unlock()
	var once sync.Once
	return &codemode.Conn{To: to, From: from, End: func() {
		once.Do(func() {
			cancel()
			go func() {
				_ = cmd.Wait() // it was killed
				close(gone)
			}()
		})
	}}, nil
}

// allGone waits until no worker is left.
func (p *processes) allGone(t testing.TB) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, gone := range p.gone {
		select {
		case <-gone:
		case <-time.After(time.Minute):
			t.Error("a worker is still there")
		}
	}
}
