package skill

import (
	"path/filepath"
	"strings"
)

// Where says where skills are looked for.
type Where struct {
	Paths         []string // in the settings; a path that ends in .md is a file
	Project, User bool     // in the usual places below Dir, and below Home
	Dir, Home     string
	// Above are the directories from the one above Dir up to the root of the project.
	Above []string
}

// usualPlaces is where programs keep skills, below a home or a project.
func usualPlaces() []string {
	return []string{filepath.Join(".agents", "skills"), filepath.Join(".agent", "skills"), filepath.Join(".claude", "skills")}
}

// Places are the places to look at, in the order in which they count.
func Places(w Where) []Place {
	var list []Place
	for _, text := range w.Paths {
		path, origin := text, Person
		if rest, tilde := strings.CutPrefix(text, "~"); tilde && w.Home != "" && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
			path = filepath.Join(w.Home, rest)
		} else if !filepath.IsAbs(path) && w.Dir != "" {
			path, origin = filepath.Join(w.Dir, path), Elsewhere // it means another folder in each project
		}
		list = append(list, Place{Path: filepath.Clean(path), File: IsFile(path), Scope: "settings", Origin: origin})
	}
	if w.Project && w.Dir != "" {
		for _, dir := range append([]string{w.Dir}, w.Above...) {
			if w.User && dir == w.Home {
				continue // its skills are the person's, below
			}
			for _, below := range usualPlaces() {
				list = append(list, Place{Path: filepath.Join(dir, below), Root: dir, Scope: ScopeProject})
			}
		}
	}
	if w.User && w.Home != "" {
		for _, below := range append(usualPlaces(), filepath.Join(".agenticx", "skills")) {
			list = append(list, Place{Path: filepath.Join(w.Home, below), Scope: "user", Origin: Person})
		}
	}
	return list
}

// Packaged are the places of skills that packages bring, each a file.
func Packaged(paths []string) []Place {
	list := make([]Place, len(paths))
	for i, path := range paths {
		list[i] = Place{Path: path, File: true, Scope: "package"}
	}
	return list
}

// ScopeProject is the scope of the places of a project.
const ScopeProject = "project"

// IsFile tells a file from a directory by its name: neither need exist yet.
func IsFile(path string) bool { return strings.EqualFold(filepath.Ext(path), ".md") }
