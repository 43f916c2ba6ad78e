package policy

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/toolcrib/toolcrib/internal/named"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// Where npm has packages and their programs, what makes a directory a package, and its
// list of what is installed.
const (
	modulesDir   = "node_modules"
	binDir       = ".bin"
	manifestName = "package.json"
	lockName     = ".package-lock.json"
)

// The bounds on what is looked at below a directory that a link leads to, or that is to have
// parts: entries, and what is read of their files.
const (
	maxLinked     = 1 << 14
	maxLinkedRead = 64 << 20
	maxPackage    = 1 << 20
)

var errTooMuch = errors.New("there is more than is looked at")

// isPackagePart: a package that npx looks for is called so, or its scope is.
func (n *takenNames) isPackagePart(elem string) bool {
	for name := range n.taken.Packages {
		if first, _, _ := strings.Cut(name, "/"); strings.EqualFold(first, elem) {
			return true
		}
	}
	return false
}

// modules finds a package in node_modules, at any depth, and a link in the place of
// node_modules or of a scope.
func (n *takenNames) modules(name string, c *newContent) *obeyedPlace {
	elems := strings.Split(strings.TrimPrefix(name, "/"), "/")
	inner := false
	for i, elem := range elems {
		if !strings.EqualFold(elem, modulesDir) {
			continue
		}
		dir, rest := "/"+strings.Join(elems[:i+1], "/"), elems[i+1:]
		switch {
		case len(rest) == 0 && c.isLink() && !inner:
			return &obeyedPlace{full: name, by: "it is a link, and npm, npx and hooks run what lies there"}
		case len(rest) == 1 && c.isLink() && !inner && rest[0] == binDir:
			return &obeyedPlace{full: name, by: "it is a link, and npm, npx and hooks run what lies there before the programs of the machine"}
		case len(rest) == 1 && c.isLink() && strings.HasPrefix(rest[0], "@") && n.isPackagePart(rest[0]):
			return &obeyedPlace{full: name, by: "it is a link, and npx takes packages from there"}
		}
		for _, pack := range slices.Sorted(maps.Keys(n.taken.Packages)) {
			parts := strings.Split(pack, "/")
			if len(rest) < len(parts) || !slices.EqualFunc(parts, rest[:len(parts)], strings.EqualFold) {
				continue
			}
			if place := path.Join(dir, path.Join(rest[:len(parts)]...)); !exists(path.Join(place, manifestName)) {
				return &obeyedPlace{full: place, by: startedThere(n.taken.Packages[pack], "run it")}
			}
		}
		inner = true
	}
	return nil
}

// isOuterBin tells of a directory whether npm has the programs of a project there, and not
// those of one of its packages: some link may make node_modules of the one around it.
func isOuterBin(dir string) bool {
	around := strings.TrimSuffix(strings.TrimSuffix(dir, "/"+binDir), "/"+modulesDir)
	return path.Base(dir) == binDir && !strings.Contains(around+"/", "/"+modulesDir+"/")
}

// programs finds a program that npx would run, and one that it would run instead of what a
// package means: it puts the programs of a project before those of the machine.
func (n *takenNames) programs(name string, c *newContent) *obeyedPlace {
	at := strings.LastIndex(name, "/"+binDir+"/")
	if at < 0 || !n.npm || !isOuterBin(name[:at+len(binDir)+1]) || exists(name) {
		return nil
	}
	rest := name[at+len(binDir)+2:]
	for _, bin := range slices.Sorted(maps.Keys(n.taken.Bins)) {
		scope, _, scoped := strings.Cut(bin, "/")
		if strings.EqualFold(bin, rest) || scoped && c.isLink() && strings.EqualFold(scope, rest) {
			return &obeyedPlace{full: name, by: startedThere(n.taken.Bins[bin], "run it")}
		}
	}
	if named.IsCommand(rest) || named.IsRunner(rest) {
		first := slices.Sorted(maps.Keys(n.taken.Bins))
		if len(first) > 0 {
			return &obeyedPlace{full: name, by: startedThere(n.taken.Bins[first[0]], "find it before the program of the machine")}
		}
	}
	return nil
}

// manifest finds a package, and npm's list of packages, that says it has a name that npx
// looks for. Where it lies does not matter: a link, a rename or a pattern of parts makes a
// package of it later.
func (n *takenNames) manifest(name string, c *newContent) *obeyedPlace {
	base := strings.ToLower(path.Base(name))
	if !n.npm || c == nil || base != manifestName && base != lockName {
		return nil
	}
	old := live(name)
	text, known := c.text(name, slices.Clone(old))
	taken, read := n.taken, named.Taken.Claims
	installed := strings.Contains(name, "/"+modulesDir+"/")
	switch {
	case base == lockName:
		read = named.Taken.Locked
	case installed:
		taken.Bins = nil // their programs are found by their links
	}
	if !known {
		all := maps.Clone(taken.Bins)
		if all == nil {
			all = map[string]string{}
		}
		maps.Copy(all, taken.Packages)
		return n.claimed(name, all, "it may say that it is")
	}
	claims := read(taken, text)
	own := read(taken, old)
	maps.DeleteFunc(claims, func(claim, _ string) bool { return own[claim] != "" })
	if len(claims) > 0 || base == lockName || installed {
		return n.claimed(name, claims, "it says that it is")
	}
	if dir := named.ProgramDir(text); dir != "" && dir != named.ProgramDir(old) {
		return n.claimed(name, taken.Bins, "it has every file in "+dir+" be a program, and one may be")
	}
	return n.parts(name, text, old)
}

// claimed says which name something claims.
func (n *takenNames) claimed(name string, claims map[string]string, says string) *obeyedPlace {
	for _, claim := range slices.Sorted(maps.Keys(claims)) {
		return &obeyedPlace{full: name, by: startedThere(says+" "+claim+", and "+claims[claim], "run that")}
	}
	return nil
}

// parts finds a package.json that makes parts of what lies below it, if one of them has a
// name that npx looks for.
func (n *takenNames) parts(name string, text, old []byte) *obeyedPlace {
	known := named.PartsOf(old)
	more := slices.DeleteFunc(named.PartsOf(text), func(pattern string) bool { return slices.Contains(known, pattern) })
	if len(more) == 0 || len(n.taken.Packages) == 0 {
		return nil
	}
	top := path.Dir(name)
	if slices.ContainsFunc(more, func(pattern string) bool { return strings.Contains(pattern, "..") || path.IsAbs(pattern) }) {
		top = n.o.root(name)
	}
	return n.claimed(name, n.claimsBelow(top, name), "it makes a part of it of")
}

// leads finds a link to a package that has such a name, or to a directory with one in it.
func (n *takenNames) leads(name string, c *newContent) *obeyedPlace {
	if !c.isLink() || len(n.taken.Packages) == 0 {
		return nil
	}
	if base := strings.ToLower(path.Base(name)); base == manifestName || base == lockName {
		return n.claimed(name, n.taken.Packages, "it is a link, and what it leads to may say that it is")
	}
	to, known := c.target(name)
	switch {
	case !known:
		return n.claimed(name, n.taken.Packages, "it is a link that may lead to")
	case !n.Writes(local(to)):
		return nil
	}
	taken := n.taken
	taken.Bins = nil
	own := taken.Claims(live(path.Join(name, manifestName)))
	claims, _ := claimsAt(taken, path.Join(to, manifestName))
	if in := "/" + modulesDir + "/"; !strings.Contains(to+"/", in) && (!strings.Contains(name, in) || strings.HasPrefix(path.Base(name), "@")) {
		claims = n.claimsBelow(to, "")
	}
	maps.DeleteFunc(claims, func(claim, _ string) bool { return own[claim] != "" })
	return n.claimed(name, claims, "it is a link that leads to")
}

// claimsAt gives the names that a package.json claims which is there already. One that cannot
// be read may claim any.
func claimsAt(taken named.Taken, file string) (claims map[string]string, size int) {
	text, err := plainfile.Read(local(file), maxPackage)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return map[string]string{}, 0
	case err != nil:
		return maps.Clone(taken.Packages), 0
	}
	return taken.Claims(text), len(text)
}

// claimsBelow gives the names that packages at a directory and below it claim, without those
// that are installed there. Where there is more than is looked at, it may be any.
func (n *takenNames) claimsBelow(top, except string) map[string]string {
	taken := n.taken
	taken.Bins = nil
	out := map[string]string{}
	left, bytes := maxLinked, maxLinkedRead
	err := filepath.WalkDir(local(top), func(file string, d fs.DirEntry, err error) error {
		if left--; left < 0 || bytes < 0 {
			return errTooMuch
		}
		switch {
		case err != nil:
			return nil //nolint:nilerr // what nobody can look into is no package
		case d.IsDir() && slices.Contains([]string{modulesDir, ".git"}, d.Name()):
			return fs.SkipDir
		case d.Type()&fs.ModeSymlink != 0 && d.Name() != manifestName:
			file = filepath.Join(file, manifestName)
		case d.Name() != manifestName:
			return nil
		}
		if !pathglob.Here().Same(filepath.ToSlash(file), except) {
			claims, size := claimsAt(taken, filepath.ToSlash(file))
			maps.Copy(out, claims)
			bytes -= size
		}
		return nil
	})
	if err != nil {
		maps.Copy(out, taken.Packages)
	}
	return out
}

// programDir finds a file in a directory of which a package.json that was there says that
// every file in it is a program.
func (n *takenNames) programDir(name string, _ *newContent) *obeyedPlace {
	base := path.Base(name)
	if n.taken.Bins[base] == "" || exists(name) {
		return nil
	}
	for dir := path.Dir(name); pathglob.Within(dir, n.o.roots()); dir = path.Dir(dir) {
		inner := named.ProgramDir(live(path.Join(dir, manifestName)))
		if inner != "" && pathglob.Within(name, []string{path.Join(dir, inner)}) {
			return &obeyedPlace{full: name, by: startedThere(n.taken.Bins[base], "run it")}
		}
		if dir == "/" {
			break
		}
	}
	return nil
}
