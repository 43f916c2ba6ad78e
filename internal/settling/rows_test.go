package settling

import (
	"errors"
	"runtime"
	"testing"
)

func TestRows(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(5))
	for _, n := range []int{0, 1, 127, 128, 300, 1000, 5003} {
		done := make([]int, n)
		if err := Rows(n, func(from, to int) error {
			for i := from; i < to; i++ {
				done[i]++
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for i, times := range done {
			if times != 1 {
				t.Fatalf("of %d, number %d was done %d times", n, i, times)
			}
		}
	}
	bad := errors.New("bad")
	if err := Rows(1000, func(from, _ int) error {
		if from > 0 {
			panic("no")
		}
		return bad
	}); !errors.Is(err, bad) {
		t.Error(err)
	}
	if err := Rows(1, func(int, int) error { panic("no") }); err == nil {
		t.Error("a panic is no error")
	}
}
