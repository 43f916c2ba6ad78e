package skill

import (
	"crypto/sha256"
	"fmt"
	"time"
)

// Notify has changed called when there are other skills than before, until stop is called. Folders
// are looked at now and then: nothing tells of a change in all of them.
func (b *Box) Notify(changed func()) (stop func()) {
	stop = b.watchers.Add(changed)
	b.once.Do(func() {
		b.polling.Add(1)
		go b.poll()
	})
	return stop
}

// Close ends the looking for changes.
func (b *Box) Close() error {
	b.stop()
	b.once.Do(func() {}) // nothing begins after it
	b.polling.Wait()
	return nil
}

// restFactor is how many times as long as a look takes it is waited until the next, so that thousands of skills cost
// no more than a few.
const restFactor = 50

func (b *Box) poll() {
	defer b.polling.Done()
	for wait := b.cfg.Every; ; {
		select {
		case <-b.ctx.Done():
			return
		case <-time.After(wait):
		}
		began := time.Now()
		found, err := b.scanPlaces(b.ctx)
		wait = max(b.cfg.Every, restFactor*time.Since(began))
		if err == nil && b.isOther(found) {
			b.watchers.Each(func(do func()) { do() })
		}
	}
}

// begun notes what watchers know from the beginning: what the tools were first made of.
func (b *Box) begun(found *foundSkills) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.told == nil {
		sum := found.sum()
		b.told = &sum
	}
}

// isOther reports whether other skills were found than were told of last, and has it told of these.
func (b *Box) isOther(found *foundSkills) bool {
	now := found.sum()
	b.mu.Lock()
	defer b.mu.Unlock()
	same := b.told != nil && *b.told == now
	b.told = &now
	return !same
}

// sum is what lists say of the skills.
func (f *foundSkills) sum() (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, s := range f.skills {
		fmt.Fprintf(h, "%q %q %q %q\n", s.Name, s.Description, s.Scope, s.Path)
	}
	h.Sum(sum[:0])
	return sum
}
