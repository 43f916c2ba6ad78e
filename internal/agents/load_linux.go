package agents

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// MachineLoad tells how busy this machine is, in percent: the processors by what waited
// for them in the last minute, and the memory by what is left of it.
func MachineLoad() (cpu, memory float64) {
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		first, _, _ := strings.Cut(string(text), " ")
		if n, err := strconv.ParseFloat(first, 64); err == nil {
			cpu = min(100, 100*n/float64(runtime.NumCPU()))
		}
	}
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return cpu, 0
	}
	has := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(line, ":")
		if words := strings.Fields(rest); len(words) > 0 {
			if n, err := strconv.ParseFloat(words[0], 64); err == nil {
				has[name] = n
			}
		}
	}
	if all := has["MemTotal"]; all > 0 {
		memory = 100 * (all - has["MemAvailable"]) / all
	}
	return cpu, memory
}
