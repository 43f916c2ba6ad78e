package sandbox

import (
	"strings"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// What a program may make under names that others obey: texts that are read more
// strictly here than by anybody else, so that what passes can start nothing.

// plainText judges a file by the pattern of the place that it is.
func plainText(pattern, text string) bool {
	switch pattern {
	case ".npmrc":
		return eachLine(text, plainNpm)
	case ".tool-versions":
		return eachLine(text, toolVersion.MatchString)
	case "rust-toolchain", "rust-toolchain.toml":
		return eachLine(text, rustToolchain.MatchString)
	case "mise.toml", ".mise.toml", "mise.local.toml", ".mise.local.toml":
		return eachLine(text, miseTool.MatchString)
	case ".python-version":
		return eachLine(text, pythonVersion.MatchString)
	case ".yarnrc.yml":
		return eachLine(text, yarnSetting.MatchString)
	case ".yarnrc":
		return eachLine(text, oldYarnSetting.MatchString)
	case "bunfig.toml":
		return eachLine(text, bunSetting.MatchString)
	case ".cargo/config.toml", ".cargo/config":
		return eachLine(text, cargoSetting.MatchString)
	case ".bundle/config":
		return eachLine(text, bundleSetting.MatchString)
	}
	return false
}

// controlFiles are the settings of other version controls, and how each is
// judged; nil: it must not be there.
func controlFiles() map[string]func(text string) bool {
	paths := func(text string) bool { return eachLine(text, plainPath.MatchString) }
	return map[string]func(string) bool{
		"hgrc": paths, "config": paths, "hgrc-not-shared": nil, "sharedpath": nil, "patches/series": nil,
		"repo/config.toml": nil, "repo/workspace-config.toml": nil, "workspace-config.toml": nil,
		"repo/store/git_target": func(text string) bool { return text == "git" || text == "../../../.git" },
		"branch/branch.conf":    func(text string) bool { return eachLine(text, bzrPlace.MatchString) },
		"branch/location":       nil, "branch.conf": nil, "locations.conf": nil,
	}
}

var (
	toolVersion   = pattern.Of(`^[A-Za-z0-9_-]+([ \t]+(v?[0-9][A-Za-z0-9.+_-]*|[a-z]+(-[a-z]+)*-[0-9][A-Za-z0-9.+_-]*|system|latest|lts|stable))+$`)
	rustToolchain = pattern.Of(`^(\[toolchain\]|(channel|profile)\s*=\s*"[A-Za-z0-9._-]+"|(components|targets)\s*=\s*\[\s*("[A-Za-z0-9._-]+"\s*,?\s*)*\]|[A-Za-z0-9][A-Za-z0-9._-]*)$`)
	miseTool      = pattern.Of(`^(\[tools\]|([A-Za-z0-9_-]+|"(npm|cargo|go|pipx|gem|ubi):[A-Za-z0-9@/._-]+")\s*=\s*"(v?[0-9][A-Za-z0-9.+_-]*|system|latest|lts|stable)")$`)
	// A name of a version cannot lead anywhere: uv also takes the path of a program.
	pythonVersion = pattern.Of(`^((cpython|pypy|graalpy)[-@]?)?[0-9]+(\.[0-9]+){0,2}[a-z0-9+]*$`)
	venvPython    = pattern.Of(`^\.?venv/bin/python[0-9.]*$`)
	// How packages are laid out and shown: nothing that names a file or a host, lets
	// packages run scripts, or checks them less.
	yarnSetting    = pattern.Of(`^(nodeLinker|nmMode|nmHoistingLimits|compressionLevel|pnpMode|pnpFallbackMode|enableGlobalCache|enableTelemetry|enableColors|enableHyperlinks|enableImmutableInstalls|enableInlineBuilds|enableProgressBars|enableMessageNames|enableTips|enableTransparentWorkspaces|defaultSemverRangePrefix|preferInteractive):[ \t]+("[A-Za-z0-9^~-]*"|'[A-Za-z0-9^~-]*'|[A-Za-z0-9-]+)$`)
	oldYarnSetting = pattern.Of(`^(save-prefix|save-exact|network-timeout|disable-self-update-check|lastUpdateCheck)[ \t]+("[A-Za-z0-9.^~]*"|[A-Za-z0-9.]+)$`)
	bunSetting     = pattern.Of(`^(\[(install|install\.lockfile|test)\]|(smol|telemetry|exact|optional|dev|peer|production|frozenLockfile|saveTextLockfile|save|coverage|coverageSkipTestFiles|coverageThreshold|timeout|minimumReleaseAge)\s*=\s*(true|false|[0-9]+(\.[0-9]+)?)|(linker|logLevel)\s*=\s*"[a-z]+")$`)
	// A target with a dot may be a file, which names a linker.
	cargoSetting  = pattern.Of(`^(\[(build|net|term|profile\.[a-z]+)\]|target\s*=\s*"[a-z0-9_-]+"|(jobs|retry|codegen-units|opt-level)\s*=\s*[0-9]+|(incremental|offline|quiet|verbose|debug|lto|strip|overflow-checks|debug-assertions)\s*=\s*(true|false)|(opt-level|lto|strip|panic|debug|split-debuginfo)\s*=\s*"[a-z-]+")$`)
	bundleSetting = pattern.Of(`^(---|BUNDLE_(PATH: "vendor/bundle"|(WITHOUT|WITH): "[a-z_:]+"|(JOBS|RETRY|TIMEOUT): "[0-9]+"|(DEPLOYMENT|FROZEN|CLEAN|DISABLE_SHARED_GEMS): "(true|false)"))$`)
	npmSetting    = pattern.Of(`^([a-z-]+)\s*=\s*([A-Za-z0-9.^~_-]*)$`)
	npmPattern    = pattern.Of(`^(public-)?hoist-pattern\[\]\s*=\s*"?[A-Za-z0-9.!*@/_-]*"?$`)
	npmRegistry   = pattern.Of(`^(@[a-z0-9._-]+:)?registry\s*=\s*https://registry\.(npmjs\.org|yarnpkg\.com)/?$`)
	plainPath     = pattern.Of(`^(\[paths\]|[A-Za-z0-9_-]+\s*=\s*(https?://[A-Za-z0-9][A-Za-z0-9./:_~%+-]*|/[A-Za-z0-9./_ +-]*))$`)
	bzrPlace      = pattern.Of(`^(parent|push|submit|public)_(location|branch)\s*=\s*(https?|file)://[A-Za-z0-9./:_~%+-]*$`)
)

// plainNpm knows the settings that say how packages are chosen and written, and
// nothing that names a program, a file or another source of code.
func plainNpm(line string) bool {
	if npmRegistry.MatchString(line) || npmPattern.MatchString(line) {
		return true
	}
	m := npmSetting.Regexp().FindStringSubmatch(line)
	if m == nil {
		return false
	}
	switch m[1] {
	case "audit", "audit-level", "engine-strict", "fund", "legacy-peer-deps", "strict-peer-deps", "package-lock", "save", "save-exact", "save-prefix", "loglevel", "progress", "color", "update-notifier",
		"fetch-retries", "fetch-timeout", "prefer-offline", "prefer-dedupe", "ignore-scripts", "auto-install-peers", "strict-peer-dependencies", "shamefully-hoist", "node-linker",
		"resolve-peers-from-workspace-root", "link-workspace-packages", "prefer-workspace-packages", "save-workspace-protocol", "lockfile", "hoist", "access", "min-release-age", "minimum-release-age":
		return true
	}
	return false
}

// eachLine asks about each line that is neither empty nor a comment. A line that
// goes on in the next one, and a text with control characters, do not pass.
func eachLine(text string, plain func(line string) bool) bool {
	text = strings.ReplaceAll(text, "\r\n", "\n") // a lone \r ends a line for some, and not for others
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == 0xfffd }) {
		return false
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		trimmed := strings.TrimRight(line, " \t")
		if trimmed != "" && trimmed[0] != '#' && !plain(trimmed) {
			return false
		}
	}
	return true
}
