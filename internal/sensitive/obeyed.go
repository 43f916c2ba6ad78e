package sensitive

// Place is a file or directory that a program outside executes or obeys later,
// without a question and without being asked to run the project's own code.
type Place struct {
	Pattern string // a name, or the end of a path
	By      string // who obeys it
	Danger  Danger
	// Held: programs look for it at the top of a project.
	Held bool
	Dir  bool // a directory, as far as programs expect one
}

// Danger says how soon, and how unseen, a place takes effect. What is more
// dangerous is larger, and is named first where there is room for a few.
type Danger uint8

// The dangers, the least first. The zero value is none of them.
const (
	AfterPush   Danger = iota + 1 // a service runs it once it was pushed
	AfterCommit                   // git runs it with a commit or a checkout
	AfterTrust                    // a program obeys it once a person has said that it may
	OnUse                         // a program that is started there for something else obeys it
	OnOpen                        // it takes effect when somebody opens the project or enters the directory
)

// reason is who obeys a place and when: the same for many places.
type reason struct {
	by     string
	danger Danger
}

// Obeyed is the list. It holds what is rarely a part of ordinary work on a
// project, and what takes effect without somebody building or testing the
// project: opening an editor, starting an agent, a cd, a commit, a push, or any
// use of a package manager, which is obeyed even by "yarn --version".
//
// Left out on purpose: build files (package.json, Makefile, build.rs,
// pnpm-workspace.yaml, eslint.config.js) run only when somebody runs the project,
// whose code the agent writes anyway; texts for agents (CLAUDE.md, AGENTS.md,
// .cursorrules, .goosehints) are read like any other text of the project, and
// writing them is ordinary work; .gitattributes and .gitmodules start nothing that
// git's own settings do not name, and those are known by other means; virtual
// environments (.venv/bin/activate) are made and filled by ordinary commands and
// are code of the project as node_modules is; .nvmrc, .node-version and
// .ruby-version can only name a version.
func Obeyed() []Place {
	var list []Place
	add := func(why reason, held, dir bool, patterns ...string) {
		for _, p := range patterns {
			list = append(list, Place{Pattern: p, By: why.by, Danger: why.danger, Held: held, Dir: dir})
		}
	}
	agents := reason{by: "agents obey it", danger: OnOpen}
	editor := reason{by: "editors obey it", danger: OnOpen}
	add(agents, true, true, ".claude", ".cursor", ".gemini", ".codex", ".opencode")
	add(agents, true, false, ".mcp.json", "toolcrib.yaml", "opencode.json")
	add(agents, false, true, ".windsurf", ".continue", ".roo", ".kilocode", ".kiro", ".amazonq", ".trae", ".qwen", ".goose", ".augment", ".junie", ".factory", ".crush", ".amp", ".copilot", ".openhands", ".iflow", ".codebuddy", ".qoder", ".clinerules/hooks", ".github/hooks",
		".grok", ".vibe", ".pi", ".kilo", ".cline", ".rovodev",
		".eca", ".mux", ".cmux", ".codeassistant") // servers and hooks that they start; scripts that prepare a workspace
	add(agents, false, false, "opencode.jsonc", ".aider.conf.yml", "crush.json", ".crush.json",
		"gptme.toml",                                                        // context_cmd, and servers
		"codebuff.json", "codebuff.jsonc", ".agents/*.ts", ".agents/*.json", // processes and hooks; agents that are programs
		"conductor.json", ".emdash.json", ".continuerc.json") // scripts that prepare a workspace
	add(reason{by: "Toolcrib obeys what is in it, once it is trusted", danger: AfterTrust}, false, true, ".toolcrib")
	add(editor, true, true, ".vscode", ".idea", ".zed", ".devcontainer")
	add(editor, true, false, ".devcontainer.json")
	add(editor, false, true, ".fleet", ".idx", ".helix", ".nvim", ".vs", ".theia", ".nova", ".externaltoolbuilders", ".run", ".bsp", ".trunk")
	add(editor, false, false, ".exrc", ".nvimrc", ".nvim.lua", ".vimrc", ".lvimrc", ".dir-locals.el", ".dir-locals-2.el", "*.code-workspace", "*.sublime-project", ".gitpod.yml", ".vim/coc-settings.json", ".neoconf.json",
		".luarc.json", ".luarc.jsonc", ".ycm_extra_conf.py",
		"rust-analyzer.toml", ".rust-analyzer.toml", ".lazy.lua", ".kateproject") // commands for checks and language servers
	add(reason{by: "editors run what it names", danger: OnOpen}, false, false, "hie.yaml", "pylintrc", ".pylintrc") // commands make these, too
	hooks := reason{by: "git runs it", danger: AfterCommit}
	add(hooks, true, true, ".husky")
	add(hooks, false, true, ".lefthook", ".lefthook-local")
	add(hooks, false, false, ".pre-commit-config.yaml", ".pre-commit-config.yml", ".overcommit.yml", ".huskyrc", ".huskyrc.*", ".lintstagedrc", ".lintstagedrc.*", "lint-staged.config.*", ".simple-git-hooks.*", "simple-git-hooks.*", "captainhook.json", "grumphp.yml",
		".rusty-hook.toml", "hk.pkl", "prek.toml")
	for _, ending := range []string{"yml", "yaml", "toml", "json"} {
		add(hooks, false, false, "lefthook."+ending, ".lefthook."+ending, "lefthook-local."+ending, ".lefthook-local."+ending)
	}
	add(hooks, false, false, ".gitconfig", ".config/git/config")
	add(reason{by: "a program for git runs what it names", danger: OnUse}, false, false, ".lazygit.yml") // above its repositories: pagers, commands for keys
	add(reason{by: "other version controls obey what is in it", danger: OnOpen}, false, true, ".hg", ".sl", ".jj", ".bzr")
	// Their own programs make these when they set up a repository, so that one that
	// a command made is told and stays.
	add(reason{by: "version controls run what it names", danger: OnUse}, false, false, "_darcs/prefs/defaults", ".pijul/config", ".gclient", ".repo/repo/*.py", ".repo/repo/subcmds/*.py")
	push := reason{by: "the build service runs it", danger: AfterPush}
	add(push, true, true, ".github/workflows")
	add(push, false, true, ".github/actions", ".circleci", ".buildkite", ".woodpecker", ".gitea/workflows", ".forgejo/workflows", ".teamcity", ".semaphore", ".tekton", ".builds", ".harness")
	add(push, false, false, ".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", "jenkinsfile", ".drone.yml", ".woodpecker.yml", ".cirrus.yml", "appveyor.yml", ".appveyor.yml", "buildspec.yml", "cloudbuild.yaml", "codemagic.yaml", "bitrise.yml")
	enter := reason{by: "shells run it on the way in", danger: AfterTrust}
	add(enter, true, false, ".envrc")
	add(enter, false, false, ".envrc.local", ".envrc.private", ".rvmrc", "mise.toml", ".mise.toml", "mise.local.toml", ".mise.local.toml", ".config/mise.toml", ".mise/config.toml", "mise/config.toml", "mise.*.toml", ".mise.*.toml", ".autoenv", ".autoenv.zsh", ".autoenv_leave.zsh",
		".direnv/*.rc", ".direnv/flake-profile*", ".direnv/nix-profile*")
	add(enter, false, true, ".config/mise", ".devenv", ".direnv/bin", ".shadowenv.d")
	add(enter, false, false, "devbox.json", // init_hook, and plugins by their addresses
		".flox/env.json", ".flox/env.lock") // another environment altogether
	add(enter, false, true, ".flox/env") // hook.on-activate, profile; the rest of .flox is written with every activation
	addTools(add)
	add(reason{by: "an interpreter that is started there runs it", danger: OnUse}, false, false, ".rprofile", ".renviron", ".rdata", ".irbrc", ".pryrc", ".iex.exs", ".ghci", ".ocamlinit", ".octaverc", ".pdbrc")
	shells := reason{by: "shells run it when they start", danger: OnUse} // at home; in a project hardly ever
	add(shells, true, false, ".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshrc", ".zshenv", ".zprofile")
	add(shells, false, false, ".bash_aliases", ".bash_logout", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".inputrc",
		".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".pam_environment")
	add(shells, false, true, ".bashrc.d", ".config/fish", ".config/autostart", ".config/systemd", ".config/environment.d")
	return list
}

// addTools adds the settings of package managers and build tools. They name another
// program, another interpreter or another registry, and take effect with whatever
// command a person gives there; editors give some as soon as they open the project.
func addTools(add func(why reason, held, dir bool, patterns ...string)) {
	choose := reason{by: "npx and tools that choose a version obey it", danger: OnUse}
	add(choose, false, false, ".npmrc", // script-shell, node-options, registry; next to a package.json
		".pdm-python") // the path of the interpreter; next to a pyproject.toml
	add(choose, false, false, ".tool-versions", "rust-toolchain", "rust-toolchain.toml", ".python-version", ".prototools") // the path of a program, or of a plugin
	here := reason{by: "a package manager that is started there obeys it", danger: OnUse}
	add(here, false, false, "bunfig.toml", // preload, registry
		".pnpmfile.cjs", ".pnpmfile.mjs", // runs with every install
		"nuget.config",                    // sources of packages
		".pixi/config.toml",               // mirrors, indexes, and that scripts of packages run; next to a pixi.toml
		".venv/pip.conf", "venv/pip.conf") // an index, for all that is installed there
	below := here
	below.by = "a package manager that is started there or below obeys it"
	add(below, false, false, ".yarnrc.yml", ".yarnrc", // yarnPath, plugins, registries
		".cargo/config.toml", ".cargo/config", // rustc-wrapper, runner, linker, registries
		"uv.toml",        // indexes, and the interpreter
		".bundle/config") // mirrors, paths
	add(below, false, true, ".yarn/releases", ".yarn/plugins", // run by yarn, where .yarnrc.yml names them
		".bundle/plugin") // runs with every command of bundler
	build := reason{by: "a build tool that is started there obeys it", danger: OnUse}
	add(build, false, false, ".mvn/jvm.config", ".mvn/maven.config", ".mvn/extensions.xml", ".mvn/wrapper/maven-wrapper.properties", "gradle/wrapper/gradle-wrapper.properties", // agents of the machine, extensions, the address of the tool itself
		".jvmopts", ".sbtopts", ".bazelrc", ".bazelversion", ".bazeliskrc", "tools/bazel", ".buckconfig", ".buckconfig.local",
		"ansible.cfg") // plugins, and the programs that it connects with
}
