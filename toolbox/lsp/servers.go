package lsp

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// Server is a language server, and what it is for.
type Server struct {
	Name    string
	Command string // the name of a program, or its whole path
	Args    []string
	// Languages are the extensions of its files, with the dot and in small letters, and
	// the names by which the protocol knows these languages.
	Languages map[string]string
	// Roots are names of files that lie at the top of a project. The first that lies
	// beside a file or above it says where the server works. None: in the directory
	// that was granted.
	Roots []string
	// Files are names of further files that it goes by.
	Files []string
	// Options are handed over at the start, Settings when it asks for them. Nil: none.
	Options, Settings json.RawMessage
	// Quiet is as in [Config], for a server that tells what is wrong in pieces.
	Quiet time.Duration
	// Ready are parts of messages by which it tells its log that it knows the files of the
	// project. Before that it would find places in the files that were opened only. None:
	// it tells it by progress, or not at all.
	Ready []string
}

// Defaults are the servers that are known. Where several are for the same files, the
// first that is installed is asked.
func Defaults() []Server {
	script := map[string]string{
		".ts": "typescript", ".tsx": "typescriptreact", ".mts": "typescript", ".cts": "typescript",
		".js": "javascript", ".jsx": "javascriptreact", ".mjs": "javascript", ".cjs": "javascript",
	}
	scriptRoots := []string{"pnpm-workspace.yaml", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "tsconfig.json", "jsconfig.json", "package.json"}
	scriptFiles := []string{"tsconfig.json", "jsconfig.json", "package.json"}
	python := map[string]string{".py": "python", ".pyi": "python"}
	pythonRoots := []string{"pyrightconfig.json", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"}
	pythonSettings := json.RawMessage(`{"python":{"analysis":{"autoSearchPaths":true,"useLibraryCodeForTypes":true,"diagnosticMode":"openFilesOnly"}},` +
		`"basedpyright":{"analysis":{"autoSearchPaths":true,"useLibraryCodeForTypes":true,"diagnosticMode":"openFilesOnly"}}}`)
	pythonReady := []string{" source file", "No source files found"}
	return []Server{
		{
			Name: "gopls", Command: "gopls", Languages: map[string]string{".go": "go"},
			Roots: []string{"go.work", "go.mod"}, Files: []string{"go.mod", "go.sum", "go.work", "go.work.sum"},
			Options: json.RawMessage(`{"pullDiagnostics":true,"symbolScope":"workspace"}`), Settings: json.RawMessage(`{"gopls":{"pullDiagnostics":true,"symbolScope":"workspace"}}`),
		},
		{
			Name: "typescript", Command: "typescript-language-server", Args: []string{"--stdio"}, Languages: script, Roots: scriptRoots, Files: scriptFiles,
			// It would ask a registry for types, which it cannot reach, and keep us waiting; and
			// while it reads a project it would answer from the one file that it has. A rename
			// would be an alias in the file, and not a new name everywhere.
			Options: json.RawMessage(`{"disableAutomaticTypingAcquisition":true,"hostInfo":"toolcrib","tsserver":{"useSyntaxServer":"never"},"preferences":{"providePrefixAndSuffixTextForRename":false}}`), Quiet: time.Second,
		},
		{Name: "tsc", Command: "tsc", Args: []string{"--lsp", "--stdio"}, Languages: script, Roots: scriptRoots, Files: scriptFiles},
		{Name: "pyright", Command: "pyright-langserver", Args: []string{"--stdio"}, Languages: python, Roots: pythonRoots, Files: pythonRoots, Settings: pythonSettings, Ready: pythonReady},
		{Name: "basedpyright", Command: "basedpyright-langserver", Args: []string{"--stdio"}, Languages: python, Roots: pythonRoots, Files: pythonRoots, Settings: pythonSettings, Ready: pythonReady},
		{Name: "pylsp", Command: "pylsp", Languages: python, Roots: pythonRoots, Files: pythonRoots},
		{
			Name: "rust-analyzer", Command: "rust-analyzer", Languages: map[string]string{".rs": "rust"},
			Roots: []string{"Cargo.lock", "Cargo.toml"}, Files: []string{"Cargo.toml", "Cargo.lock"},
			// Build scripts and macros of the project would be built and run at every start.
			Options: json.RawMessage(`{"cargo":{"buildScripts":{"enable":false}},"procMacro":{"enable":false},"checkOnSave":false}`),
		},
		{
			Name: "clangd", Command: "clangd", Args: []string{"--background-index", "--log=error"},
			Languages: map[string]string{".c": "c", ".h": "cpp", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp", ".hxx": "cpp", ".m": "objective-c", ".mm": "objective-cpp"},
			Roots:     []string{"compile_commands.json", "compile_flags.txt", ".clangd"}, Files: []string{"compile_commands.json", "compile_flags.txt", ".clangd"},
		},
	}
}

// goesBy reports whether a server goes by a file of this name.
func (s *Server) goesBy(file string) bool {
	_, ok := s.Languages[strings.ToLower(path.Ext(file))]
	return ok || slices.Contains(s.Files, path.Base(file))
}

// Found is what there is of a server.
type Found struct {
	Name, Command string
	Path          string   // empty: it is not installed where commands find it
	Languages     []string // of the files that the project has and it is for
}

// Survey says which servers are installed, and which of them files with these
// extensions would want.
func Survey(servers []Server, find func(name string) (string, error), extensions map[string]bool) []Found {
	var out []Found
	for _, s := range servers {
		f := Found{Name: s.Name, Command: s.Command}
		if at, err := find(s.Command); err == nil {
			f.Path = at
		}
		for _, ext := range slices.Sorted(maps.Keys(s.Languages)) {
			if extensions[ext] && !slices.Contains(f.Languages, s.Languages[ext]) {
				f.Languages = append(f.Languages, s.Languages[ext])
			}
		}
		out = append(out, f)
	}
	return out
}
