package cli

import (
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// A hook that does not answer is taken for a yes by most clients, and so is one that was
// killed for its memory. So the process of a hook refuses by itself, whatever its other
// goroutines are doing.
const (
	// judgeTime is the most that a hook takes, without the time in which a person is
	// asked at the desk.
	judgeTime = 5 * time.Second
	// judgeMemory is the most that it has in memory. What it takes from the system is
	// bounded at judgeMemoryHard, at which the process ends with the status that blocks.
	judgeMemory     = 1 << 30
	judgeMemoryHard = 2 << 30
	// watchEvery is how often the watch looks.
	watchEvery = 20 * time.Millisecond
)

// hookWatch refuses in the place of a hook that takes too long or too much.
type hookWatch struct {
	begun time.Time
	until atomic.Int64 // since begun
	limit time.Duration
	after atomic.Bool // the call is done, and only to be recorded
}

// watchHook begins to watch this process. It has a thread of its own and waits for
// nobody: the scheduler takes a processor from a goroutine that will not give it back.
func watchHook(limit time.Duration, memory uint64, end func(why string, after bool)) *hookWatch {
	w := &hookWatch{begun: time.Now(), limit: limit}
	w.until.Store(int64(limit))
	go func() {
		runtime.LockOSThread()
		used := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		for {
			time.Sleep(watchEvery)
			if int64(time.Since(w.begun)) > w.until.Load() {
				end("checking it took longer than "+limit.String(), w.after.Load())
			}
			if metrics.Read(used); used[0].Value.Uint64()-used[1].Value.Uint64() > memory {
				end("checking it took too much memory", w.after.Load())
			}
		}
	}()
	return w
}

// recording: the call is done, so that it cannot be refused any more.
func (w *hookWatch) recording(after bool) {
	if w != nil {
		w.after.Store(after)
	}
}

// asking: a person is asked now, or has been asked. While they think nothing is judged.
func (w *hookWatch) asking(now bool) {
	if w == nil {
		return
	}
	more := w.limit
	if now {
		more += hookTime
	}
	w.until.Store(int64(time.Since(w.begun) + more))
}

// refuseNow ends the process as a hook that says no. A call that is already done is not
// refused any more.
func refuseNow(out io.Writer, why string, after bool) {
	message, status := "Toolcrib blocked this call: "+why+"\n", exitBlocked
	if after {
		message, status = "Toolcrib could not record what became of it: "+why+"\n", exitFailed
	}
	// In this thread, which nothing delays: Codex takes a status without a reason for a
	// failure, and goes on.
	_, _ = io.WriteString(out, message)
	os.Exit(status)
}

// boundHook bounds the time and the memory that this process takes.
func (c *command) boundHook(limit time.Duration) {
	// Nothing of what a process makes that lives for milliseconds is worth collecting.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(judgeMemory / 2)
	limitMemory(judgeMemoryHard)
	out := c.err // a hook keeps everything else from it
	c.watch = watchHook(limit, judgeMemory, func(why string, after bool) { refuseNow(out, why, after) })
}
