package definition

import (
	"fmt"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// BenchmarkOf shows 500 tools.
func BenchmarkOf(b *testing.B) {
	var specs []toolcrib.Entry
	for i, all := 0, realSpecs(b); len(specs) < 500; i++ {
		s := all[i%len(all)]
		s.Name = fmt.Sprint(s.Name, i)
		specs = append(specs, s)
	}
	for _, v := range variants() {
		b.Run(v.String(), func(b *testing.B) {
			for b.Loop() {
				if set, err := (Options{Strict: v.strict}).Of(v.format, specs); err != nil || len(set.Tools) != len(specs) {
					b.Fatal(err, set.Left)
				}
			}
		})
	}
}
