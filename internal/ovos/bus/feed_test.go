package bus

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestFeedDropsOnlyWhoIsBehind(t *testing.T) {
	f := newFeed(4, 1<<20)
	fast, slow := &peer{}, &peer{}
	at, behind := f.join(fast), f.join(slow)
	buf := make([]*frame, 0, 8)
	for i := range 4 {
		if got := f.publish([]byte{byte(i)}); got != nil {
			t.Fatalf("frame %d dropped someone", i)
		}
		f.done(at, len(f.peek(at, buf, 100)))
	}
	got := f.publish([]byte{9})
	if len(got) != 1 || got[0] != slow {
		t.Fatalf("dropped %v, want the slow one", got)
	}
	if f.peek(behind, buf, 100) != nil {
		t.Error("a client without a place still gets frames")
	}
	f.done(behind, 3) // it was writing when it lost its place
	if frames := f.peek(at, buf, 100); len(frames) != 1 || frames[0].wire[0] != 9 {
		t.Errorf("the fast one gets %v", frames)
	}
	f.done(at, 1)
	if len(f.queue) != 0 || f.bytes != 0 {
		t.Errorf("%d frames, %d bytes are left", len(f.queue), f.bytes)
	}
}

func TestFeedHoldsOneFrameOfAnySize(t *testing.T) {
	f := newFeed(100, 10)
	p := &peer{}
	f.join(p)
	if got := f.publish(make([]byte, 50)); got != nil {
		t.Error("a single large frame dropped a client that waits for it")
	}
	if got := f.publish(make([]byte, 1)); len(got) != 1 {
		t.Error("the bound on bytes does not hold")
	}
	if len(f.queue) != 0 || f.bytes != 0 {
		t.Errorf("%d frames, %d bytes are left", len(f.queue), f.bytes)
	}
}

func TestFeedForgetsWhoLeaves(t *testing.T) {
	f := newFeed(100, 1<<20)
	for range 50 {
		p := &peer{}
		at := f.join(p)
		ended := make(chan bool)
		go func() { ended <- f.peek(at, make([]*frame, 0, 1), 1) == nil }()
		for idle := false; !idle; {
			f.mu.Lock()
			idle = at.idle
			f.mu.Unlock()
		}
		f.leaveQueue(p)
		f.leaveQueue(p)
		if !<-ended {
			t.Fatal("got a frame that nobody sent")
		}
	}
	if len(f.idle) != 0 || len(f.peers) != 0 {
		t.Errorf("%d idle places, %d clients are left", len(f.idle), len(f.peers))
	}
}

func TestPaceHoldsOnlyByItsOwnPlace(t *testing.T) {
	f := newFeed(8, 1<<20)
	sender, other := &peer{}, &peer{}
	at, _ := f.join(sender), f.join(other)
	buf := make([]*frame, 0, 8)
	for range 5 {
		f.publish([]byte{1})
		f.done(at, len(f.peek(at, buf, 100)))
		f.pace(at) // must not wait, although the other has read nothing
	}
	f.leaveQueue(other)
	for range 5 {
		f.publish([]byte{1})
	}
	held := make(chan struct{})
	go func() {
		defer close(held)
		f.pace(at)
	}()
	for set := false; !set; {
		f.mu.Lock()
		set = at.held
		f.mu.Unlock()
	}
	f.done(at, 2) // 3 of 5 are left, which is over a quarter of 8
	f.mu.Lock()
	if !at.held {
		t.Error("let go too early")
	}
	f.mu.Unlock()
	f.done(at, 1)
	select {
	case <-held:
	case <-time.After(patience):
		t.Fatal("held for ever")
	}
}

// TestFeedModel compares the feed with the plain idea of it: a list of frames
// and a place in it for each client.
func TestFeedModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		maxFrames := rapid.IntRange(1, 6).Draw(t, "frames")
		maxBytes := rapid.IntRange(1, 30).Draw(t, "bytes")
		f := newFeed(maxFrames, int64(maxBytes))
		var all []byte // the size of every frame, which is also its content
		next := map[*peer]int{}
		places := map[*peer]*queuePlace{}
		var order []*peer
		pick := func() *peer { return order[rapid.IntRange(0, len(order)-1).Draw(t, "who")] }
		forget := func(p *peer) {
			delete(next, p)
			for i, other := range order {
				if other == p {
					order = append(order[:i:i], order[i+1:]...)
				}
			}
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch step := rapid.IntRange(0, 5).Draw(t, "step"); {
			case step == 0 || len(order) == 0:
				p := &peer{}
				places[p] = f.join(p)
				next[p] = len(all)
				order = append(order, p)
			case step == 1:
				p := pick()
				f.leaveQueue(p)
				forget(p)
			case step <= 3:
				size := rapid.IntRange(1, 12).Draw(t, "size")
				wire := make([]byte, size)
				wire[0] = byte(size)
				slow := map[*peer]bool{}
				for _, p := range f.publish(wire) {
					slow[p] = true
				}
				all = append(all, byte(size))
				for _, p := range append([]*peer(nil), order...) {
					lag, bytes := len(all)-next[p], 0
					for _, n := range all[next[p]:] {
						bytes += int(n)
					}
					want := lag > 1 && (lag > maxFrames || bytes > maxBytes)
					if slow[p] != want {
						t.Fatalf("%d frames, %d bytes behind: dropped %v", lag, bytes, slow[p])
					}
					if want {
						forget(p)
					}
				}
			default:
				p := pick()
				if next[p] == len(all) {
					continue
				}
				frames := f.peek(places[p], make([]*frame, 0, 3), 10)
				for i, fr := range frames {
					if fr.wire[0] != all[next[p]+i] {
						t.Fatal("a frame out of order")
					}
				}
				n := rapid.IntRange(1, len(frames)).Draw(t, "done")
				f.done(places[p], n)
				next[p] += n
			}
			behind := 0
			for _, p := range order {
				behind = max(behind, len(all)-next[p])
			}
			if len(f.queue) != behind {
				t.Fatalf("%d frames are kept, the last client needs %d", len(f.queue), behind)
			}
		}
	})
}
