package shellguard

import (
	"slices"
	"strings"
)

// takeBuild: compilers and build tools. Not -o and its like (write any file),
// plugins, tool chains, other directories and settings.
func takeBuild(key string) (form, bool) {
	f := form{most: -1}
	build := " v? x? n? a? race? tags= p= trimpath?"
	switch key {
	case "go run", "go install", "go get", "go generate", "go clean", "go fmt", "go fix":
		f.dash, f.check = "u? t? run= cache? testcache? i? r?"+build, checkPackages
		if key == "go install" || key == "go get" {
			f.check = nil // a package at a version is what they are for
		}
	case "go mod tidy", "go mod download", "go mod verify", "go mod graph", "go mod why", "go mod vendor":
		f.dash = "v? x? e? m? vendor? json? go= compat="
	case "cargo run", "cargo doc", "cargo bench", "cargo tree", "cargo fmt", "cargo clean", "cargo update", "cargo fetch", "cargo metadata", "cargo fix", "cargo audit", "cargo nextest run":
		f.short, f.shortArg = "qvr", "pjFd"
		f.long = "release workspace all lib bins tests examples benches all-targets all-features no-default-features features= package= no-run no-fail-fast quiet verbose offline locked frozen jobs= bin= example= message-format= color= check no-deps depth= duplicates invert= edges= dry-run allow-dirty allow-staged format-version="
	case "cmake --build build", "cmake --build":
		f.short, f.shortOpt, f.shortArg, f.long = "v", "j", "t", "target= config= parallel? clean-first verbose"
	case "ctest":
		f.short, f.shortArg, f.long = "VQN", "jRELC", "output-on-failure verbose parallel= tests-regex= exclude-regex= rerun-failed stop-on-failure progress timeout= repeat="
	case "ninja":
		f.short, f.shortArg = "vn", "jkl"
	case "gcc", "cc", "g++", "c++", "clang", "clang++":
		f.check, f.dash = nil, compilerWords
	case "mvn", "mvnw":
		f.short, f.long = "qXeoBUn", "quiet errors offline batch-mode update-snapshots also-make no-transfer-progress fail-at-end fail-fast show-version"
	case "gradle", "gradlew":
		f.short, f.shortArg, f.long = "qsid", "x", "info debug stacktrace no-daemon parallel continue quiet offline rerun-tasks build-cache no-build-cache console= tests= warning-mode= dry-run no-parallel"
	case "dotnet build", "dotnet test", "dotnet run", "dotnet restore", "dotnet clean", "dotnet format":
		f.shortArg, f.long = "cfv", "configuration= no-build no-restore verbosity= nologo framework= filter= verify-no-changes"
	case "rustup show", "rustup toolchain list", "rustup component list":
		f.short, f.long = "v", "verbose installed"
	default:
		return f, false
	}
	return f, true
}

// compilerWords: what a C compiler may be told without being told to run or to
// write something.
const compilerWords = "c g g0 g1 g2 g3 ggdb O0 O1 O2 O3 Os Og Ofast O E S w pipe pthread shared static fPIC fpic fPIE fpie pie no-pie ansi pedantic pedantic-errors Wall Wextra Werror Wpedantic Wshadow Wconversion Wno-unused Wno-unused-parameter Wno-unused-variable std= " +
	"fno-omit-frame-pointer fomit-frame-pointer fno-exceptions fno-rtti fsanitize= fno-sanitize-recover fstack-protector fstack-protector-strong fdiagnostics-color? m64 m32 march= mtune= lm lpthread ldl lrt lstdc++ lc fsyntax-only"

// takeNode: packages and tools of Node. Not --registry, --prefix, --userconfig,
// --script-shell, -g, -c, --config, --plugin, --rulesdir, --resolver …
func takeNode(key string) (form, bool) {
	f := form{most: -1}
	name, sub, _ := strings.Cut(key, " ")
	if name == "npm" || name == "yarn" || name == "pnpm" {
		switch sub {
		case "install", "i", "ci", "add", "update", "up", "uninstall", "remove", "rm", "prune", "dedupe":
			f.short, f.long = "DSEOPs", "save-dev save-exact save-optional save-prod save no-save no-audit no-fund legacy-peer-deps ignore-scripts prefer-offline offline silent omit= include= dry-run package-lock-only frozen-lockfile immutable dev exact"
		case "ls", "list", "ll", "outdated", "view", "info", "audit", "why", "explain", "fund", "search", "root", "bin", "pack --dry-run":
			f.shortArg, f.long = "L", "json depth= all parseable long production prod dev omit= audit-level= silent"
		default:
			return f, false
		}
		return f, true
	}
	switch key {
	case "eslint":
		f.long = "fix ext= quiet max-warnings= no-error-on-unmatched-pattern cache color no-color report-unused-disable-directives"
	case "prettier":
		f.short, f.long = "wcl", "write check list-different log-level= no-color"
	case "tsc":
		f.short, f.long = "v", "noEmit pretty skipLibCheck strict version"
	case "jest", "vitest", "vitest run":
		f.short, f.shortArg, f.long = "ib", "t", "verbose silent runInBand bail? testNamePattern= ci passWithNoTests coverage? run"
	default:
		return f, false
	}
	return f, true
}

// takePython: modules that are run with -m, and tools of the same names.
func takePython(key string) (form, bool) {
	name, sub, _ := strings.Cut(key, " ")
	if module, ok := strings.CutPrefix(sub, "-m "); ok && name == "python" {
		key = module
	} else if name == "python" {
		return form{}, false
	}
	f := form{most: -1}
	switch key {
	case "pytest":
		return projectForm("pytest")
	case "unittest":
		f.short, f.shortArg, f.long = "vqfbc", "k", "verbose quiet failfast buffer catch locals"
	case "json.tool":
		f.most, f.long = 1, "sort-keys no-ensure-ascii json-lines indent= tab compact"
	case "pip install", "pip3 install":
		f.short, f.long, f.check = "qvUI", "upgrade quiet verbose user no-deps pre no-cache-dir disable-pip-version-check force-reinstall break-system-packages dry-run", checkRequirements
	case "pip list", "pip show", "pip freeze", "pip check", "pip3 list", "pip3 show", "pip3 freeze", "pip3 check":
		f.short, f.long = "ouelfvq", "outdated uptodate editable local user format= not-required files verbose all disable-pip-version-check"
	case "black", "isort":
		f.short, f.shortArg, f.long = "qv", "l", "check check-only diff quiet verbose color line-length= profile="
	case "ruff check", "ruff format":
		f.short, f.long = "qv", "fix no-fix diff check quiet select= ignore= show-fixes statistics output-format= preview no-cache line-length="
	case "mypy":
		f.long = "strict ignore-missing-imports no-error-summary pretty show-error-codes check-untyped-defs disallow-untyped-defs no-incremental"
	case "flake8":
		f.long = "select= ignore= max-line-length= count statistics show-source"
	default:
		return f, false
	}
	return f, true
}

// checkRequirements: packages by their names, perhaps with a version.
func checkRequirements(u *usage) string {
	if i := slices.IndexFunc(u.operands, func(a Arg) bool { return strings.ContainsAny(a.Text, "/@:") || notPackage(a.Text) }); i >= 0 {
		return Quote(u.operands[i].Text) + " is not a package by its name"
	}
	return ""
}
