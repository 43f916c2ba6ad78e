package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// report is what a run comes to.
type report struct {
	Time    time.Time `json:"time"`
	Machine host      `json:"machine"`
	Rows    []result  `json:"rows"`
}

// host is what the numbers depend on besides the code.
type host struct {
	Go    string `json:"go"`
	OS    string `json:"os"`
	Arch  string `json:"arch"`
	CPU   string `json:"cpu,omitempty"`
	Cores int    `json:"cores"`
}

func machine() host {
	return host{Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.NumCPU()}
}

func (r report) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "report.json"), append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "report.md"), []byte(r.markdown()), 0o644)
}

func (r report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Benchmarks\n\n%s, %s on %s/%s, %d cores", r.Time.Format(time.RFC3339), r.Machine.Go, r.Machine.OS, r.Machine.Arch, r.Machine.Cores)
	if r.Machine.CPU != "" {
		fmt.Fprintf(&b, " (%s)", r.Machine.CPU)
	}
	b.WriteString("\n\n| what | measured | allocs | target | |\n|---|---|---|---|---|\n")
	for _, row := range r.Rows {
		value := "–"
		switch {
		case row.Verdict == missing:
		case row.Peer != "":
			value = fmt.Sprintf("%.2f × (%s, peer %s)", row.Ratio, human(row.Value, row.Metric), human(row.PeerValue, row.Metric))
		default:
			value = human(row.Value, row.Metric)
		}
		fmt.Fprintf(&b, "| %s (`%s`) | %s | %.0f | %s | %s |\n", row.Name, row.Benchmark, value, row.Allocs, row.Target, row.Verdict)
	}
	return b.String()
}

// failure: a benchmark that did not run is always an error, a missed target
// only where it is asked for, because a busy machine misses any.
func (r report) failure(strict bool) error {
	var bad []string
	for _, row := range r.Rows {
		if row.Verdict == missing || strict && row.Verdict == missed {
			bad = append(bad, fmt.Sprintf("%s is %s", row.Benchmark, row.Verdict))
		}
	}
	if len(bad) > 0 {
		return fmt.Errorf("%s", strings.Join(bad, ", "))
	}
	return nil
}

// human writes a value with its metric; nanoseconds in the unit that fits.
func human(v float64, metric string) string {
	per, isTime := strings.CutPrefix(metric, "ns/")
	switch {
	case metric == "p50-ns":
		return human(v, "ns/op")
	case !isTime && v >= 1000:
		return fmt.Sprintf("%.0f %s", v, metric)
	case !isTime:
		return fmt.Sprintf("%.3g %s", v, metric)
	case v >= 1e9:
		return fmt.Sprintf("%.3g s/%s", v/1e9, per)
	case v >= 1e6:
		return fmt.Sprintf("%.3g ms/%s", v/1e6, per)
	case v >= 1e3:
		return fmt.Sprintf("%.3g µs/%s", v/1e3, per)
	}
	return fmt.Sprintf("%.3g ns/%s", v, per)
}
