package sandbox

import "os"

// coverOuter hides what the links in protected places lead to, as ~/.ssh/config
// to one of the dotfiles that are worked on.
func (w *shieldWalk) coverOuter() {
	s := w.shield
	dirs, whole := make([]string, 0, len(w.dirs)), []string{s.Start}
	for _, d := range w.dirs {
		if dirs = append(dirs, d.Path); !w.rooms[d.Path] {
			whole = append(whole, d.Path)
		}
	}
	for _, led := range s.outer.Into(dirs, whole) {
		if s.hidden.Excepted(elements(led.Target)) {
			continue
		}
		w.outer = append(w.outer, led)
		if info, err := os.Lstat(led.Target); err == nil && w.inside(led.Target) {
			w.hide(led.Target, info.IsDir())
		}
		w.pinLinks(led.Through)
	}
}
