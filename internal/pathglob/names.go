package pathglob

import (
	"path/filepath"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names is how a system compares the names of files. The zero value goes by the
// bytes, as Linux does.
type Names struct {
	Fold bool // letter case does not tell names apart
	Back bool // a backslash separates names, too, and C: begins a path
}

// Here is how the system does that this program runs on. A disk of macOS can be set
// up to know letter case; who asks for a path in another case is then given the
// granted directory and never the other one.
func Here() Names { return NamesOf(runtime.GOOS) }

// NamesOf is Here for a system by the name that Go has for it.
func NamesOf(goos string) Names {
	return Names{Fold: goos == "windows" || goos == "darwin" || goos == "ios", Back: goos == "windows"}
}

// Inside reports whether a path is a directory or lies below it on this system, by
// their names alone.
func Inside(path, dir string) bool { return Here().Inside(path, dir) }

// Rel is the way from a directory to what lies in it, and "." for the directory itself;
// false for what lies elsewhere. It is filepath.Rel as this system compares names: that
// one knows letter case on a Mac, too, where it tells nothing apart.
func Rel(dir, path string) (rel string, ok bool) { return Here().Rel(dir, path) }

// Holds reports whether a path is a directory or lies below it, by their names alone,
// however they are written; see [Rel].
func Holds(dir, path string) bool {
	_, ok := Rel(dir, path)
	return ok
}

// Rel is [Rel] on another system.
func (n Names) Rel(dir, path string) (rel string, ok bool) {
	if n.isAbs(dir) && n.isAbs(path) {
		if n == Here() { // else there is nobody who knows how
			dir, path = filepath.Clean(dir), filepath.Clean(path)
		}
		rel, ok = n.Below(path, dir)
		if ok && rel == "" {
			rel = "."
		}
		return rel, ok
	}
	rel, err := filepath.Rel(dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return rel, true
}

// isAbs is filepath.IsAbs on any system.
func (n Names) isAbs(path string) bool {
	if n.Back {
		return len(path) > 2 && path[1] == ':' && n.separates(path[2]) || len(path) > 1 && n.separates(path[0]) && n.separates(path[1])
	}
	return strings.HasPrefix(path, "/")
}

// Same reports whether two names or paths are one.
func (n Names) Same(a, b string) bool {
	rest, ok := n.cut(a, b)
	return ok && rest == ""
}

// Inside reports whether a path is a directory or lies below it, by whole names:
// /home/ann2 is not inside /home/ann. Both are absolute and clean.
func (n Names) Inside(path, dir string) bool {
	_, ok := n.Below(path, dir)
	return ok
}

// Below gives what follows a directory in a path inside it.
func (n Names) Below(path, dir string) (rest string, ok bool) {
	path, dir = n.bare(path), n.bare(dir)
	for dir != "" && n.separates(dir[len(dir)-1]) {
		dir = dir[:len(dir)-1]
	}
	rest, ok = n.cut(path, dir)
	if !ok || rest != "" && !n.separates(rest[0]) || dir == "" && rest == "" {
		return "", false
	}
	for rest != "" && n.separates(rest[0]) {
		rest = rest[1:]
	}
	return rest, true
}

// bare takes the slash away that rules write before C:.
func (n Names) bare(path string) string {
	if n.Back && len(path) > 2 && n.separates(path[0]) && path[2] == ':' {
		return path[1:]
	}
	return path
}

func (n Names) separates(c byte) bool { return c == '/' || n.Back && c == '\\' }

// cut takes a text from the beginning of another one.
func (n Names) cut(s, prefix string) (rest string, ok bool) {
	if !n.Fold && !n.Back {
		return strings.CutPrefix(s, prefix)
	}
	for prefix != "" {
		if s == "" {
			return "", false
		}
		a, i := utf8.DecodeRuneInString(s)
		b, k := utf8.DecodeRuneInString(prefix)
		if s[:i] != prefix[:k] && !n.sameRune(a, b) {
			return "", false
		}
		s, prefix = s[i:], prefix[k:]
	}
	return s, true
}

// sameRune is narrower than Unicode's folding, which takes the sign for Kelvin for a
// k: no file system does, and what is granted must not be another directory.
func (n Names) sameRune(a, b rune) bool {
	switch {
	case a == utf8.RuneError || b == utf8.RuneError:
		return false // broken bytes are compared as they are
	case a < utf8.RuneSelf && b < utf8.RuneSelf && n.separates(byte(a)) && n.separates(byte(b)):
		return true
	}
	return n.Fold && (a < utf8.RuneSelf) == (b < utf8.RuneSelf) && unicode.ToUpper(a) == unicode.ToUpper(b) && unicode.ToLower(a) == unicode.ToLower(b)
}
