package sandbox

import (
	"maps"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/files"
)

// changed gives the directories that are not as they were when they were looked
// at: what vanished elsewhere may be there now.
func (w *shieldWalk) changed(root string) (list []string) {
	for dir, state := range w.visited {
		if !within(dir, root) {
			continue
		}
		if now, err := stateOf(dir); err == nil && now != state {
			list = append(list, dir)
		}
	}
	for _, dir := range list {
		delete(w.visited, dir)
	}
	return list
}

// stand tells whether all directories are as they were when they were looked
// at, so that there was one moment in which everything was where it was seen.
// They may be so and yet too young for that to be known.
func (w *shieldWalk) stand(began moment) (still, young bool) {
	for dir, state := range w.visited {
		if now, err := stateOf(dir); err != nil || now != state {
			return false, false
		}
		young = young || !state.before(began)
	}
	return !young, young
}

// grow waits until what changed before would show that it changed again.
func grow() {
	const longest = 12 * time.Millisecond // a kernel with the longest steps has 10
	for began, end := now(), time.Now().Add(longest); now() == began && time.Now().Before(end); {
		time.Sleep(500 * time.Microsecond)
	}
}

// longestWay is for how long a directory that is nowhere may be on its way.
const longestWay = time.Second

// lost tells whether a directory that mattered a moment ago was seen nowhere in
// this look. It may have been removed. It may also be on its way.
func (w *shieldWalk) lost() bool {
	w.shield.mu.Lock()
	defer w.shield.mu.Unlock()
	since := time.Now().Add(-longestWay)
	var here map[FileID]bool
	for dir, seen := range w.shield.seen {
		if _, ok := w.visited[dir]; ok || !seen.matters() || seen.at.Before(since) || !slices.ContainsFunc(w.dirs, func(d files.Dir) bool { return within(dir, d.Path) }) {
			continue
		}
		if here == nil {
			here = make(map[FileID]bool, len(w.visited))
			for state := range maps.Values(w.visited) {
				here[state.number()] = true
			}
		}
		if !here[seen.state.number()] {
			return true
		}
	}
	return false
}
