package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// plan is one measurement.
type plan struct {
	Targets []target
	Era     string
	Clients int
	Calls   int
	Rounds  int
	Warm    int
	Timeout time.Duration
	Unique  *atomic.Int64 // counts calls of all plans
	PID     int           // of the first target; zero: not known
}

// row is what was measured of one target.
type row struct {
	Target  string        `json:"target"`
	Era     string        `json:"era"`
	Clients int           `json:"clients"`
	Calls   int           `json:"calls"`
	Median  time.Duration `json:"median_ns"`
	P99     time.Duration `json:"p99_ns"`
	Rate    float64       `json:"calls_per_second"`
	// CPU is what the process of the gateway spent on a call; zero: not known.
	CPU time.Duration `json:"cpu_per_call_ns,omitempty"`
	// In comparison with the direct way; zero where there is none. The added
	// median is the median of what the rounds add, so that a busy moment of the
	// machine counts once and for both.
	Added     time.Duration `json:"added_median_ns,omitempty"`
	RateRatio float64       `json:"rate_ratio,omitempty"`
}

// round is what one turn at one target came to.
type round struct {
	took  []time.Duration
	total time.Duration
	cpu   time.Duration
}

// measure takes turns between the targets, each turn beginning with another.
func (p plan) measure(ctx context.Context) ([]row, error) {
	clients := make([][]*client, len(p.Targets))
	defer func() {
		for _, c := range slices.Concat(clients...) {
			c.close(ctx)
		}
	}()
	for i, t := range p.Targets {
		for range p.Clients {
			c, err := open(ctx, t, p.Era == "modern", p.Timeout, p.Unique)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", t.Name, err)
			}
			clients[i] = append(clients[i], c)
		}
		if _, err := turn(ctx, clients[i], p.Warm); err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	rounds := make([][]round, len(p.Targets))
	for n := range p.Rounds {
		for k := range p.Targets {
			i := (n + k) % len(p.Targets)
			var before, after time.Duration
			var berr, aerr error
			if i == 0 && p.PID != 0 {
				before, berr = cpuOf(p.PID)
			}
			r, err := turn(ctx, clients[i], p.Calls/p.Rounds)
			if i == 0 && p.PID != 0 {
				after, aerr = cpuOf(p.PID)
			}
			if err := errors.Join(err, berr, aerr); err != nil {
				return nil, fmt.Errorf("%s: %w", p.Targets[i].Name, err)
			}
			r.cpu = after - before
			rounds[i] = append(rounds[i], r)
		}
	}
	return p.rows(rounds), nil
}

// turn makes calls with all clients at once until there were as many as asked.
func turn(ctx context.Context, clients []*client, calls int) (round, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	took := make([][]time.Duration, len(clients))
	var all sync.WaitGroup
	begun := time.Now()
	for i, c := range clients {
		share := calls / len(clients)
		if i < calls%len(clients) {
			share++
		}
		took[i] = make([]time.Duration, 0, share)
		all.Go(func() {
			for range share {
				start := time.Now()
				if err := c.call(ctx); err != nil {
					cancel(err)
					return
				}
				took[i] = append(took[i], time.Since(start))
			}
		})
	}
	all.Wait()
	r := round{took: slices.Concat(took...), total: time.Since(begun)}
	return r, context.Cause(ctx)
}

// rows sums up the turns; the last target is the direct one if there are two.
func (p plan) rows(rounds [][]round) []row {
	rows := make([]row, len(p.Targets))
	for i, t := range p.Targets {
		r := row{Target: t.Name, Era: p.Era, Clients: p.Clients}
		var took []time.Duration
		var total, cpu time.Duration
		for _, one := range rounds[i] {
			took = append(took, one.took...)
			total += one.total
			cpu += one.cpu
		}
		r.Calls, r.Median, r.P99 = len(took), quantile(took, 0.5), quantile(took, 0.99)
		r.Rate, r.CPU = float64(r.Calls)/total.Seconds(), cpu/time.Duration(max(1, r.Calls))
		rows[i] = r
	}
	if len(rows) != 2 {
		return rows
	}
	var added []time.Duration
	var ratios []float64
	for n := range rounds[0] {
		a, b := rounds[0][n], rounds[1][n]
		added = append(added, quantile(a.took, 0.5)-quantile(b.took, 0.5))
		ratios = append(ratios, b.total.Seconds()/a.total.Seconds()*float64(len(a.took))/float64(len(b.took)))
	}
	slices.Sort(ratios)
	rows[0].Added, rows[0].RateRatio = quantile(added, 0.5), ratios[len(ratios)/2]
	return rows
}

// quantile is the value that a share of all do not exceed; zero of none.
func quantile(all []time.Duration, share float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}

// memory is what a process has of it now, and had at most.
type memory struct {
	Now  int64 `json:"now_bytes"`
	Peak int64 `json:"peak_bytes"`
}

// memoryOf asks the kernel.
func memoryOf(pid int) (memory, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return memory{}, err
	}
	var m memory
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 3 || f[2] != "kB" {
			continue
		}
		n, err := strconv.ParseInt(f[1], 10, 64)
		if err != nil {
			return memory{}, err
		}
		switch f[0] {
		case "VmRSS:":
			m.Now = n << 10
		case "VmHWM:":
			m.Peak = n << 10
		}
	}
	return m, nil
}

// cpuOf asks the kernel how long a process was at work.
func cpuOf(pid int) (time.Duration, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, err
	}
	rest := string(text[strings.LastIndexByte(string(text), ')')+1:]) // the name may have anything in it
	f := strings.Fields(rest)
	if len(f) < 13 {
		return 0, errors.New("the kernel does not tell how long it was at work")
	}
	user, uerr := strconv.ParseInt(f[11], 10, 64)
	system, serr := strconv.ParseInt(f[12], 10, 64)
	const tick = 10 * time.Millisecond // USER_HZ is 100 everywhere
	return time.Duration(user+system) * tick, errors.Join(uerr, serr)
}

// table writes the rows for people.
func table(rows []row, m *memory) string {
	var b strings.Builder
	b.WriteString("| era | clients | way | calls | median | p99 | calls/s | added median | rate / direct | CPU a call |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		added, ratio, cpu := "", "", ""
		if r.CPU > 0 {
			cpu = r.CPU.Round(time.Microsecond).String()
		}
		if r.RateRatio != 0 {
			added, ratio = r.Added.Round(time.Microsecond).String(), strconv.FormatFloat(r.RateRatio, 'f', 2, 64)
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %d | %s | %s | %.0f | %s | %s | %s |\n", r.Era, r.Clients, r.Target, r.Calls,
			r.Median.Round(time.Microsecond), r.P99.Round(time.Microsecond), r.Rate, added, ratio, cpu)
	}
	if m != nil {
		fmt.Fprintf(&b, "\nmemory of the process: %.1f MB, at most %.1f MB\n", float64(m.Now)/1e6, float64(m.Peak)/1e6)
	}
	return b.String()
}
