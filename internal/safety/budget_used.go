package safety

// Used tells how much of each budget is used, by its name: 1 is all of it. Of one
// that is counted apart for each caller it is the fullest, without saying whose.
func (b *Budget) Used() map[string]float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	now, out := b.elapsed(), map[string]float64{}
	for i := range b.limits {
		l := &b.limits[i]
		out[l.Name] = max(out[l.Name], l.share(l.crowd.since(l.slot(now))))
	}
	for key, c := range b.counters {
		if l := b.limitOf(key); l != nil {
			out[l.Name] = max(out[l.Name], l.share(c.since(l.slot(now))))
		}
	}
	return out
}

// share is how much of its fullest total is used. A rate is none.
func (l *budgetLimit) share(u budgetUse) (most float64) {
	for _, part := range []struct{ used, of int64 }{{u.calls, l.Calls}, {u.money, l.money}, {int64(u.time), int64(l.time)}, {u.bytes, l.Bytes}, {u.tokens, l.Tokens}} {
		if part.of > 0 {
			most = max(most, float64(part.used)/float64(part.of))
		}
	}
	return most
}
