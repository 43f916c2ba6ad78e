package toolchains

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// onPath lists the directories of the person's PATH outside the system that have
// one of the programs. Those that agents can write are passed over: a project's
// .venv/bin is often there.
func (m Machine) onPath(names ...string) []string {
	var out []string
	for _, dir := range filepath.SplitList(m.Path) {
		if !filepath.IsAbs(dir) || slices.Contains(m.System, filepath.Clean(dir)) || m.isSystem(realPath(dir)) || m.check(realPath(dir)) != nil {
			continue
		}
		if hasOne(dir, names...) && !slices.Contains(out, filepath.Clean(dir)) {
			out = append(out, filepath.Clean(dir))
		}
	}
	return out
}

func hasOne(dir string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return isProgram(filepath.Join(dir, name)) })
}

// home gives a directory in the person's home.
func (m Machine) home(path string) string {
	if m.Home == "" {
		return "/nonexistent"
	}
	return filepath.Join(m.Home, path)
}

// named gives a directory that a variable names, or else its usual place.
func (m Machine) named(variable, usual string) string {
	return cmp.Or(m.variable(variable), m.home(usual))
}

func (c *Chain) set(name, value string) {
	if c.Env == nil {
		c.Env = map[string]string{}
	}
	c.Env[name] = value
}

// add takes directories up that are there.
func (c *Chain) add(dirs ...string) {
	for _, dir := range dirs {
		if filepath.IsAbs(dir) && isDir(dir) && !slices.Contains(c.Bin, dir) {
			c.Bin = append(c.Bin, dir)
		}
	}
}

func (c *Chain) show(dirs ...string) {
	for _, dir := range dirs {
		if filepath.IsAbs(dir) && isDir(dir) {
			c.Show = append(c.Show, dir)
		}
	}
}

// rust: cargo's home also holds the tokens of registries, so only its programs are
// shown. Most of these are rustup, which starts what is in its own home.
func (m Machine) rust(c *Chain) {
	for _, dir := range append(m.onPath("cargo", "rustc"), filepath.Join(m.named("CARGO_HOME", ".cargo"), "bin")) {
		if len(c.Bin) == 0 && hasOne(dir, "cargo", "rustc") {
			c.add(dir)
		}
	}
	if len(c.Bin) == 0 {
		return
	}
	beside := filepath.Join(filepath.Dir(filepath.Dir(c.Bin[0])), ".rustup")
	for _, dir := range []string{m.variable("RUSTUP_HOME"), beside, m.home(".rustup")} {
		if filepath.IsAbs(dir) && isDir(filepath.Join(dir, "toolchains")) {
			c.show(dir)
			c.set("RUSTUP_HOME", realPath(dir))
			c.set("RUSTUP_AUTO_INSTALL", "0") // its home cannot be written
			break
		}
	}
}

func (m Machine) node(c *Chain) {
	c.add(m.onPath("node")...)
	if volta := m.named("VOLTA_HOME", ".volta"); hasOne(filepath.Join(volta, "bin"), "node") {
		c.add(filepath.Join(volta, "bin"))
		c.show(filepath.Join(volta, "tools"))
		c.set("VOLTA_HOME", realPath(volta))
	}
	if len(c.Bin) == 0 {
		nvm := m.named("NVM_DIR", ".nvm")
		c.add(preferred(below(nvm, "versions/node/*/bin"), firstLine(below(nvm, "alias/default")))...)
	}
	if len(c.Bin) == 0 {
		fnm := m.named("FNM_DIR", ".local/share/fnm")
		c.add(below(fnm, "aliases/default/bin"))
		if len(c.Bin) == 0 {
			c.add(preferred(below(fnm, "node-versions/*/installation/bin"), "")...)
		}
	}
	for _, dir := range []string{filepath.Join(m.named("BUN_INSTALL", ".bun"), "bin"), m.home(".deno/bin"), m.named("PNPM_HOME", ".local/share/pnpm")} {
		if hasOne(dir, "bun", "deno", "pnpm") {
			c.add(dir)
		}
	}
}

func (m Machine) python(c *Chain) {
	tools := []string{"uv", "poetry", "pipx", "pdm", "hatch", "ruff", "pytest", "tox", "nox"}
	root := m.named("PYENV_ROOT", ".pyenv")
	if shims := filepath.Join(root, "shims"); hasOne(shims, "python3", "python") {
		c.add(shims)
		c.show(root)
		c.set("PYENV_ROOT", realPath(root))
	}
	for _, dir := range m.onPath(append([]string{"python3", "python"}, tools...)...) {
		if !within(dir, root) {
			c.add(dir)
		}
	}
	if hasOne(m.home(".local/bin"), tools...) {
		c.add(m.home(".local/bin"))
	}
	if own := m.named("UV_PYTHON_INSTALL_DIR", ".local/share/uv/python"); isDir(own) {
		c.show(own)
		c.set("UV_PYTHON_INSTALL_DIR", realPath(own))
	}
}

func (m Machine) goChain(c *Chain) {
	c.add(m.onPath("go")...)
	if root := m.variable("GOROOT"); len(c.Bin) == 0 && root != "" && hasOne(filepath.Join(root, "bin"), "go") {
		c.add(filepath.Join(root, "bin"))
	}
	if system := slices.ContainsFunc(m.System, func(dir string) bool { return hasOne(dir, "go") }); len(c.Bin) == 0 && !system {
		c.add(preferred(m.home("sdk/go*/bin"), "")...)
	}
	for _, dir := range []string{m.variable("GOBIN"), filepath.Join(m.named("GOPATH", "go"), "bin")} {
		c.add(dir)
	}
}

func (m Machine) java(c *Chain) {
	if home := m.variable("JAVA_HOME"); home != "" && hasOne(filepath.Join(home, "bin"), "java") {
		c.add(filepath.Join(home, "bin"))
		c.set("JAVA_HOME", realPath(home))
	}
	sdkman := m.named("SDKMAN_DIR", ".sdkman")
	found, _ := filepath.Glob(below(sdkman, "candidates/*/current/bin")) // the pattern is a good one
	c.add(found...)
	if java := below(sdkman, "candidates/java/current"); c.Env["JAVA_HOME"] == "" && isDir(java) {
		c.set("JAVA_HOME", realPath(java))
	}
	c.add(m.onPath("java", "javac", "mvn", "gradle", "kotlinc", "sbt")...)
}

// preferred picks one of the directories that a pattern means: of the version
// that is wanted, and of these the newest.
func preferred(pattern, version string) []string {
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) == 0 {
		return nil
	}
	newestFirst(found)
	version = strings.TrimPrefix(version, "v")
	for _, dir := range found {
		if version != "" && strings.Contains(dir, "/v"+version+".") || strings.Contains(dir, "/v"+version+"/") {
			return []string{dir}
		}
	}
	return found[:1]
}

// newestFirst orders paths by the numbers in them, the highest first.
func newestFirst(paths []string) {
	slices.SortFunc(paths, func(a, b string) int { return compareNumbers(b, a) })
}

// compareNumbers compares texts, and runs of digits in them as numbers.
func compareNumbers(a, b string) int {
	for a != "" && b != "" {
		x, restA := leading(a)
		y, restB := leading(b)
		n, errA := strconv.Atoi(x)
		o, errB := strconv.Atoi(y)
		var order int
		if errA == nil && errB == nil {
			order = cmp.Compare(n, o)
		} else {
			order = strings.Compare(x, y)
		}
		if order != 0 {
			return order
		}
		a, b = restA, restB
	}
	return cmp.Compare(len(a), len(b))
}

// leading takes the run of digits, or of anything else, off a text.
func leading(s string) (run, rest string) {
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	i := 1
	for i < len(s) && digit(s[i]) == digit(s[0]) {
		i++
	}
	return s[:i], s[i:]
}

// firstLine reads a file of one line, such as nvm's alias/default.
func firstLine(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // it was only read
	buf := make([]byte, 64)
	n, _ := f.Read(buf)
	line, _, _ := strings.Cut(string(buf[:n]), "\n")
	return strings.TrimSpace(line)
}
