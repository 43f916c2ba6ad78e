package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A project brings tools along in a folder of its own. Nothing in it counts until the person trusts it, file by file, as
// it is: see Trust.

// ProjectToolDir names the folder of tools of the project in a directory.
func ProjectToolDir(project string) string {
	return filepath.Join(project, ".toolcrib", "tools")
}

// What is looked at in a project's folder of tools. A person who is asked reads all of it.
const (
	maxProjectTools = 200
	maxProjectBytes = 8 << 20
)

// FindProjectTools looks for a folder of tools in dir and the directories above it, but neither in the home directory nor at
// the top: what lies there is in no project. The nearest one counts. Empty: there is none. A folder that cannot be looked at
// is passed over: it could only have added something.
func FindProjectTools(dir, home string) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	var homeInfo fs.FileInfo
	if home != "" {
		homeInfo, _ = os.Stat(home) // what is not there is nowhere
	}
	for dir = filepath.Clean(dir); dir != filepath.Dir(dir) && !sameDir(dir, homeInfo); dir = filepath.Dir(dir) {
		// A link too, so that it is told what is wrong with it.
		if _, err := os.Lstat(ProjectToolDir(dir)); err == nil {
			return ProjectToolDir(dir)
		}
	}
	return ""
}

// ToolFile is one file of a project's folder of tools.
type ToolFile struct {
	Path    string
	Content []byte
	Mode    fs.FileMode
	Foreign string // says whose it is, where it belongs to another account
	Err     error  // why it cannot be read; it has no content then
}

// errLinkedFolder quotes nothing: a clone can bring a link to any place of the person.
var errLinkedFolder = errors.New("it is reached over a link, and is not read; the tools of a project lie in the project itself: put a copy there instead of the link")

// ReadProjectTools reads the files of a project's folder of tools, by their names. Names that begin with a dot, and
// folders, are no tools.
func ReadProjectTools(dir string) ([]ToolFile, error) {
	if err := plainFolder(dir); err != nil {
		return nil, fmt.Errorf("%s: %w", printable(dir), err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the tools of the project: %w", err)
	}
	var list []ToolFile
	total := 0
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || e.IsDir() {
			continue
		}
		if len(list) == maxProjectTools {
			return nil, fmt.Errorf("%s has more than %d files, and nobody reads so many: put what is no tool elsewhere", printable(dir), maxProjectTools)
		}
		list = append(list, readToolFile(filepath.Join(dir, e.Name())))
		if total += len(list[len(list)-1].Content); total > maxProjectBytes {
			return nil, fmt.Errorf("the files in %s have more than %s, and nobody reads so much: put what is no tool elsewhere", printable(dir), formatBytes(maxProjectBytes))
		}
	}
	return list, nil
}

func readToolFile(path string) ToolFile {
	file := ToolFile{Path: path}
	info, err := os.Lstat(path)
	if err == nil {
		file.Mode, file.Foreign = info.Mode(), otherOwner(path, info, os.Geteuid())
		file.Content, err = readSettings(path, projectRole())
	}
	if errors.Is(err, errLink) {
		err = errors.New("it is a link, and is not read: put a copy there instead of the link")
	}
	file.Err = err
	return file
}

// plainFolder refuses a folder of tools that a link stands before: the files behind it may be trusted for the project that
// they lie in, and for no other.
func plainFolder(dir string) error {
	for _, part := range []string{filepath.Dir(dir), dir} {
		info, err := os.Lstat(part)
		switch {
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			return errLinkedFolder
		case !info.IsDir():
			return errors.New("it is not a directory")
		}
	}
	return nil
}

// toolName is the one name of a file of tools: in the real directory of its project, with no link from there on.
func toolName(file string) (string, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	dir, project := filepath.Dir(abs), filepath.Dir(filepath.Dir(filepath.Dir(abs)))
	if dir != ProjectToolDir(project) {
		return "", fmt.Errorf("%s does not lie in %s of a project", printable(abs), ProjectToolDir(""))
	}
	if err := plainFolder(dir); err != nil {
		return "", err
	}
	name, err := realName(abs)
	if err != nil {
		return "", err
	}
	if project, err = filepath.EvalSymlinks(project); err != nil {
		return "", err
	}
	// Another folder may have been put there since it was looked at.
	if name != filepath.Join(ProjectToolDir(project), filepath.Base(abs)) {
		return "", errLinkedFolder
	}
	return name, nil
}

// HoldsTool reports whether a file of a project's folder of tools is trusted with this content. What is run must be this
// content, and not what the file holds by then.
func (t Trust) HoldsTool(file string, content []byte) bool {
	list, err := t.read(false)
	if err != nil {
		return false
	}
	name, err := toolName(file)
	if err != nil {
		return false
	}
	entry, ok := list[name]
	return ok && entry.Tool && entry.SHA256 == fingerprint(content)
}

// KnowsTool reports whether a file of tools was trusted with whatever content.
func (t Trust) KnowsTool(file string) bool {
	list, err := t.read(false)
	if err != nil {
		return false
	}
	name, err := toolName(file)
	return err == nil && list[name].Tool
}

// AddTools trusts files of tools with the content that was shown, all of them or none.
func (t Trust) AddTools(files []ToolFile, now time.Time) error {
	add := map[string]Trusted{}
	for _, f := range files {
		name, err := toolName(f.Path)
		if err != nil {
			return err
		}
		add[name] = Trusted{SHA256: fingerprint(f.Content), At: now.UTC(), Tool: true}
	}
	return t.change(func(list map[string]Trusted) bool {
		maps.Copy(list, add)
		return len(add) > 0
	})
}

// RemoveTools takes trust away from everything in a project's folder of tools, and gives what it was. The files may be gone.
func (t Trust) RemoveTools(dir string) (was []string, err error) {
	if project, err := filepath.EvalSymlinks(filepath.Dir(filepath.Dir(dir))); err == nil {
		dir = ProjectToolDir(project)
	}
	err = t.change(func(list map[string]Trusted) bool {
		for name, entry := range list {
			if entry.Tool && filepath.Dir(name) == filepath.Clean(dir) {
				was = append(was, name)
				delete(list, name)
			}
		}
		return len(was) > 0
	})
	slices.Sort(was)
	return was, err
}
