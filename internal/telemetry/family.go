package telemetry

import (
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The kinds of numbers, by their names in the format.
const (
	counter   = "counter"
	gauge     = "gauge"
	histogram = "histogram"
)

// other stands for what has no number of its own.
const other = "other"

// maxSeries is how many numbers one family has at most. What a crib offers may
// change all the time, and whoever watches it must not drown.
const maxSeries = 2000

// labels are the values of the labels of one number; those that a family has not
// are empty.
type labels [3]string

// family is one metric: what it is called, and by which labels it is counted.
type family struct {
	name, help, kind string
	labels           []string
	// open is how many of the labels, from the first on, have values that nobody
	// has listed. They are other when there are too many.
	open int
	// read gives the numbers at the moment they are asked for. Nil: they are
	// counted here.
	read func(add func(value float64, of ...string))

	bounds []float64 // of the buckets of a histogram

	mu     sync.RWMutex
	series map[labels]*series
}

// series is one number of a family, or one histogram.
type series struct {
	count   atomic.Uint64
	sum     atomic.Uint64 // the bits of a float64
	buckets []atomic.Uint64
}

// bounds are the upper bounds of the buckets, in seconds: those that the
// conventions name for MCP, and two for what takes no time.
func bounds() []float64 {
	return []float64{0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}
}

// at gives the number with these labels, made when it is first needed.
func (f *family) at(of labels) *series {
	f.mu.RLock()
	s := f.series[of]
	f.mu.RUnlock()
	if s != nil {
		return s
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.series[of]; s != nil {
		return s
	}
	if len(f.series) >= maxSeries {
		for i := range f.open {
			of[i] = other
		}
		if s := f.series[of]; s != nil {
			return s
		}
	}
	s = &series{}
	if f.kind == histogram {
		s.buckets = make([]atomic.Uint64, len(f.bounds))
	}
	if f.series == nil {
		f.series = map[labels]*series{}
	}
	f.series[of] = s
	return s
}

func (f *family) add(n uint64, of ...string) { f.at(labelsOf(of)).count.Add(n) }

// observe counts something that took a while.
func (f *family) observe(d time.Duration, of ...string) {
	s, took := f.at(labelsOf(of)), max(d, 0).Seconds()
	if i, _ := slices.BinarySearch(f.bounds, took); i < len(s.buckets) {
		s.buckets[i].Add(1)
	}
	for {
		was := s.sum.Load()
		if s.sum.CompareAndSwap(was, math.Float64bits(math.Float64frombits(was)+took)) {
			break
		}
	}
	s.count.Add(1)
}

func labelsOf(of []string) (l labels) {
	copy(l[:], of)
	return l
}

// numbers lists the series by their labels, so that two looks at them compare.
func (f *family) numbers() ([]labels, map[labels]*series) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	list, all := make([]labels, 0, len(f.series)), make(map[labels]*series, len(f.series))
	for of, s := range f.series {
		list = append(list, of)
		all[of] = s
	}
	slices.SortFunc(list, func(a, b labels) int {
		return strings.Compare(strings.Join(a[:], "\x00"), strings.Join(b[:], "\x00"))
	})
	return list, all
}
