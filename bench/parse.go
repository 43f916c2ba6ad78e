package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// measures holds every number of a run: benchmark → metric → one per count.
type measures map[string]map[string][]float64

var procSuffix = regexp.MustCompile(`-\d+$`) // the number of cores that go test adds to a name

// parse reads what "go test -bench" printed, and the name of the processor.
func parse(text string) (got measures, cpu string) {
	got = measures{}
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "cpu: "); ok {
			cpu = strings.TrimSpace(name)
		}
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := procSuffix.ReplaceAllString(strings.TrimPrefix(fields[0], "Benchmark"), "")
		// After the name and the number of rounds come pairs of value and metric.
		for i := 2; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				break
			}
			if got[name] == nil {
				got[name] = map[string][]float64{}
			}
			got[name][fields[i+1]] = append(got[name][fields[i+1]], v)
		}
	}
	return got, cpu
}

// median is the middle of the counts; ok is false if there is none.
func (m measures) median(bench, metric string) (v float64, ok bool) {
	values := slices.Sorted(slices.Values(m[bench][metric]))
	n := len(values)
	switch {
	case n == 0:
		return 0, false
	case n%2 == 1:
		return values[n/2], true
	}
	return (values[n/2-1] + values[n/2]) / 2, true
}
