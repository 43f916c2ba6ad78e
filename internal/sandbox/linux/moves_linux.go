//go:build amd64 || arm64

package linux

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// moves tells guards that something covered was moved, or that something came
// to a place where nothing was. It is one for all programs of a sandbox, because
// a user has few of these.
type moves struct {
	mu      sync.Mutex
	file    *os.File
	fd      int // of file, which stays open as long as this is used
	closed  bool
	watches map[int32]map[*guard]map[string]bool // by watch: who wants to know, of which names; "" for itself
	ended   chan struct{}
}

// anyName stands for every name in a directory.
const anyName = "/"

// add has a guard told when what lies at a path is moved, or when a name
// appears in it. It reports whether that can be done.
func (m *moves) add(g *guard, path, name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.open() {
		return false
	}
	mask := uint32(unix.IN_MOVE_SELF)
	if name != "" {
		mask |= unix.IN_CREATE | unix.IN_MOVED_TO
	}
	watch, err := m.watch(g, path, mask)
	if err != nil {
		return false
	}
	m.watches[watch][g][name] = true
	return true
}

// arrivals has a guard told what comes into a covered directory. If that cannot be
// done nobody tells of it. It reports whether that is new.
func (m *moves) arrivals(g *guard, dir string, kind sandbox.CoverKind) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.open() {
		return false
	}
	watch, err := m.watch(g, dir, unix.IN_MOVE_SELF|unix.IN_CREATE|unix.IN_MOVED_TO|unix.IN_MOVED_FROM)
	if err != nil {
		return false
	}
	before := m.watches[watch][g][anyName]
	m.watches[watch][g][anyName], g.places[watch] = true, place{dir, kind}
	return !before
}

// departures has it looked at soon when something is moved out of a directory. If
// that cannot be done it is looked at later.
func (m *moves) departures(g *guard, dir string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.open() {
		_, _ = m.watch(g, dir, unix.IN_MOVED_FROM) // it is a hint only
	}
}

// watch is called with the lock.
func (m *moves) watch(g *guard, path string, mask uint32) (int32, error) {
	n, err := unix.InotifyAddWatch(m.fd, path, mask|unix.IN_MASK_ADD|unix.IN_DONT_FOLLOW)
	if err != nil {
		return 0, err
	}
	watch := int32(n)
	if m.watches[watch] == nil {
		m.watches[watch] = map[*guard]map[string]bool{}
	}
	if m.watches[watch][g] == nil {
		m.watches[watch][g] = map[string]bool{}
		g.spots = append(g.spots, watch)
	}
	return watch, nil
}

// open is called with the lock.
func (m *moves) open() bool {
	if m.file != nil || m.closed {
		return m.file != nil
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return false
	}
	m.fd, m.file, m.watches, m.ended = fd, os.NewFile(uintptr(fd), "inotify"), map[int32]map[*guard]map[string]bool{}, make(chan struct{})
	go m.listen(m.file)
	return true
}

// leave ends all that a guard is told.
func (m *moves) leave(g *guard) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, watch := range g.spots {
		delete(m.watches[watch], g)
		if len(m.watches[watch]) == 0 {
			delete(m.watches, watch)
			if m.file != nil {
				_, _ = unix.InotifyRmWatch(m.fd, uint32(watch)) // what it watched may be gone
			}
		}
	}
	g.spots = nil
}

func (m *moves) close() {
	m.mu.Lock()
	file := m.file
	m.file, m.closed = nil, true
	m.mu.Unlock()
	if file != nil {
		_ = file.Close()
		<-m.ended
	}
}

// listen passes on what the kernel tells.
func (m *moves) listen(from *os.File) {
	defer close(m.ended)
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		m.mu.Lock()
		wanted := m.told(buffer[:n])
		m.mu.Unlock()
		for g := range wanted {
			g.stop()
		}
	}
}

// told reads a list of struct inotify_event and gives who is to know. After an
// overflow that is everybody.
func (m *moves) told(text []byte) map[*guard]bool {
	const head = 16
	wanted := map[*guard]bool{}
	left := map[uint32]int32{} // from where something was moved, by the number of the move
	for len(text) >= head {
		watch, mask := int32(binary.NativeEndian.Uint32(text)), binary.NativeEndian.Uint32(text[4:])
		size := head + int(binary.NativeEndian.Uint32(text[12:]))
		if size > len(text) {
			break
		}
		name, _, _ := bytes.Cut(text[head:size], []byte{0})
		move := binary.NativeEndian.Uint32(text[8:])
		text = text[size:]
		if mask&unix.IN_MOVED_FROM != 0 {
			left[move] = watch
		}
		if mask&unix.IN_Q_OVERFLOW != 0 {
			for _, guards := range m.watches {
				for g := range guards {
					wanted[g] = true
				}
			}
		}
		for g, names := range m.watches[watch] {
			if mask&unix.IN_MOVED_FROM != 0 {
				g.run.strays.hint()
			}
			came := mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0
			if mask&unix.IN_MOVE_SELF != 0 || names[string(name)] && came {
				wanted[g] = true
			}
			if written := mask&unix.IN_CLOSE_WRITE != 0; (came || written) && (g.heeds[watch][string(name)] || g.heeds[watch][anyName]) {
				g.doubt()
			}
			from, within := left[move]
			elsewhere := mask&unix.IN_MOVED_TO != 0 && (!within || from != watch)
			// Where settings and hooks lie, what comes in their place counts; hooks also
			// if they were made there, because nobody saw what came into them.
			heeded := g.heeds[watch][string(name)] && (elsewhere || string(name) == "hooks")
			at := g.places[watch]
			if came && (names[anyName] || heeded) && g.arrives(filepath.Join(at.path, string(name)), at.kind, elsewhere || heeded) {
				wanted[g] = true
			}
		}
		if mask&unix.IN_IGNORED != 0 {
			delete(m.watches, watch)
		}
	}
	return wanted
}
