package telemetry

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// sample is one line of the text format, read back.
type sample struct {
	name   string
	labels map[string]string
	value  float64
}

var line = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([^ ]+)$`)

// parse reads the text format as strictly as the standard asks for.
func parse(t *testing.T, text string) (out []sample) {
	t.Helper()
	if !strings.HasSuffix(text, "\n") {
		t.Fatal("the last line does not end")
	}
	typed := map[string]string{}
	for l := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if rest, ok := strings.CutPrefix(l, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			if typed[name] != "" {
				t.Fatalf("%s is there twice", name)
			}
			typed[name] = kind
			continue
		}
		if strings.HasPrefix(l, "# HELP ") {
			continue
		}
		m := line.FindStringSubmatch(l)
		if m == nil {
			t.Fatalf("no line of the format: %q", l)
		}
		v, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		base := m[1]
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if b, ok := strings.CutSuffix(base, suffix); ok && typed[b] == histogram {
				base = b
			}
		}
		if typed[base] == "" {
			t.Fatalf("%s has no type before it", l)
		}
		out = append(out, sample{m[1], labelsIn(t, m[2]), v})
	}
	return out
}

func labelsIn(t *testing.T, text string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for text != "" {
		name, rest, ok := strings.Cut(text, `="`)
		if !ok {
			t.Fatalf("no labels: %q", text)
		}
		var value strings.Builder
		i := 0
		for ; rest[i] != '"'; i++ {
			if rest[i] != '\\' {
				value.WriteByte(rest[i])
				continue
			}
			i++
			switch rest[i] {
			case 'n':
				value.WriteByte('\n')
			case '"', '\\':
				value.WriteByte(rest[i])
			default:
				t.Fatalf("a bad escape in %q", text)
			}
		}
		out[name] = value.String()
		text = strings.TrimPrefix(rest[i+1:], ",")
	}
	return out
}

func FuzzText(f *testing.F) {
	f.Add("box", "tool", uint64(3), 0.2)
	f.Add("a\"b\\c\nd", "\xff\u2028{}=,# TYPE x", uint64(0), -1.0)
	f.Fuzz(func(t *testing.T, box, tool string, n uint64, seconds float64) {
		m := NewMetrics(Sources{Version: tool, Servers: func() []Server { return []Server{{Name: box, State: "up"}} }})
		m.calls.add(n%1e6, box, tool, "done")
		if !math.IsNaN(seconds) {
			m.callTime.observe(time.Duration(min(max(seconds, -1e6), 1e6)*1e9), box)
		}
		found := false
		for _, s := range parse(t, string(m.Text())) {
			if s.name == "toolcrib_calls_total" {
				found = s.labels["toolbox"] == strings.ToValidUTF8(box, "\ufffd") && s.labels["tool"] == strings.ToValidUTF8(tool, "\ufffd") && s.value == float64(n%1e6)
			}
		}
		if !found {
			t.Fatalf("what was counted cannot be read back:\n%s", m.Text())
		}
	})
}

func TestHistogram(t *testing.T) {
	m := NewMetrics(Sources{})
	for _, d := range []time.Duration{0, time.Millisecond, 2 * time.Millisecond, time.Second, time.Hour} {
		m.callTime.observe(d, "math")
	}
	last, count, sum := 0.0, 0.0, 0.0
	for _, s := range parse(t, string(m.Text())) {
		switch s.name {
		case "toolcrib_call_duration_seconds_bucket":
			if s.value < last {
				t.Errorf("the bucket %s has fewer than the one before", s.labels["le"])
			}
			last = s.value
			if want, ok := map[string]float64{"0.001": 2, "0.005": 3, "1": 4, "300": 4, "+Inf": 5}[s.labels["le"]]; ok && s.value != want {
				t.Errorf("the bucket %s has %v, want %v", s.labels["le"], s.value, want)
			}
		case "toolcrib_call_duration_seconds_count":
			count = s.value
		case "toolcrib_call_duration_seconds_sum":
			sum = s.value
		}
	}
	if count != 5 || math.Abs(sum-3601.003) > 1e-9 {
		t.Errorf("got %v calls that took %v", count, sum)
	}
}

// A server that offers other tools all the time must not fill the memory, nor the
// one of whoever watches.
func TestSeriesAreBounded(t *testing.T) {
	m := NewMetrics(Sources{})
	for i := range 3 * maxSeries {
		m.calls.add(1, "evil", fmt.Sprintf("tool%d", i), "done")
	}
	n, total := 0, 0.0
	for _, s := range parse(t, string(m.Text())) {
		if s.name == "toolcrib_calls_total" {
			n++
			total += s.value
			if s.labels["tool"] == other && s.value != 2*maxSeries {
				t.Errorf("other has %v", s.value)
			}
		}
	}
	if n != maxSeries+1 || total != 3*maxSeries {
		t.Errorf("%d numbers with %v calls", n, total)
	}
}
