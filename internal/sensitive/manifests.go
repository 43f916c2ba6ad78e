package sensitive

import (
	"path"

	"github.com/toolcrib/toolcrib/internal/text"
)

// IsManifest reports whether a file of this name makes its directory a project:
// people start package managers, editors and agents in it.
func IsManifest(name string) bool {
	name = text.FoldFile(name)
	switch name {
	case "package.json", "deno.json", "deno.jsonc", "cargo.toml", "pyproject.toml", "setup.py", "requirements.txt", "pipfile", "go.mod", "go.work", "gemfile", "composer.json", "pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts",
		"build.sbt", "mix.exs", "rebar.config", "gleam.toml", "pubspec.yaml", "package.swift", "dune-project", "stack.yaml", "cabal.project", "project.clj", "deps.edn", "module.bazel", "workspace.bazel", "build.zig", "flake.nix", "conanfile.txt", "conanfile.py", "vcpkg.json",
		"makefile", "gnumakefile", "cmakelists.txt", "meson.build", "justfile", "taskfile.yml", "taskfile.yaml", "rakefile", "podfile", "pixi.toml", "devbox.json", "terragrunt.hcl":
		return true
	}
	switch path.Ext(name) {
	case ".csproj", ".fsproj", ".vbproj", ".sln", ".slnx", ".cabal", ".gemspec", ".opam", ".nimble", ".rockspec", ".tf", ".tofu", ".podspec":
		return true
	}
	return false
}

// IsOthersCode reports whether a directory of this name holds code that was
// installed or copied from elsewhere.
func IsOthersCode(name string) bool {
	switch name {
	case "node_modules", "vendor", "third_party", ".git", ".venv", "site-packages":
		return true
	}
	return false
}
