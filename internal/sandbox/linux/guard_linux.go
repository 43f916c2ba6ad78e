//go:build amd64 || arm64

package linux

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// A cover lies on a file, not on a name. When somebody outside saves a file by
// putting a new one in its place, as editors and git do, the kernel takes the
// cover away with the old file, and the new one lies open to whatever program
// runs at that moment. So a guard stands by while a program runs: everything is
// stopped, what was covered is looked for again and covered again, and then the
// program goes on.
//
// It is called in two ways. The first process of the namespace sees that a
// mount has gone, and stops all others itself. A file that is moved takes its
// cover along, which no mount tells: for that there is inotify (moves).

// guard is the guard of one program.
type guard struct {
	run   *run
	child *child
	grant toolcrib.Grant

	paths map[string]bool                      // what was covered when the program began
	laid  map[sandbox.FileID]sandbox.CoverKind // all that was ever covered

	streak time.Time // since when there is hardly anything between one loss and the next
	went   time.Time // when the program last went on
	told   map[string]bool
	fresh  map[sandbox.FileID]sandbox.Cover // covered anew, by number; a program may have it open
	inner  map[sandbox.FileID]sandbox.Cover // what lies in directories of these
	number uint32                           // of the last loss
	final  report                           // if it came while losses were looked at
	killed bool                             // by us, and said so
	laying bool                             // covers were laid, which changes the mounts as well

	mu      sync.Mutex
	asked   bool            // to stop all, and it was not reported yet
	covers  []sandbox.Cover // as they lie now
	missing []string        // where something was covered and nothing is
	mending bool
	patrols bool
	arrived map[string]sandbox.CoverKind // what came into covered directories
	spots   []int32                      // of moves, under its lock
	places  map[int32]place              // likewise: the covered directories that are watched
	heeds   map[int32]map[string]bool    // likewise: names that can lead others elsewhere

	doubts   chan struct{}     // whether others are led elsewhere
	led      bool              // they are, and it was not covered yet
	deaf     bool              // nobody tells of some places
	covering *sandbox.Covering // the last look
	known    *sandbox.Known    // and all that was covered by then
}

// The bounds on how long programs stay stopped: for somebody who is just about
// to put a new file where he removed the old one, and for covering all anew. How
// long they may take to stop is [quiet].
const (
	settleGrace = 300 * time.Millisecond
	settlePause = 3 * time.Millisecond
	mendGrace   = 5 * time.Second
	mendPause   = 10 * time.Millisecond
	goodRun     = 50 * time.Millisecond // between two losses that have nothing to do with each other
	streaks     = 6
	lookPeriod  = 20 * time.Millisecond // where nobody tells of moves
)

// errAway cannot be mended: what is looked at by its name is not what the
// program sees.
var errAway = errors.New("it was moved or removed")

var errRestless = errors.New("it happens again and again")

// attend hears the first process of the namespace until it ends, and gives its
// last report. It is zero if there was none.
func (r *run) attend(ctx context.Context, c *child, grant toolcrib.Grant) <-chan report {
	last := make(chan report, 1)
	g := &guard{run: r, child: c, grant: grant, covers: r.job.covers, paths: map[string]bool{}, told: map[string]bool{}, fresh: map[sandbox.FileID]sandbox.Cover{}, inner: map[sandbox.FileID]sandbox.Cover{}, laid: map[sandbox.FileID]sandbox.CoverKind{}, arrived: map[string]sandbox.CoverKind{}, places: map[int32]place{}, heeds: map[int32]map[string]bool{}, doubts: make(chan struct{}, 1)}
	if len(grant.Dirs) > 0 {
		go r.lookOut(c)
	}
	go func() {
		defer close(last)
		if r.space != nil {
			for _, c := range g.covers {
				g.paths[c.Path] = true
				g.laid[c.ID] = c.Kind
			}
			defer r.sandbox.moves.leave(g)
			g.remember(r.covering)
			g.follow(nil)
			end, ended := make(chan struct{}), make(chan struct{})
			go func() { defer close(ended); g.heed(end) }()
			defer func() { close(end); <-ended }()
		}
		for {
			told, file, err := receiveReport(r.report)
			if err == nil && told.kind == reportSocket {
				r.network.serve(told.first, file)
				continue
			}
			if file != nil {
				_ = file.Close() // nothing is sent any more
			}
			switch {
			case err != nil:
				return
			case told.kind == reportLost:
				g.lost(ctx, told.first, told.second)
				if g.final.kind != 0 {
					last <- g.final
					return
				}
			case told.kind != reportReady:
				last <- told
				return
			}
		}
	}()
	return last
}

// stop has all programs stopped, and a loss reported. One that is yet to be
// reported is enough.
func (g *guard) stop() {
	if !g.set(&g.asked, true) {
		g.say(orderStop, 0)
	}
}

// say gives an order. If it does not arrive the program has ended.
func (g *guard) say(kind, number uint32) {
	order := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, kind), number)
	_, _ = g.run.report.Write(append(order, make([]byte, 8)...))
}

// lost covers everything anew and lets the programs go on. If that cannot be
// done they are ended, and a person is told.
func (g *guard) lost(ctx context.Context, number, why uint32) {
	g.set(&g.asked, false)
	g.set(&g.mending, true)
	if time.Since(g.went) > goodRun {
		g.streak = time.Now()
	}
	g.number = number
	err := g.mend(ctx, why == lostMount)
	g.set(&g.mending, false)
	if err == nil && time.Since(g.streak) > streaks*g.run.sandbox.patience {
		err = errRestless
	}
	if err == nil {
		g.went = time.Now()
		g.say(orderGo, g.number)
		return
	}
	if g.over(ctx) || g.killed {
		return
	}
	g.killed = true
	if len(g.run.strays.notes(g.grant)) > 0 { // which say why
		_ = g.child.kill() // or it has ended
		return
	}
	place := g.changed()
	if moved, ok := movedPlace(err); ok {
		place = moved
	}
	if g.set(&g.led, false) && place == "" {
		g.run.notes = append(g.run.notes, fmt.Sprintf("a link or git settings in %s changed while the program ran, and what they lead to could not be covered (%v). The program was ended, because it could have changed what is obeyed from now on: start it again", sandbox.Shorten(g.grant.Dirs[0].Path), sandbox.Shorten(err.Error())))
		_ = g.child.kill() // or it has ended
		return
	}
	place = sandbox.Shorten(place)
	if place == "" {
		place = "something in " + g.grant.Dirs[0].Path
	}
	g.run.notes = append(g.run.notes, fmt.Sprintf("%s was replaced, moved or removed while the program ran, and could not be covered again (%v). The program was ended, because it could have read or changed what is protected: start it again", place, sandbox.Shorten(err.Error())))
	_ = g.child.kill() // or it has ended
}

// over: there is nothing left to be guarded.
func (g *guard) over(ctx context.Context) bool {
	select {
	case <-g.child.ended:
		return true
	default:
		return ctx.Err() != nil
	}
}

func (g *guard) mend(ctx context.Context, mount bool) error {
	for until := time.Now().Add(g.run.sandbox.patience); ; time.Sleep(mendPause) {
		g.settle(mount && !g.laying)
		g.gather()
		err := g.again()
		if err == nil || time.Now().After(until) || g.over(ctx) || errors.Is(err, errAway) || errors.Is(err, errOpened) || errors.Is(err, errNamed) || errors.Is(err, errStray) {
			return err
		}
	}
}

// gather hears what else was lost meanwhile: all of it is covered together.
func (g *guard) gather() {
	for g.final.kind == 0 {
		told, file, err := nextReport(g.run.report, false)
		if file != nil {
			_ = file.Close() // nothing is sent any more
		}
		switch {
		case err != nil:
			return
		case told.kind == reportLost:
			g.set(&g.asked, false) // or nothing would be asked for ever again
			g.number = told.first
		default:
			g.final = told
		}
	}
}

// settle waits a moment for what is missing: git and editors remove a file
// before they make it anew, and what we put there would be in their way. A mount
// goes just before its file does.
func (g *guard) settle(goes bool) {
	for until := time.Now().Add(settleGrace); time.Now().Before(until); time.Sleep(settlePause) {
		if goes && g.changed() == "" {
			continue
		}
		if !slices.ContainsFunc(g.covers, func(c sandbox.Cover) bool { return g.paths[c.Path] && absent(c.Path) }) {
			return
		}
	}
}

func absent(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, os.ErrNotExist)
}

// again looks once more, and covers what is not covered as it should be. What
// the program made itself since it began stays as it is: it knows that already.
func (g *guard) again() error {
	g.laying = g.changed() != "" // and then the mounts change
	for _, a := range g.run.anchors {
		if !a.stays() {
			return fmt.Errorf("the granted directory %s is not where it was: %w", a.path, errAway)
		}
	}
	if g.run.stray() {
		return errStray
	}
	before := g.seen()
	found, hold, err := g.run.sandbox.cfg.Shield.HoldAgain(g.grant, g.run.job.dir, g.known)
	if err != nil {
		return err
	}
	g.run.hold.Join(hold)
	found.Covers = g.run.shown(found.Covers)
	known := map[sandbox.FileID]bool{}
	for _, c := range found.Covers {
		_, laid := g.laid[c.ID]
		// What is hidden is so wherever it is by now. A program that made it itself
		// loses sight of it, which is better than to miss what was moved.
		known[c.ID] = known[c.ID] || laid || g.paths[c.Path] || c.Kind == sandbox.Hide || c.Further
		if !laid && g.paths[c.Path] || g.fresher(c) {
			g.freshen(c)
		}
	}
	covers := g.ledFirst(found.Covers, known) // by all their names
	led := slices.DeleteFunc(slices.Clone(covers), func(c sandbox.Cover) bool { return !g.fresher(c) || g.run.hold.Holds(c.Path) })
	done, err := g.run.coverAgain(covers, func(c sandbox.Cover) bool {
		kind, laid := g.laid[c.ID]
		return laid && (kind == c.Kind || kind == sandbox.Hide)
	})
	for _, c := range covers[:done] { // also if others could not be laid
		if kind, laid := g.laid[c.ID]; !laid || kind != sandbox.Hide {
			g.laid[c.ID] = c.Kind
		}
	}
	if err != nil {
		return err
	}
	for id, c := range g.fresh {
		if g.run.hold.Holds(c.Path) {
			delete(g.fresh, id) // we have just made it
		}
	}
	if err := g.takeArrived(); err != nil {
		return err
	}
	if err := opened(g.run.pid, g.fresh, g.inner); err != nil {
		return err
	}
	if err := g.named(covers, found.Dirs); err != nil {
		return err
	}
	clear(g.fresh)
	for _, c := range led {
		g.tellLed(c)
	}
	for _, c := range covers { // under the name that it has by now
		g.paths[c.Path] = true
		g.tellNew(c)
	}
	g.mu.Lock()
	g.covers = covers
	g.led = false
	g.mu.Unlock()
	g.remember(found)
	g.follow(before)
	return nil
}

// entry is what lies at a path. The time of its birth tells a new file from an old
// one whose number it got; that of a change would not do, because we ourselves open
// directories to look into them.
type entry struct {
	major, minor uint32
	inode        uint64
	born         unix.StatxTimestamp
}

func entryAt(path string) (entry, error) {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_INO|unix.STATX_BTIME, &st)
	return entry{st.Dev_major, st.Dev_minor, st.Ino, st.Btime}, err
}

// seen gives what lies where something was ever covered.
func (g *guard) seen() map[string]entry {
	found := make(map[string]entry, len(g.paths))
	for path := range g.paths {
		if e, err := entryAt(path); err == nil {
			found[path] = e
		}
	}
	return found
}

// tellNew notes that there is something else where others obey a file. In the
// moment before all was stopped the program itself could have put it there.
func (g *guard) tellNew(c sandbox.Cover) {
	was := slices.IndexFunc(g.run.job.covers, func(o sandbox.Cover) bool { return o.Path == c.Path })
	if c.Kind != sandbox.Fix || was < 0 || g.run.job.covers[was].ID == c.ID || g.run.hold.Holds(c.Path) || g.told[c.Path] {
		return
	}
	g.told[c.Path] = true
	g.run.notes = append(g.run.notes, fmt.Sprintf("%s was replaced while the program ran, and other programs obey it. If it was not you who did that, look at it before you use it", sandbox.Shorten(c.Path)))
}

// coverAgain lays covers in the namespace of a program that runs, and tells how
// many of them lie there.
func (r *run) coverAgain(covers []sandbox.Cover, enough func(sandbox.Cover) bool) (done int, err error) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("making a pipe: %w", err)
	}
	defer func() { _, _ = ours.Close(), theirs.Close() }()
	s := rebuild(r.job, covers, enough)
	keeper, err := r.sandbox.nursery.connect()
	if err != nil {
		return 0, err
	}
	child, err := keeper.birth(r.sandbox.who, 0, s, []*os.File{theirs, r.space})
	if err != nil {
		return 0, err
	}
	born := <-child.born
	_ = theirs.Close()
	if born.err != nil {
		return 0, born.err
	}
	<-child.ended
	var text [16]byte
	if n, err := ours.Read(text[:]); n != len(text) {
		return 0, errors.Join(err, errKeeper)
	}
	if binary.LittleEndian.Uint32(text[:]) == reportFailed {
		failed := binary.LittleEndian.Uint32(text[4:])
		done, _ := slices.BinarySearch(s.done, int(failed)+1)
		return done, s.failure(failed, binary.LittleEndian.Uint32(text[8:]))
	}
	return len(covers), nil
}

// rebuild writes the life of a process that goes into the namespaces of a
// program, whose mount namespace is sent as the second file, and lays covers.
func rebuild(j *job, covers []sandbox.Cover, enough func(sandbox.Cover) bool) *script {
	s := &script{}
	l := label{stepFiles, "going where the program is"}
	user := s.kept(l, unix.SYS_IOCTL, file(1), num(unix.NS_GET_USERNS))
	s.do(l, unix.SYS_SETNS, user, num(unix.CLONE_NEWUSER))
	s.do(l, unix.SYS_SETNS, file(1), num(unix.CLONE_NEWNS))
	if j.become {
		s.do(l, unix.SYS_SETRESGID, num(j.gid), num(j.gid), num(j.gid))
		s.do(l, unix.SYS_SETRESUID, num(j.uid), num(j.uid), num(j.uid))
	}
	s.lay(covers, enough)
	s.check(covers)
	l.detail = "telling that all is covered"
	s.do(l, unix.SYS_WRITE, num(reportAt), at(s.put(readyReport())), num(len(readyReport())))
	s.do(l, unix.SYS_EXIT_GROUP, num(0))
	return s
}

// set sets a mark and gives what it was.
func (g *guard) set(mark *bool, to bool) (was bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	was, *mark = *mark, to
	return was
}
