package shell

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcrib/toolcrib"
)

// job is a command and what it printed: one in the background, or one that is
// over and printed more than its result could show.
type job struct {
	id, line string
	dir      string
	subject  string
	out, err *capture
	stdin    io.WriteCloser // nil: closed from the beginning
	stop     context.CancelFunc
	stopped  atomic.Bool   // by its caller
	reported atomic.Bool   // an answer has told how it ended
	done     chan struct{} // closed when it is over, and what it changed is settled
	ended    chan struct{} // closed when its program has ended
	endOnce  sync.Once
	news     chan struct{} // something was printed
	input    input

	exit    toolcrib.Exit // valid once done is closed
	failure error
}

// newJob makes the job of a call and has the command's output caught.
func (b *Box) newJob(env *toolcrib.Env, cmd *toolcrib.Cmd, line string) *job {
	id := env.Call.ID
	name := rand.Text() // a call ID may be anything
	j := &job{
		id: id, line: line, dir: cmd.Dir, subject: env.Call.Caller.Subject, done: make(chan struct{}), ended: make(chan struct{}), news: make(chan struct{}, 1),
	}
	j.out = newCapture(b.cfg, b.spill, name+".stdout", "stdout", j.news, env.Emit)
	j.err = newCapture(b.cfg, b.spill, name+".stderr", "stderr", j.news, env.Emit)
	cmd.Stdout, cmd.Stderr = j.out, j.err
	return j
}

// unread forgets what was printed before.
func (j *job) unread() {
	select {
	case <-j.news:
	default:
	}
}

// quiet is how long a command must be silent for its answer to be taken as whole.
const quiet = 100 * time.Millisecond

// settle waits until a command has printed something and fallen silent again,
// or is over, but not for longer than most.
func (j *job) settle(ctx context.Context, most time.Duration) {
	end := time.NewTimer(most)
	defer end.Stop()
	var silent <-chan time.Time
	for {
		select {
		case <-j.news:
			silent = time.After(quiet)
		case <-silent:
			return
		case <-end.C:
			return
		case <-j.done:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (j *job) over() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// programOver tells that its program has ended.
func (j *job) programOver() { j.endOnce.Do(func() { close(j.ended) }) }

func (j *job) programIsOver() bool {
	select {
	case <-j.ended:
		return true
	default:
		return false
	}
}

// drop removes what was spilled. What cannot be removed now goes with the
// directory that the box was given for it.
func (j *job) drop() {
	j.out.drop()
	j.err.drop()
}

// maxKept bounds how many finished commands a caller can still page through.
const maxKept = 32

// jobs holds them by id. A job is seen only by the subject that made it.
type jobs struct {
	mu   sync.Mutex
	list []*job // oldest first
}

// add keeps a job; of one subject's finished ones the oldest make room.
func (js *jobs) add(j *job, most int) error {
	js.mu.Lock()
	defer js.mu.Unlock()
	running, kept := 0, 0
	for _, other := range js.list {
		switch {
		case other.subject != j.subject:
		case other.over():
			kept++
		default:
			running++
		}
	}
	if !j.over() && running >= most {
		return fmt.Errorf("%d commands are running in the background already; stop one first", running)
	}
	rest := js.list[:0]
	for _, other := range js.list {
		if kept >= maxKept && other.subject == j.subject && other.over() {
			kept--
			other.drop()
			continue
		}
		rest = append(rest, other)
	}
	rest = append(rest, j)
	js.list = rest
	return nil
}

func (js *jobs) find(subject, id string) (*job, error) {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, j := range js.list {
		if j.id == id && j.subject == subject {
			return j, nil
		}
	}
	return nil, fmt.Errorf("there is no job %q; start_command and run_command name theirs in the result", id)
}

// close ends every job, waits for them, and removes their files.
func (js *jobs) close() {
	js.mu.Lock()
	list := js.list
	js.list = nil
	js.mu.Unlock()
	for _, j := range list {
		j.stop()
		<-j.done
		j.drop()
	}
}
