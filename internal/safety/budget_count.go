package safety

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strconv"
	"time"
)

// budgetSlots is into how many parts the time of a total is cut. What was used is
// forgotten a slot at a time and never too early, so that no stretch of that
// time, wherever it begins, holds more than the total.
const budgetSlots = 32

// budgetUse is what calls used.
type budgetUse struct {
	calls, bytes, money, tokens int64
	time                        time.Duration
}

func (u *budgetUse) plus(v budgetUse) {
	u.calls = budgetSum(u.calls, v.calls)
	u.bytes = budgetSum(u.bytes, v.bytes)
	u.money = budgetSum(u.money, v.money)
	u.tokens = budgetSum(u.tokens, v.tokens)
	u.time = time.Duration(budgetSum(int64(u.time), int64(v.time)))
}

// budgetSum adds two counts; a sum that runs over must not begin at nothing.
func budgetSum(a, b int64) int64 {
	if sum := a + b; sum >= a {
		return sum
	}
	return a
}

// budgetCounter is what one party used of one limit.
type budgetCounter struct {
	used   [budgetSlots + 1]budgetUse // a ring, by slot number
	newest int64                      // the slot number written last
	tokens float64                    // of the rate
	filled time.Duration              // when they were
}

// slot is the number of the slot that a time falls into.
func (l *budgetLimit) slot(at time.Duration) int64 { return int64(at / l.width) }

// add counts a use in a slot, unless that is forgotten already.
func (c *budgetCounter) add(slot int64, use budgetUse) {
	c.forget(slot)
	if slot > c.newest-int64(len(c.used)) {
		c.used[slot%int64(len(c.used))].plus(use)
	}
}

// giveBack takes out again what was only planned, unless its slot is forgotten already.
func (c *budgetCounter) giveBack(slot int64, planned budgetUse) {
	if slot > c.newest-int64(len(c.used)) {
		u := &c.used[slot%int64(len(c.used))]
		u.tokens, u.money = max(0, u.tokens-planned.tokens), max(0, u.money-planned.money)
	}
}

// forget clears what is too old once a slot has begun.
func (c *budgetCounter) forget(slot int64) {
	if slot <= c.newest {
		return
	}
	for n := max(c.newest+1, slot-budgetSlots); n <= slot; n++ {
		c.used[n%int64(len(c.used))] = budgetUse{}
	}
	c.newest = slot
}

// since sums what was used in the slots that may still count.
func (c *budgetCounter) since(slot int64) (sum budgetUse) {
	for n := max(0, slot-budgetSlots); n <= min(slot, c.newest); n++ {
		if n > c.newest-int64(len(c.used)) {
			sum.plus(c.used[n%int64(len(c.used))])
		}
	}
	return sum
}

func (c *budgetCounter) refill(l *budgetLimit, now time.Duration) {
	c.tokens, c.filled = c.has(l, now), now
}

// has is how many calls the rate has room for now.
func (c *budgetCounter) has(l *budgetLimit, now time.Duration) float64 {
	if l.Rate == 0 {
		return 1
	}
	return min(float64(l.Burst), c.tokens+max(0, (now-c.filled).Minutes())*l.Rate)
}

// idle reports whether a counter is as good as a new one.
func (c *budgetCounter) idle(l *budgetLimit, now time.Duration) bool {
	return c.since(l.slot(now)) == (budgetUse{}) && (l.Rate == 0 || c.has(l, now) >= float64(l.Burst))
}

// short says why a call has no room, and when it will; empty if it has. Tokens are a
// matter of requests to models alone, and what those cost is not known before.
func (l *budgetLimit) short(c *budgetCounter, now time.Duration, price int64, model bool) string {
	if c == nil {
		c = &budgetCounter{tokens: float64(l.Burst)}
	}
	if tokens := c.has(l, now); tokens < 1 {
		wait := time.Duration((1 - tokens) / l.Rate * float64(time.Minute))
		return fmt.Sprintf("budget %s allows %v calls a minute; try again in %v", l.Name, l.Rate, budgetWait(wait))
	}
	slot := l.slot(now)
	full := func(u budgetUse) string {
		switch {
		case l.Calls > 0 && u.calls >= l.Calls:
			return fmt.Sprintf("%d calls", l.Calls)
		case model && l.Tokens > 0 && u.tokens >= l.Tokens:
			return fmt.Sprintf("%d tokens", l.Tokens)
		case l.money > 0 && (u.money > l.money || model && u.money >= l.money || price > l.money-u.money):
			return fmt.Sprintf("%v of money", l.Money)
		case l.time > 0 && u.time >= l.time:
			return fmt.Sprintf("%v of running", l.time)
		case l.Bytes > 0 && u.bytes >= l.Bytes:
			return fmt.Sprintf("%d bytes of results", l.Bytes)
		}
		return ""
	}
	what := full(c.since(slot))
	if what == "" {
		return ""
	}
	said := fmt.Sprintf("budget %s is used up: %s in %v", l.Name, what, l.Per)
	for n := slot + 1; n <= slot+budgetSlots+1; n++ {
		if full(c.since(n)) == "" {
			return said + fmt.Sprintf("; try again in %v", budgetWait(time.Duration(n)*l.width-now))
		}
	}
	return said + "; one call alone is more than that" // its price
}

func budgetWait(d time.Duration) time.Duration { return max(d, 0).Truncate(time.Second) + time.Second }

// elapsed is the time since the start. A clock that is set back stands still
// here: what was used stays used.
func (b *Budget) elapsed() time.Duration {
	b.last = max(b.last, b.now().Sub(b.start))
	return b.last
}

// find gives the counter for a key; nil if there is none yet.
func (b *Budget) find(limit int, key string, now time.Duration) *budgetCounter {
	if c := b.counters[key]; c != nil {
		return c
	}
	if l := &b.limits[limit]; len(b.counters) >= maxBudgetCounters || !l.crowd.idle(l, now) {
		return l.crowd
	}
	return nil
}

// counter gives the counter for a key and makes it if need be. When there are
// too many, the others share one, until that has been forgotten: whoever used
// it must not begin anew.
func (b *Budget) counter(limit int, key string, now time.Duration) *budgetCounter {
	if len(b.counters) >= maxBudgetCounters && b.counters[key] == nil && now-b.swept >= time.Second {
		b.swept = now
		maps.DeleteFunc(b.counters, func(key string, c *budgetCounter) bool {
			l := b.limitOf(key)
			return l == nil || c.idle(l, now)
		})
	}
	c := b.find(limit, key, now)
	if c == nil {
		c = &budgetCounter{tokens: float64(b.limits[limit].Burst), filled: now}
		b.counters[key] = c
	}
	return c
}

// limitOf reads the limit out of a key.
func (b *Budget) limitOf(key string) *budgetLimit {
	end := 0
	for end < len(key) && key[end] >= '0' && key[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(key[:end])
	if err != nil || n >= len(b.limits) {
		return nil
	}
	return &b.limits[n]
}

// budgetKey bounds a key that holds names from outside. It keeps the number at
// its beginning.
func budgetKey(key string) string {
	const most = 200
	if len(key) <= most {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return key[:8] + " #" + hex.EncodeToString(sum[:])
}
