package reach

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/hostpath"
	"github.com/toolcrib/toolcrib/internal/linked"
)

// TestOutsideIsJudged: a program that takes up code from where commands can write
// is told, however its settings name the place; one that only works there is not.
func TestOutsideIsJudged(t *testing.T) {
	project := filepath.Join(t.TempDir(), "project")
	for _, dir := range []string{"mcp", "server", "with space"} {
		if err := os.MkdirAll(filepath.Join(project, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"srv.py", "run", "x.ts"} {
		if err := os.WriteFile(filepath.Join(project, file), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o := Outside{Finder: hostpath.Finder{Writable: func(path string) bool { return linked.Within(path, project) }}, Dir: project, Home: "/home/u"}
	judged := func(line []string) bool {
		for i, word := range line {
			line[i] = strings.ReplaceAll(word, "PROJ", project)
		}
		return o.judge(outsideProgram{command: line[0], args: line[1:]}).beside != ""
	}
	for _, line := range [][]string{
		{"bash", "-c", "cd PROJ && exec python3 srv.py"}, {"bash", "-c", "cd 'PROJ'; . ./run"}, {"sh", "-c", "exec python3 PROJ/mcp"}, {"bash", "-lc", "cd PROJ&&uv run main.py"},
		{"env", "PYTHONPATH=PROJ", "python3", "-m", "mcp"}, {"env", "-u", "X", "python3", "PROJ/mcp"}, {"timeout", "60", "python3", "PROJ/mcp"}, {"sudo", "-u", "me", "nice", "node", "PROJ/mcp"},
		{"python3", "-c", "import sys; sys.path.insert(0,'PROJ'); import srv"}, {"python3", "PROJ/srv.py"}, {"python3", "PROJ/server"}, {"npx", "PROJ/mcp"}, {"npx", "-y", "./mcp"}, {"npx", "-y", "tsx", "PROJ/x.ts"}, {"uvx", "PROJ"}, {"uvx", "--from", "PROJ", "x"},
		{"nix", "run", "PROJ#x"}, {"docker", "compose", "--project-directory", "PROJ", "up"}, {"pipx", "run", "--spec", "PROJ", "x"}, {"npx", "-y", "supergateway", "--stdio", "uv --directory PROJ run srv"}, {"uv", "run", "python", "PROJ/srv.py"}, {"uv", "--directory", "PROJ", "run", "srv"},
		{"node", "PROJ/server/s"}, {"node", "-e", "require('PROJ/server/s')"}, {"env", "--chdir=PROJ/server", "python3", "s.py"}, {"make", "-CPROJ/server"}, {"make", "-I", "PROJ/server"}, {"perl", "-IPROJ/server", "-Ms", "-e", "1"}, {"env", "PERL5LIB=PROJ/server", "perl", "-Ms"},
		{"find", "PROJ/server", "-name", "*.sh", "-exec", "sh", "{}", ";"}, {"run-parts", "PROJ/server"}, {"flock", "/x", "python3", "PROJ/server"}, {"php", "-d", "include_path=PROJ/server", "/opt/x.php"}, {"env", "HOME=PROJ/missing", "npx", "x"},
	} {
		if !judged(line) {
			t.Errorf("%q is not told", line)
		}
	}
	for _, line := range [][]string{
		{"npx", "-y", "@modelcontextprotocol/server-filesystem", "PROJ"}, {"npx", "-y", "@modelcontextprotocol/server-filesystem", "PROJ/with space"}, {"npx", "mcp"}, {"npx", "-y", "server", "PROJ"}, {"uvx", "mcp-server-git", "--repository", "PROJ"},
		{"python3", "-m", "mcp_server_git", "--repository", "PROJ"}, {"node", "/opt/server/index.js", "PROJ"}, {"docker", "run", "-i", "-v", "PROJ:/work", "image"}, {"/usr/bin/mcp-server", "--root=PROJ"}, {"bash", "/opt/run.sh", "PROJ"}, {"env", "A=b", "node", "/opt/x.js", "PROJ"},
		{"env", "ROOT=PROJ", "node", "/opt/x.js"}, {"deno", "run", "--allow-read=PROJ", "/opt/x.ts", "PROJ"}, {"uvx", "mcp-server-sqlite", "--db-path", "PROJ/new.db"}, {"uvx", "mcp-server-sqlite", "--db-path", "PROJ/new"}, {"java", "-Droot=PROJ", "-jar", "/opt/x.jar"}, {"npx", "-y", "server-memory", "PROJ/missing"},
	} {
		if judged(line) {
			t.Errorf("%q is held", line)
		}
	}
}

// TestOutsideIsJudgedByVariables: the place may be named by a variable that is
// known.
func TestOutsideIsJudgedByVariables(t *testing.T) {
	home := t.TempDir()
	project := filepath.Join(home, "proj")
	for _, dir := range []string{project, filepath.Join(home, "else")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	o := Outside{Finder: hostpath.Finder{Writable: func(path string) bool { return linked.Within(path, project) }}, Dir: project, Home: home}
	env := map[string]string{"APP_DIR": project, "ELSE": filepath.Join(home, "else")}
	judged := func(line []string) bool {
		for i, word := range line {
			line[i] = strings.ReplaceAll(word, "PROJ", project)
		}
		return o.judge(outsideProgram{command: line[0], args: line[1:], env: env}).beside != ""
	}
	list := string(filepath.ListSeparator)
	for _, line := range [][]string{
		{"bash", "-c", "cd $HOME/proj && exec python3 srv.py"}, {"bash", "-c", `cd "${HOME}/proj" && exec python3 srv.py`}, {"bash", "-c", `cd "$HOME"/proj; . ./run`}, {"sh", "-c", "cd ~/proj && node ."},
		{"bash", "-c", "cd $APP_DIR && exec python3 srv.py"}, {"bash", "-c", "cd ${APP_DIR:-/x}; ./run"}, {"bash", "-c", "cd ${NOWHERE:-PROJ}; ./run"}, {"sh", "-c", "exec python3 $PWD/../proj/srv.py"}, {"timeout", "9", "bash", "-c", "cd $APP_DIR/ && ./x"},
		{"env", "PYTHONPATH=/usr/lib/x" + list + "PROJ", "python3", "-m", "mcp"}, {"bash", "-c", "PYTHONPATH=/usr/lib/x" + list + "$APP_DIR python3 -m mcp"},
	} {
		if !judged(line) {
			t.Errorf("%q is not told", line)
		}
	}
	for _, line := range [][]string{
		{"bash", "-c", "cd $ELSE && exec python3 srv.py"}, {"bash", "-c", "cd $HOME/else && ./run"}, {"bash", "-c", "exec /opt/run $NOWHERE"}, {"npx", "-y", "@modelcontextprotocol/server-filesystem", "$HOME/proj"}, {"docker", "run", "-v", "PROJ:/work", "image"},
	} {
		if judged(line) {
			t.Errorf("%q is held", line)
		}
	}
}

// TestOutsideIsJudgedByItsEnvironment: a variable by which programs find code
// leads to it, also where nothing is yet; one that names data does not.
func TestOutsideIsJudgedByItsEnvironment(t *testing.T) {
	project := t.TempDir()
	o := Outside{Finder: hostpath.Finder{Writable: func(path string) bool { return linked.Within(path, project) }}, Dir: project, Home: "/home/u"}
	for _, c := range []struct {
		name, value string
		args        []string
		held        bool
	}{
		{"PERL5LIB", project, nil, true},
		{"PYTHONPATH", filepath.Join(project, "missing"), nil, true},
		{"BASH_ENV", filepath.Join(project, "missing"), nil, true},
		{"XDG_CONFIG_HOME", project, nil, true},
		{"npm_config_prefix", project, nil, true},
		{"D", project, []string{"-e", "require(process.env.D+'/s.js')"}, true},
		{"D", project, []string{"/opt/server.js"}, false},
		{"ALLOWED_DIR", project, nil, false},
		{"GIT_DIR", project, nil, false},
		{"DB", filepath.Join(project, "new.db"), nil, false},
	} {
		if held := o.judge(outsideProgram{command: "node", args: c.args, env: map[string]string{c.name: c.value}}).beside != ""; held != c.held {
			t.Errorf("%s=%s %q: held %v, want %v", c.name, c.value, c.args, held, c.held)
		}
	}
}
