//go:build amd64 || arm64

package linux

import (
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// BenchmarkTrue compares a program that does nothing inside and outside, turn
// by turn, so that a busy machine hurts both alike. The target is at most 15
// added milliseconds in the median.
func BenchmarkTrue(b *testing.B) {
	for _, c := range []struct {
		name string
		cfg  Config
		dirs int
	}{{"cgroups", Config{}, 1}, {"rlimits", Config{NoCgroups: true}, 1}} {
		b.Run(c.name, func(b *testing.B) {
			s, err := Open(b.Context(), c.cfg)
			if err != nil {
				b.Fatal(err)
			}
			grant := toolcrib.Grant{Dirs: []files.Dir{{Path: b.TempDir(), Write: true}}}
			var plain, inside []time.Duration
			for b.Loop() {
				began := time.Now()
				if err := exec.Command("/bin/true").Run(); err != nil {
					b.Fatal(err)
				}
				between := time.Now()
				if exit, err := s.Run(b.Context(), toolcrib.Cmd{Path: "/bin/true"}, grant); err != nil || exit.Code != 0 {
					b.Fatal(exit, err)
				}
				plain, inside = append(plain, between.Sub(began)), append(inside, time.Since(between))
			}
			ms := func(list []time.Duration) float64 {
				slices.Sort(list)
				return float64(list[len(list)/2].Microseconds()) / 1000
			}
			b.ReportMetric(ms(plain), "ms-plain")
			b.ReportMetric(ms(inside), "ms-inside")
			b.ReportMetric(ms(inside)-ms(plain), "ms-added")
		})
	}
}
