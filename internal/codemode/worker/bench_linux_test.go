package worker

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/codemode"
)

// cpu is the processor time of this process so far.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkEcho is a call that does nothing, from a script in a process of its own: what
// the way there and back costs, in time and in processor time of both sides.
func BenchmarkEcho(b *testing.B) {
	const calls = 1000
	run := func(n int) (took, host, work time.Duration) {
		procs := &processes{}
		p := &codemode.Pool{Start: procs.start}
		p.Warm()
		time.Sleep(200 * time.Millisecond)
		began, before := time.Now(), cpu(b)
		if _, err := p.Run(b.Context(), codemode.Script{Code: fmt.Sprintf("for (let i = 0; i < %d; i++) tools.echo({path: '/srv/projects', limit: 25, i})", n)}, codemode.Host{Call: echo}); err != nil {
			b.Fatal(err)
		}
		took, host = time.Since(began), cpu(b)-before
		_ = p.Close()
		procs.allGone(b)
		return took, host, procs.cmds[0].ProcessState.UserTime() + procs.cmds[0].ProcessState.SystemTime()
	}
	var took, host, work time.Duration
	for b.Loop() {
		t, h, w := run(calls)
		_, h0, w0 := run(0)
		took, host, work = took+t, host+h-h0, work+w-w0
	}
	per := func(d time.Duration) float64 { return float64(d) / float64(b.N*calls) }
	b.ReportMetric(per(took), "call-ns")
	b.ReportMetric(per(host), "host-cpu-ns")
	b.ReportMetric(per(work), "worker-cpu-ns")
}
