package hub

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/execfile"
	"github.com/toolcrib/toolcrib/internal/remedy"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// PluginDir is where programs lie that are servers: never in a working directory,
// which may be anybody's.
func PluginDir(cfg settings.Hub, settingsDir string) string {
	if dir := cfg.Plugins; settingsDir == "" || filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(settingsDir, cmp.Or(cfg.Plugins, "plugins"))
}

// Plugin is a file in the folder of plugins that is a server, or was meant to be one.
type Plugin struct {
	Name string // of the server: that of its file, without what stands behind the last dot
	Path string
	Err  error // why it cannot be started; nil: nothing is known against it

	mark string // another one, if the file is another
}

func (p Plugin) file() string { return filepath.Base(p.Path) }

// Plugins looks at the folder of plugins. What nobody means to be a program is
// passed over: documents, hidden files, what editors leave behind, directories. No
// file takes another with it.
func Plugins(dir string) ([]Plugin, error) {
	if dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking for plugins: %w", err)
	}
	var out []Plugin
	for _, e := range entries {
		if passedOver(e.Name()) {
			continue
		}
		p := Plugin{Name: strings.TrimSuffix(e.Name(), filepath.Ext(e.Name())), Path: filepath.Join(dir, e.Name())}
		info, err := os.Stat(p.Path) // a link is followed: who made it may write here
		switch {
		case errors.Is(err, os.ErrNotExist):
			p.Err = remedy.With(fmt.Errorf("%s is a link that leads nowhere", e.Name()), "rm "+text.ShellWord(p.Path))
		case err != nil:
			p.Err = fmt.Errorf("%s cannot be looked at: %w", e.Name(), err)
		case !info.Mode().IsRegular():
			continue
		default:
			meant, why := judge(p.Path, info, runtime.GOOS)
			if !meant {
				continue
			}
			if p.mark = markOf(info); why != "" {
				p.Err = remedy.With(fmt.Errorf("%s is no plugin yet: %s", e.Name(), why), pluginFix(p.Path, info, why))
			}
		}
		out = append(out, p)
	}
	return twice(out), nil
}

// pluginFix is the command that makes a plugin of a file; empty: it has to be changed.
func pluginFix(path string, info os.FileInfo, why string) string {
	if info.Mode().Perm()&0o111 == 0 && runtime.GOOS != "windows" {
		return "chmod +x " + text.ShellWord(path)
	}
	if _, rest, ok := strings.Cut(why, "its first line asks for \""); ok {
		program, _, _ := strings.Cut(rest, "\"")
		if install := remedy.Install(filepath.Base(program), exec.LookPath, os.Geteuid() == 0); install != "" {
			return install
		}
	}
	return "toolcrib plugins check " + text.ShellWord(path)
}

// twice refuses plugins of one name: neither may be the one that is meant.
func twice(list []Plugin) []Plugin {
	for i := range list {
		for _, other := range list {
			if other.Path != list[i].Path && other.Name == list[i].Name && list[i].Err == nil {
				list[i].Err = fmt.Errorf("%s and %s are called the same, and one of them may not be meant; rename one", list[i].file(), other.file())
			}
		}
	}
	return list
}

// passedOver: by its name nobody means it to be a program, whatever its rights say.
// Some disks give everything the right to be started, and editors give what they
// leave behind the rights of the file.
func passedOver(name string) bool {
	switch {
	case strings.HasPrefix(name, "."), strings.HasSuffix(name, "~"), strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#"):
		return true
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".bak", ".old", ".orig", ".rej", ".swp", ".swo", ".tmp", ".part", ".crdownload", ".rpmsave", ".rpmnew", ".dpkg-old", ".dpkg-dist", // left behind
		".md", ".txt", ".rst", ".adoc", ".html", ".pdf", ".png", ".jpg", ".svg", // to be read
		".json", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".env", ".csv", ".xml", ".db", ".sqlite", ".log", ".lock", ".pid", ".pem", ".key", ".crt", // data of plugins
		".go", ".rs", ".c", ".h", ".cpp", ".java", ".o", ".a", ".so", ".dylib", ".dll", ".pyc", ".class", ".d", ".pdb", // what they are made of
		".zip", ".gz", ".tgz", ".xz", ".sha256", ".sig", ".asc":
		return true
	}
	base, _, _ := strings.Cut(strings.ToLower(name), ".")
	return slices.Contains([]string{"readme", "license", "licence", "copying", "notice", "authors", "changelog", "makefile", "dockerfile", "thumbs", "desktop"}, base)
}

// judge says whether a file is meant to be a plugin, and what keeps it from being
// one.
func judge(path string, info os.FileInfo, goos string) (meant bool, why string) {
	ext := strings.ToLower(filepath.Ext(path))
	script := slices.Contains([]string{".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".sh", ".bash", ".rb", ".pl", ".php", ".lua", ".ps1"}, ext)
	functions := slices.Contains([]string{".py", ".js", ".mjs"}, ext)
	if goos == "windows" {
		switch {
		case slices.Contains([]string{".exe", ".com", ".bat", ".cmd"}, ext):
			return true, ""
		case functions:
			return true, "on Windows a plugin is a .exe, .bat or .cmd file. If its functions are to be tools, put it into the folder tools instead"
		}
		return script, "on Windows a plugin is a .exe, .bat or .cmd file that starts it"
	}
	head, err := execfile.Head(path)
	if info.Mode().Perm()&0o111 == 0 {
		switch {
		case functions:
			return true, "it may not be started. If it speaks MCP and its first line names its interpreter: chmod +x " + path + ". If its functions are to be tools, put it into the folder tools instead"
		case script, err == nil && execfile.Looks(head), filepath.Ext(path) == "":
			return true, "it may not be started: chmod +x " + path
		}
		return false, ""
	}
	if err != nil {
		return true, "" // it may be started, and not be read
	}
	if why = execfile.Script(head, exec.LookPath); why != "" {
		return true, why
	}
	if functions && !execfile.Looks(head) {
		return true, "its first line names no interpreter. If it speaks MCP, write it there (#!/usr/bin/env python3, #!/usr/bin/env node). If its functions are to be tools, put it into the folder tools instead"
	}
	return true, ""
}

func markOf(info os.FileInfo) string {
	return fmt.Sprint(info.Mode(), " ", info.Size(), " ", info.ModTime().UnixNano())
}

// PluginMarks tells whether the folder of plugins is another than before.
func PluginMarks(dir string) string {
	if dir == "" {
		return ""
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	var b strings.Builder
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil {
			fmt.Fprintln(&b, e.Name(), markOf(info))
		}
	}
	return b.String()
}

// server is the plugin as the hub takes it.
func (p Plugin) server() mcphub.Server { return mcphub.Server{Command: p.Path, Mark: p.mark} }
