package reach

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/toolfile"
	"github.com/toolcrib/toolcrib/toolbox/script"
)

// ToolFiles is a folder of files that declare tools.
type ToolFiles interface {
	Read() ([]toolfile.Source, error)
	Marks() string
}

// Open opens a folder as a box. Without a sandbox its tools are listed and cannot be called.
func (t *Tools) Open(ctx context.Context, cfg script.Config, from ToolFiles, needs script.Needs) (toolcrib.Toolbox, error) {
	needs.Files, needs.Marks, t.files = from.Read, from.Marks, from
	if t.Box != nil {
		needs.Run, needs.Ready = t.Run, t.Ready
	}
	box, err := script.Open(ctx, cfg, needs)
	if err != nil {
		return nil, err
	}
	return box, nil
}

// Also is a folder whose tools may be others when another file is: that of what is trusted.
func Also(folder ToolFiles, file string) ToolFiles { return alsoFolder{folder, file} }

type alsoFolder struct {
	ToolFiles
	file string
}

func (a alsoFolder) Marks() string { return a.ToolFiles.Marks() + plainfile.Marks(a.file) }

// GrantedSecret gives a tool a secret that vault.grants has for it.
func GrantedSecret(ctx context.Context, env *toolcrib.Env, tool, name string) (string, error) {
	if env.Secret == nil {
		return "", &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "the secret " + name + " was not granted: vault.grants has to name it for " + tool}
	}
	return env.Secret(ctx, name)
}

// ShownDir is where files of ours lie that programs in a sandbox are shown: neither in the state directory nor in the cache,
// of which no program sees anything. Commands can only read it.
func ShownDir(home string) string {
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".cache", "toolcrib-shown")
}

// Shown is that place as far as tools could write there: it is only read, whatever was granted.
func (r Reach) Shown() []string {
	dir := ShownDir(r.home)
	if dir == "" || !r.ToolsWrite(dir) {
		return nil
	}
	list := []string{filepath.ToSlash(dir)}
	if there := filepath.ToSlash(realDir(dir)); there != list[0] {
		list = append(list, there)
	}
	return list
}

// CopiesIn are the copies of a person.
func CopiesIn(home string) Copies {
	if home == "" {
		return Copies{}
	}
	return Copies{Dir: filepath.Join(ShownDir(home), "tools")}
}

// Safe is a folder of a person's own tools that is read only where tools cannot write: whoever can write there makes tools
// that reach what they like.
func (r Reach) Safe(folder toolfile.Folder) ToolFiles { return safeFolder{folder, r} }

type safeFolder struct {
	toolfile.Folder
	reach Reach
}

func (s safeFolder) Read() ([]toolfile.Source, error) {
	if s.reach.writesIn(s.Dir) {
		return nil, errors.New(s.Dir + " lies where tools can write, and could be given other tools there: move it, or leave it beside the settings")
	}
	list, err := s.Folder.Read()
	if err != nil || len(list) == 0 {
		return list, err
	}
	if err := notEverybodys(s.Dir); err != nil {
		return nil, err
	}
	for i, f := range list {
		// A link is followed, and its file must lie as safely as the folder does.
		if at := realDir(f.Path); at != f.Path && s.reach.writesIn(at) {
			list[i].Content, list[i].Executable = nil, true
			list[i].Err = errors.New(f.Path + " leads to " + at + ", where tools can write, and could be made any tool: put a copy there instead of the link")
		}
		if list[i].Err == nil {
			list[i].Err = notEverybodys(f.Path)
		}
	}
	return list, nil
}

// notEverybodys refuses what all people of the machine can write: they would make tools
// that run with the rights of this one.
func notEverybodys(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if everybody := fs.FileMode(0o002); runtime.GOOS != "windows" && info.Mode().Perm()&everybody != 0 {
		return fmt.Errorf("everybody may write %s (mode %04o): run chmod o-w on it", path, info.Mode().Perm())
	}
	return nil
}

// writesIn tells whether tools can write in a directory that is there, or a file.
func (r Reach) writesIn(dir string) bool {
	if dir == "" || r.Own == nil || !r.ToolsWrite(dir) {
		return false
	}
	handle, err := files.New(r.Dirs, r.Files)
	if err != nil {
		return true
	}
	_, err = handle.Real(dir)
	_ = handle.Close() // nothing was opened
	return !errors.Is(err, files.ErrProtected) && !errors.Is(err, os.ErrNotExist)
}
