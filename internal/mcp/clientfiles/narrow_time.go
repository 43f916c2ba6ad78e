package clientfiles

import (
	"math"
	"strconv"
	"strings"
	"time"
)

const maxTimeout = 24 * time.Hour

// timeout gives how long one call may take, under the client's own key or one
// of the usual ones.
func (r *reader) timeout(e *entry) time.Duration {
	if r.client.timeout != "" && e.has(r.client.timeout) {
		return e.duration(r.client.timeout, r.client.unit)
	}
	for _, k := range [...]struct {
		key  string
		unit time.Duration // 0: it depends on the program that the entry was written for
	}{
		{"timeout", 0}, {"timeoutMs", time.Millisecond}, {"timeout_ms", time.Millisecond}, {"timeoutSec", time.Second}, {"timeout_sec", time.Second},
		{"timeoutSeconds", time.Second}, {"timeout_seconds", time.Second}, {"tool_timeout_sec", time.Second}, {"toolTimeout", 0}, {"tool_timeout", 0},
		{"requestTimeout", 0}, {"request_timeout", 0},
	} {
		if e.has(k.key) {
			return e.duration(k.key, k.unit)
		}
	}
	return 0
}

// duration reads a time. Without a unit, what is too long for seconds counts as
// milliseconds: nobody waits a quarter of an hour for one call.
func (e *entry) duration(name string, unit time.Duration) time.Duration {
	v, ok := e.take(name)
	if !ok {
		return 0
	}
	const manySeconds = 1000
	d, err := 0.0, error(nil)
	if n, bad := strconv.ParseFloat(strings.ReplaceAll(v.text, "_", ""), 64); bad == nil && (v.kind == kindNumber || v.kind == kindText) {
		if unit == 0 {
			unit = time.Second
			if n >= manySeconds {
				unit = time.Millisecond
			}
			e.note("%s is taken for %s: the file does not say which", name, map[time.Duration]string{time.Second: "seconds", time.Millisecond: "milliseconds"}[unit])
		}
		d = n * float64(unit)
	} else if v.kind == kindText {
		var given time.Duration
		given, err = time.ParseDuration(v.text)
		d = float64(given)
	}
	if err != nil || math.IsNaN(d) || d < float64(time.Millisecond) || d > float64(maxTimeout) {
		e.drop(name, "it is no time between 0 and "+strconv.Itoa(int(maxTimeout.Hours()))+" hours")
		return 0
	}
	return time.Duration(d).Round(time.Millisecond)
}
