package conformance

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkGateway shows what toolcrib costs in front of the SDK's server, with
// everything on that a fresh machine has: validation, rules, redaction, marks,
// journal. The same calls are made directly in the same run (bench/gateway);
// 19 more servers are configured beside.
func BenchmarkGateway(b *testing.B) {
	server := buildEverything(b)
	driver := build(b, "github.com/toolcrib/toolcrib/bench/gateway")
	toolcrib := build(b, "github.com/toolcrib/toolcrib/cmd/toolcrib") // this binary is larger
	for _, era := range []string{"legacy", "modern"} {
		b.Run(era, func(b *testing.B) {
			direct := everything(b, server, era == "modern")
			var config strings.Builder
			config.WriteString("mode: yolo\nhub: {wait: 2m}\nmcp_servers:\n")
			for n := range 20 {
				fmt.Fprintf(&config, "  server%02d: {url: %q}\n", n, direct)
			}
			url, p := serve(b, toolcrib, config.String())
			for b.Loop() {
				args := []string{"-url", url, "-direct", direct, "-era", era, "-tool", "server00__test_x_mcp_header", "-direct-tool", "test_x_mcp_header",
					"-args", `{"level":$N}`, "-calls", "2000", "-json"}
				if runtime.GOOS == "linux" {
					args = append(args, "-pid", strconv.Itoa(p.cmd.Process.Pid))
				}
				out, err := exec.CommandContext(b.Context(), driver, args...).Output()
				var got struct {
					Rows []struct {
						Clients int           `json:"clients"`
						Added   time.Duration `json:"added_median_ns"`
						Ratio   float64       `json:"rate_ratio"`
						CPU     time.Duration `json:"cpu_per_call_ns"`
					} `json:"rows"`
					Memory struct {
						Peak float64 `json:"peak_bytes"`
					} `json:"memory"`
				}
				if jerr := json.Unmarshal(out, &got); err != nil || jerr != nil || len(got.Rows) != 4 || got.Rows[0].Clients != 1 || got.Rows[2].Clients != 16 {
					b.Fatalf("%v, %v: %s", err, jerr, out)
				}
				b.ReportMetric(float64(got.Rows[0].Added.Microseconds()), "µs-added")
				b.ReportMetric(got.Rows[2].Ratio, "rate-ratio-16")
				b.ReportMetric(float64(got.Rows[2].CPU.Microseconds()), "µs-cpu")
				b.ReportMetric(got.Memory.Peak/1e6, "MB-peak")
			}
		})
	}
}
