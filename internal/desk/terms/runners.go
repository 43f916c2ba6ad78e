package terms

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// runnerFiles names the files by which a runner goes, in the order in which it
// looks for them. up: it looks in the directories above too.
func runnerFiles(name string) (files []string, up bool) {
	switch name {
	case "make", "gmake":
		return []string{"GNUmakefile", "makefile", "Makefile"}, false
	case "npm", "pnpm", "yarn", "bun", "npx", "pnpx", "bunx":
		return []string{"package.json"}, true
	case "just":
		return []string{"justfile", ".justfile", "Justfile"}, true
	case "task", "go-task":
		return []string{"Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml", "Taskfile.dist.yml", "taskfile.dist.yml", "Taskfile.dist.yaml", "taskfile.dist.yaml"}, true
	case "rake":
		return []string{"rakefile", "Rakefile", "rakefile.rb", "Rakefile.rb"}, true
	case "deno":
		return []string{"deno.json", "deno.jsonc"}, true
	case "nox":
		return []string{"noxfile.py"}, false
	case "invoke", "inv":
		return []string{"tasks.py"}, true
	case "ninja":
		return []string{"build.ninja"}, false
	case "ant":
		return []string{"build.xml"}, false
	case "scons":
		return []string{"SConstruct", "Sconstruct", "sconstruct"}, false
	case "doit":
		return []string{"dodo.py"}, false
	case "mage":
		return []string{"magefile.go", "magefiles/magefile.go"}, false
	case "gulp":
		return []string{"gulpfile.js", "gulpfile.mjs", "gulpfile.cjs", "gulpfile.ts"}, true
	case "grunt":
		return []string{"Gruntfile.js", "gruntfile.js", "Gruntfile.cjs", "Gruntfile.ts"}, true
	case "tox":
		return []string{"tox.ini", "tox.toml"}, true
	case "foreman", "overmind", "hivemind", "honcho":
		return []string{"Procfile", "Procfile.dev"}, false
	case "earthly":
		return []string{"Earthfile"}, false
	case "docker-compose":
		return []string{"compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"}, true
	case "cmake":
		return []string{"CMakeLists.txt"}, true
	case "docker build":
		return []string{"Dockerfile", "Containerfile"}, false
	case "terraform", "tofu", "terragrunt":
		return []string{"*.tf", "*.tf.json", "*.tfvars", "terragrunt.hcl"}, false
	case "packer":
		return []string{"*.pkr.hcl"}, false
	case "vagrant":
		return []string{"Vagrantfile"}, true
	case "pulumi":
		return []string{"Pulumi.yaml", "index.ts", "index.js", "__main__.py", "main.go"}, true
	case "pre-commit":
		return []string{".pre-commit-config.yaml"}, true
	case "pip install":
		return []string{"setup.py", "pyproject.toml", "setup.cfg"}, false
	case "bundle", "bundler":
		return []string{"Gemfile"}, true
	case "fastlane":
		return []string{"fastlane/Fastfile", "Fastfile"}, true
	case "pod":
		return []string{"Podfile"}, true
	case "serverless", "sls":
		return []string{"serverless.yml", "serverless.yaml", "serverless.ts", "serverless.js", "serverless.json"}, false
	case "sam":
		return []string{"template.yaml", "template.yml", "samconfig.toml"}, false
	case "cdk":
		return []string{"cdk.json"}, false
	case "act":
		return []string{".github/workflows/*", ".actrc"}, false
	case "supervisord":
		return []string{"supervisord.conf"}, false
	case "caddy":
		return []string{"Caddyfile"}, false
	case "flask":
		return []string{"app.py", "wsgi.py", ".flaskenv"}, false
	case "turbo":
		return []string{"turbo.json", "package.json"}, true
	case "nx":
		return []string{"nx.json", "project.json", "package.json"}, true
	case "lerna":
		return []string{"lerna.json", "package.json"}, true
	case "nix", "nix-shell", "nix-build":
		return []string{"flake.nix", "shell.nix", "default.nix"}, false
	case "skaffold":
		return []string{"skaffold.yaml"}, false
	case "tilt":
		return []string{"Tiltfile"}, false
	case "goreleaser":
		return []string{".goreleaser.yaml", ".goreleaser.yml", "goreleaser.yaml", "goreleaser.yml"}, false
	case "gradle":
		return []string{"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "init.gradle"}, true
	case "mvn":
		return []string{"pom.xml"}, false
	case "sbt":
		return []string{"build.sbt", "project/*.sbt", "project/*.scala"}, false
	case "meson":
		return []string{"meson.build"}, false
	case "cargo":
		return []string{"build.rs", ".cargo/config.toml", ".cargo/config"}, true
	}
	return nil, false
}

// definitions adds the files by which a runner goes.
func (s *scripts) definitions(p *shellguard.Program, fed string) {
	name := toolName(p.Name)
	for i, a := range p.Args {
		switch {
		case a.Text == "compose" && (name == "docker" || name == "podman" || name == "nerdctl"):
			s.defined(p, fed, "docker-compose")
		case a.Text == "build" && (name == "docker" || name == "podman" || name == "nerdctl" || name == "buildah"):
			s.defined(p, fed, "docker build")
		case strings.HasPrefix(name, "pip") && (a.Text == "." || strings.HasPrefix(a.Text, "./") || strings.HasPrefix(a.Text, ".[")):
			s.defined(p, fed, "pip install") // which runs setup.py
		case i < maxOperands && slices.Contains(launchers(), name) && !strings.HasPrefix(a.Text, "-") && toolName(a.Text) != name:
			s.defined(p, fed, toolName(a.Text)) // npx gulp, bundle exec rake
		}
	}
	s.defined(p, fed, name)
	s.installed(p, name, fed)
}

// maxOperands bounds the words of a launcher that may be what it launches.
const maxOperands = 8

// installed adds the programs of a project's own packages that a launcher starts
// by their names.
func (s *scripts) installed(p *shellguard.Program, name, fed string) {
	var places []string
	switch name {
	case "npx", "bunx", "pnpx", "npm", "pnpm", "yarn", "bun":
		places = []string{"node_modules/.bin"}
	case "uv", "uvx", "poetry", "pipenv", "hatch", "pdm", "rye":
		places = []string{".venv/bin", "venv/bin"}
	case "bundle":
		places = []string{"bin", "vendor/bin"}
	default:
		return
	}
	for i, a := range p.Args {
		if i >= maxOperands {
			return
		}
		if strings.HasPrefix(a.Text, "-") || strings.Contains(a.Text, "/") || a.Text == "" {
			continue
		}
		s.unknown = s.unknown || fed != "" && !a.Literal
		for _, dir := range p.Dirs {
			for {
				for _, place := range places {
					s.in([]string{dir}, filepath.Join(place, a.Text), isFile)
				}
				if filepath.Dir(dir) == dir {
					break
				}
				dir = filepath.Dir(dir)
			}
		}
	}
}

// defined adds the files by which the runner of a name goes.
func (s *scripts) defined(p *shellguard.Program, fed, name string) {
	files, up := runnerFiles(name)
	if files == nil {
		return
	}
	if fed != "" {
		s.unknown = true // which file it is told to go by is filled in
		return
	}
	if files[0] == "package.json" && runsPackageScripts(p) {
		s.unknown = true
		return
	}
	dirs := slices.Clone(p.Dirs)
	work := startsWork(p) // npx prettier --write x.js
	for i, a := range p.Args {
		word := a.Text
		if word == "-" || word == "-f-" || strings.Contains(word, "/dev/") || strings.Contains(word, "/proc/") {
			s.unknown = true // it goes by what it reads
		}
		_, value, assigns := strings.Cut(word, "=")
		switch {
		case assigns: // --file=x, --prefix=dir, make MAKEFILES=x
			word = value
		case strings.HasPrefix(word, "-") && len(word) > 2 && word[1] != '-': // -fx, -Cdir
			word = word[2:]
		case strings.HasPrefix(word, "-"), i == 0, !strings.HasPrefix(p.Args[i-1].Text, "-"):
			continue // what an option says stands behind it
		}
		if !a.Literal {
			s.unknown = true
			return
		}
		s.in(p.Dirs, word, func(file string) bool { return isFile(file) && !(work && isCode(file)) })
		for j := 3; j < len(a.Text) && strings.HasPrefix(a.Text, "-"); j++ { // -sfx
			s.in(p.Dirs, a.Text[j:], isFile)
		}
		for _, dir := range p.Dirs {
			if !filepath.IsAbs(word) {
				dir = s.joined(dir, word)
			} else {
				dir = word
			}
			if isDir(dir) {
				dirs = append(dirs, dir)
			}
			for j := 3; j < len(a.Text) && strings.HasPrefix(a.Text, "-") && a.Text[1] != '-'; j++ { // -sCsub
				for _, from := range p.Dirs {
					if at := filepath.Join(from, a.Text[j:]); isDir(at) {
						dirs = append(dirs, at)
					}
				}
			}
		}
	}
	for _, dir := range dirs {
		for {
			there := false
			for _, file := range inDir(dir, files) {
				if name := filepath.Base(file); isFile(file) {
					there = true
					s.add(file, false)
					for _, other := range furtherFiles(p, name) {
						s.in([]string{dir}, other, isFile)
					}
				}
			}
			if there || !up || filepath.Dir(dir) == dir {
				break
			}
			dir = filepath.Dir(dir)
		}
	}
}

// inDir are the files of some names or patterns in a directory.
func inDir(dir string, names []string) []string {
	var files []string
	for _, name := range names {
		file := filepath.Join(dir, name)
		if !strings.Contains(name, "*") {
			files = append(files, file)
			continue
		}
		found, err := filepath.Glob(strings.NewReplacer("[", `\[`, "?", `\?`).Replace(dir) + string(filepath.Separator) + name)
		if err == nil {
			files = append(files, found...)
		}
	}
	return files
}

// furtherFiles names further files that say how the scripts of a package are run.
func furtherFiles(p *shellguard.Program, definition string) []string {
	if definition != "package.json" {
		return nil
	}
	files := []string{".npmrc", ".yarnrc", ".yarnrc.yml", "bunfig.toml", ".pnpmfile.cjs", ".pnpmfile.mjs"} // script-shell, node-options, yarnPath, preload, hooks
	if slices.ContainsFunc(p.Args, func(a shellguard.Arg) bool { return a.Text == "start" || a.Text == "restart" }) {
		files = append(files, "server.js") // what npm starts where nothing else is said
	}
	return files
}

// runsPackageScripts reports whether a package manager is told to run the scripts of
// packages by their names: whose file that is, only it knows.
func runsPackageScripts(p *shellguard.Program) bool {
	for i, a := range p.Args {
		name, value, _ := strings.Cut(a.Text, "=")
		switch name {
		case "-ws", "--workspaces", "-r", "--recursive", "workspace", "workspaces":
			return true
		case "-w", "--workspace", "-F", "--filter":
			if value == "" && i+1 < len(p.Args) {
				value = p.Args[i+1].Text
			}
			named := slices.ContainsFunc(p.Dirs, func(dir string) bool { return value == "" || !isFile(filepath.Join(dir, value, "package.json")) })
			if named {
				return true
			}
		case "--": // the rest is for the script
			return false
		}
	}
	return false
}
