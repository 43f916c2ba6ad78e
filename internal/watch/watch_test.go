package watch

import (
	"slices"
	"sync"
	"testing"
)

func TestList(t *testing.T) {
	var l List[func(int)]
	var heard []int
	tell := func(n int) { l.Each(func(f func(int)) { f(n) }) }
	tell(1)
	stopFirst := l.Add(func(n int) { heard = append(heard, n) })
	stopSecond := l.Add(func(n int) { heard = append(heard, -n) })
	tell(2)
	stopFirst()
	stopFirst() // does nothing more
	tell(3)
	stopSecond()
	tell(4)
	if !slices.Equal(heard, []int{2, -2, -3}) {
		t.Error(heard)
	}
}

// TestListFromWithin: whoever is called may add and remove.
func TestListFromWithin(t *testing.T) {
	var l List[func()]
	n := 0
	var stop func()
	stop = l.Add(func() {
		n++
		stop()
		l.Add(func() { n += 10 })
	})
	l.Each(func(f func()) { f() })
	l.Each(func(f func()) { f() })
	if n != 11 {
		t.Error(n)
	}
}

func TestListAtOnce(t *testing.T) {
	var l List[func()]
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				stop := l.Add(func() {})
				l.Each(func(f func()) { f() })
				stop()
			}
		})
	}
	all.Wait()
	l.Each(func(func()) { t.Error("one is left") })
}
